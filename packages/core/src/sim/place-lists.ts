/** @file Places the operations of all lists in time straight from their replays, without a graph of what needs what.
 *
 * Each list is walked in its order. What an operation waits for stands earlier in its own list, so its start is the latest of
 * a few clocks: of its queue, of the memory that it touches, of lines that it names, of the host. Only an exchange waits for
 * other lists: it is open until the last member has come to it, and a list rests at the first operation that needs its end.
 * The times are those of `placeOperations`, to the same bit: ends in a queue never go back, so the latest clock of a queue or a
 * memory is that of the need which the graph keeps.
 */
import { type ExpandedList, holdsHost, type Replay, readCount, replayOf } from '../program/index.ts';
import { launchOf, takesNoTime } from './graph.ts';
import { HOST_QUEUE, queuesOf } from './lanes.ts';
import type { Meetings } from './match.ts';
import { durationsOf, type Placed } from './place.ts';
import { listOf } from './step-graph.ts';
import type { OperationPrices } from './types.ts';

/** The end of an exchange that is open. */
const OPEN = Number.POSITIVE_INFINITY;

/** Undefined where this order does not come to an end: exchanges that wait in a circle, or only for what stands behind them. */
export function placeLists(
  lists: readonly ExpandedList[],
  base: Uint32Array,
  meetings: Meetings,
  pricing: OperationPrices,
): Placed | undefined {
  const count = base[lists.length] as number;
  const shared: Shared = {
    ...meetings,
    duration: durationsOf({ lists, base, leader: meetings.leader }, pricing),
    start: new Float64Array(count),
    end: new Float64Array(count),
    arrived: new Uint16Array(count),
  };
  const walks = lists.map((list, index) => createWalk(replayOf(list), base[index] as number, pricing));
  const ready = [...walks.keys()].reverse();
  const isResting = new Uint8Array(walks.length);
  const resolve = (leader: number): void => {
    let member = leader;
    do {
      const list = listOf({ base }, member);
      close(walks[list] as ListWalk, member, shared);
      if (isResting[list] === 1) ready.push(list);
      isResting[list] = 0;
      member = shared.next[member] as number;
    } while (member !== leader);
  };
  for (let list = ready.pop(); list !== undefined; list = ready.pop()) {
    const walk = walks[list] as ListWalk;
    walkOn(walk, shared, resolve);
    isResting[list] = 1;
  }
  return walks.every(({ at, replay }) => at === replay.length) ? shared : undefined;
}

interface Shared extends Meetings, Placed {
  /** By leader: the longest of the members. */
  readonly duration: Float64Array;
  /** By leader: members that have come to the exchange. */
  readonly arrived: Uint16Array;
}

/** One list on its way. */
interface ListWalk {
  readonly replay: Replay;
  readonly base: number;
  /** By sample. */
  readonly queue: Uint8Array;
  readonly reads: Uint8Array;
  readonly launch: Float64Array;
  readonly isMark: Uint8Array;
  readonly holds: Uint8Array;
  /** By queue and by memory: when it is free of what was before. */
  readonly free: Float64Array;
  readonly written: Float64Array;
  readonly read: Float64Array;
  /** By memory: open exchanges that read it. */
  readonly openReads: Uint8Array;
  /** The operation at hand, its line, and the host: the end of its last wait, and what it has issued since. */
  at: number;
  line: number;
  anchor: number;
  offset: number;
}

function createWalk(replay: Replay, base: number, pricing: OperationPrices): ListWalk {
  const { samples, memories } = replay;
  const queues = queuesOf(replay);
  return {
    replay,
    base,
    queue: queues.of,
    reads: Uint8Array.from(samples, readCount),
    launch: Float64Array.from(samples, ({ operation }) => launchOf(operation, pricing)),
    isMark: Uint8Array.from(samples, ({ operation }) => (takesNoTime(operation) ? 1 : 0)),
    holds: Uint8Array.from(samples, ({ operation }) => (holdsHost(operation) ? 1 : 0)),
    free: new Float64Array(queues.count),
    written: new Float64Array(memories),
    read: new Float64Array(memories),
    openReads: new Uint8Array(memories),
    at: 0,
    line: 0,
    anchor: 0,
    offset: 0,
  };
}

/** Walks a list until it ends or needs the end of an open exchange. */
function walkOn(walk: ListWalk, shared: Shared, resolve: (leader: number) => void): void {
  const { replay, base, isMark, holds, launch } = walk;
  const { sampleOf, lineFirst, length } = replay;
  const { start, end, next, leader, duration } = shared;
  for (; walk.at < length; walk.at++) {
    const index = walk.at;
    while ((lineFirst[walk.line + 1] as number) <= index) walk.line += 1;
    const sample = sampleOf[index] as number;
    const at = base + index;
    const offset = walk.offset + (launch[sample] as number);
    const issued = walk.anchor + offset;
    const from = isMark[sample] === 1 ? Math.max(walk.anchor, issued) : startOf(walk, shared, sample, issued);
    if (from === OPEN) return;
    walk.offset = offset;
    if (next[at] === at) {
      const until = from + (duration[at] as number);
      start[at] = from;
      end[at] = until;
      if (isMark[sample] === 0) leave(walk, index, until);
      if (holds[sample] === 1) {
        walk.anchor = until;
        walk.offset = 0;
      }
    } else {
      const first = leader[at] as number;
      if (from > (start[first] as number)) start[first] = from;
      enter(walk, shared, index);
      const members = (shared.arrived[first] as number) + 1;
      shared.arrived[first] = members;
      if (members === sizeOf(next, first)) resolve(first);
    }
  }
}

function sizeOf(next: Uint32Array, leader: number): number {
  let size = 1;
  for (let member = next[leader] as number; member !== leader; member = next[member] as number) size += 1;
  return size;
}

/** When all that an operation waits for is done; OPEN where some of it is an open exchange. */
function startOf(walk: ListWalk, { end }: Shared, sample: number, issued: number): number {
  const { replay, base, queue, reads, free, written, read, openReads, at: index, line } = walk;
  const { operands, operandFirst, needs, needFirst } = replay;
  let from = Math.max(issued, walk.anchor);
  const own = queue[sample] as number;
  if (own !== HOST_QUEUE && (free[own] as number) > from) from = free[own] as number;
  const first = operandFirst[index] as number;
  const writes = first + (reads[sample] as number);
  const last = operandFirst[index + 1] as number;
  for (let each = first; each < last; each++) {
    const memory = operands[each] as number;
    if ((written[memory] as number) > from) from = written[memory] as number;
    if (each < writes) continue;
    if ((read[memory] as number) > from) from = read[memory] as number;
    if ((openReads[memory] as number) > 0) return OPEN;
  }
  for (let need = needFirst[line] as number; need < (needFirst[line + 1] as number); need++) {
    const done = end[base + (needs[need] as number)] as number;
    if (done > from) from = done;
  }
  return from;
}

/** Moves the clocks of an operation that ends at `until`. */
function leave({ replay, queue, reads, free, written, read }: ListWalk, index: number, until: number): void {
  const { sampleOf, operands, operandFirst } = replay;
  const sample = sampleOf[index] as number;
  free[queue[sample] as number] = until;
  const first = operandFirst[index] as number;
  const writes = first + (reads[sample] as number);
  const last = operandFirst[index + 1] as number;
  for (let each = first; each < writes; each++) {
    const memory = operands[each] as number;
    if (until > (read[memory] as number)) read[memory] = until;
  }
  for (let each = writes; each < last; each++) {
    const memory = operands[each] as number;
    written[memory] = until;
    read[memory] = 0;
  }
}

/** An exchange with other lists begins: what it writes and its queue are open, what it reads may still be read. */
function enter(walk: ListWalk, { end }: Shared, index: number): void {
  const { replay, base, queue, reads, free, written, read, openReads } = walk;
  const { sampleOf, operands, operandFirst } = replay;
  const sample = sampleOf[index] as number;
  end[base + index] = OPEN;
  free[queue[sample] as number] = OPEN;
  const first = operandFirst[index] as number;
  const writes = first + (reads[sample] as number);
  const last = operandFirst[index + 1] as number;
  for (let each = first; each < writes; each++) {
    const memory = operands[each] as number;
    openReads[memory] = (openReads[memory] as number) + 1;
  }
  for (let each = writes; each < last; each++) {
    const memory = operands[each] as number;
    written[memory] = OPEN;
    read[memory] = 0;
  }
}

/** The last member has come. */
function close(walk: ListWalk, member: number, { start, end, leader, duration }: Shared): void {
  const { replay, base, reads, openReads } = walk;
  const { sampleOf, operands, operandFirst } = replay;
  const first = leader[member] as number;
  const from = start[first] as number;
  const until = from + (duration[first] as number);
  start[member] = from;
  end[member] = until;
  const index = member - base;
  const begin = operandFirst[index] as number;
  const writes = begin + (reads[sampleOf[index] as number] as number);
  for (let each = begin; each < writes; each++) {
    const memory = operands[each] as number;
    openReads[memory] = (openReads[memory] as number) - 1;
  }
  leave(walk, index, until);
}
