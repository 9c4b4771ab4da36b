/** @file Places the operations of all lists in time straight from their turns, without a graph of what needs what.
 *
 * Each list is walked in its order. Only an exchange waits for other lists: it is open until the last member has come to it, and
 * a list rests at the first operation that needs its end. The times are those of `placeOperations`, to the same bit. They are
 * written out for who asks; the last end of each list needs none of them.
 */
import type { ExpandedList } from '../../program/index.ts';
import type { Meetings } from '../match.ts';
import type { Placed } from '../place.ts';
import { listOf } from '../step-graph.ts';
import type { OperationPrices } from '../types.ts';
import { close, enter, type ListWalk, secondsOf } from './walk.ts';
import { timesOf, walkOn } from './walk-on.ts';
import { walksOf } from './walks.ts';

/** The last end of each list. Undefined where this order does not come to an end: exchanges that wait in a circle, or only for
 * what stands behind them. Times are written to `placed`, if it is given. */
export function placeTurns(
  lists: readonly ExpandedList[],
  meetings: Meetings,
  pricing: OperationPrices,
  placed?: Placed,
): Float64Array | undefined {
  const walks = walksOf(lists, meetings, pricing);
  walkAll(walks, meetings, placed);
  return walks.every(({ turn, turns: own }) => turn === own.length)
    ? Float64Array.from(walks, ({ latest }) => latest)
    : undefined;
}

/** Walks all lists until none can go on. */
function walkAll(walks: readonly ListWalk[], { base, next, leader }: Meetings, placed: Placed | undefined): void {
  const times = timesOf(walks, placed);
  const start = new Float64Array(next.length);
  const duration = new Float64Array(next.length);
  const arrived = new Uint16Array(next.length);
  const ready = [...walks.keys()].reverse();
  const isResting = new Uint8Array(walks.length);
  const resolve = (first: number): void => {
    const from = start[first] as number;
    const until = from + (duration[first] as number);
    let member = first;
    do {
      const list = listOf({ base }, member);
      const walk = walks[list] as ListWalk;
      closeTurn(walk, member - walk.base, from, until, placed);
      if (isResting[list] === 1) ready.push(list);
      isResting[list] = 0;
      member = next[member] as number;
    } while (member !== first);
  };
  const begins = (walk: ListWalk, turn: number, at: number, sample: number, from: number): boolean => {
    const member = walk.base + turn;
    if (next[member] === member) return false;
    const first = leader[member] as number;
    const seconds = secondsOf(walk, walk.turns.first[turn] as number, sample);
    if (from > (start[first] as number)) start[first] = from;
    if (seconds > (duration[first] as number)) duration[first] = seconds;
    enter(walk, turn, at);
    const members = (arrived[first] as number) + 1;
    arrived[first] = members;
    if (members === sizeOf(next, first)) resolve(first);
    return true;
  };
  for (let list = ready.pop(); list !== undefined; list = ready.pop()) {
    walkOn(walks[list] as ListWalk, times, begins);
    isResting[list] = 1;
  }
}

function sizeOf(next: Uint32Array, leader: number): number {
  let size = 1;
  for (let member = next[leader] as number; member !== leader; member = next[member] as number) size += 1;
  return size;
}

/** The last member has come. */
function closeTurn(walk: ListWalk, turn: number, from: number, until: number, placed: Placed | undefined): void {
  const { rowOf, first } = walk.turns;
  const at = rowOf[turn] as number;
  close(walk, turn, at, until);
  walk.end[turn] = until;
  if (placed === undefined) return;
  const operation = walk.firstOperation + (first[turn] as number);
  placed.start[operation] = from;
  placed.end[operation] = until;
}
