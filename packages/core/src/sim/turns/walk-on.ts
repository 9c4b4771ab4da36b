/** @file Walks one list until it ends or needs the end of something that is open. */
import type { Placed } from '../place.ts';
import { placeTurn } from './place-turn.ts';
import { type ListWalk, leave, OPEN, secondsOf, startOf } from './walk.ts';

/** Where the times of a turn are written: from number `from` on. */
export interface Times extends Placed {
  from: number;
  /** Whether anybody reads them later: else the next turn writes over them. */
  readonly areKept: boolean;
}

/** The times of all operations, or room for those of one turn. */
export function timesOf(walks: readonly ListWalk[], placed: Placed | undefined): Times {
  if (placed !== undefined) return { ...placed, from: 0, areKept: true };
  const length = walks.reduce((most, { turns }) => Math.max(most, ...turns.formLength), 1);
  return { start: new Float64Array(length), end: new Float64Array(length), from: 0, areKept: false };
}

/** Told of an operation that can begin: whether its end is not known yet, and will be told later. */
export type Begins = (walk: ListWalk, turn: number, at: number, sample: number, from: number) => boolean;

export function walkOn(walk: ListWalk, times: Times, begins: Begins): void {
  const { turns, firstOperation } = walk;
  const { first, length } = turns;
  let { turn } = walk;
  for (; turn < length; turn++) {
    if (times.areKept) times.from = firstOperation + (first[turn] as number);
    if (!placeWhole(walk, turn, times, begins)) break;
  }
  walk.turn = turn;
}

/** Places a turn, or what is left of it; false where it needs the end of what is open. */
export function placeWhole(walk: ListWalk, turn: number, times: Times, begins: Begins): boolean {
  const form = walk.turns.formOf[turn] as number;
  if (form > 0 && walk.placed === 0) {
    const planned = walk.shape.planOf(form);
    const outcome = planned === undefined ? 'apart' : placeTurn(planned, walk, turn, times);
    if (outcome !== 'apart') return outcome === 'placed';
  }
  if (!placeOneByOne(walk, turn, times, begins)) return false;
  walk.placed = 0;
  return true;
}

/** False where an operation needs the end of what is open; those before it are placed. */
function placeOneByOne(walk: ListWalk, turn: number, { start, end, from: begin }: Times, begins: Begins): boolean {
  const { turns, shape } = walk;
  const { rows, rowOf, first } = turns;
  const row = rowOf[turn] as number;
  const index = first[turn] as number;
  const count = (first[turn + 1] as number) - index;
  for (let placed = walk.placed; placed < count; placed++) {
    const at = row + placed;
    const sample = rows.sampleOf[at] as number;
    const offset = walk.offset + (shape.launch[sample] as number);
    let from = walk.anchor + offset;
    const isMark = shape.isMark[sample] === 1;
    if (!isMark) from = startOf(walk, turn, at, sample, from);
    if (from === OPEN) {
      walk.placed = placed;
      return false;
    }
    walk.offset = offset;
    const isLast = placed === count - 1;
    if (isLast) walk.end[turn] = OPEN;
    if (isMark || !begins(walk, turn, at, sample, from)) {
      const until = from + secondsOf(walk, index + placed, sample);
      start[begin + placed] = from;
      end[begin + placed] = until;
      if (!isMark) leave(walk, turn, at, sample, until);
      if (isLast) walk.end[turn] = until;
      if (until > walk.latest) walk.latest = until;
      if (shape.holds[sample] === 1) {
        walk.anchor = until;
        walk.offset = 0;
      }
    }
  }
  return true;
}
