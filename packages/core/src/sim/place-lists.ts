/** @file Places the operations of all lists in time straight from their replays, without a graph of what needs what.
 *
 * Each list is walked in its order. What an operation waits for stands earlier in its own list, so its start is the latest of
 * a few clocks: of its queue, of the memory that it touches, of lines that it names, of the host. Only an exchange waits for
 * other lists: it is open until the last member has come to it, and a list rests at the first operation that needs its end.
 * The times are those of `placeOperations`, to the same bit: ends in a queue never go back, so the latest clock of a queue or a
 * memory is that of the need which the graph keeps.
 */
import { type ExpandedList, holdsHost, type Replay, readCount, replayOf } from '../program/index.ts';
import { type PlannedBlocks, plannedBlocks } from './blocks/place.ts';
import { launchOf, takesNoTime } from './graph.ts';
import { HOST_QUEUE, queuesOf } from './lanes.ts';
import type { Meetings } from './match.ts';
import { type OperandUse, operandUse } from './operand-use.ts';
import { type OwnDurations, ownDurations, type Placed } from './place.ts';
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
    duration: new Float64Array(count),
    start: new Float64Array(count),
    end: new Float64Array(count),
    arrived: new Uint16Array(count),
  };
  const walks = lists.map((list, index) => createWalk(list, index, base[index] as number, pricing));
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
  /** By leader of an exchange: the longest of the members that have come. */
  readonly duration: Float64Array;
  /** By leader: members that have come to the exchange. */
  readonly arrived: Uint16Array;
}

/** One list on its way. */
interface ListWalk {
  readonly replay: Replay;
  readonly base: number;
  readonly seconds: OwnDurations;
  readonly use: OperandUse;
  /** By sample. */
  readonly queue: Uint8Array;
  readonly reads: Uint8Array;
  readonly launch: Float64Array;
  readonly isMark: Uint8Array;
  readonly holds: Uint8Array;
  /** By queue and by memory: when it is free of what was before. A reader before the last write ends before that does. */
  readonly free: Float64Array;
  readonly written: Float64Array;
  readonly read: Float64Array;
  /** By memory: open exchanges that read it. */
  readonly openReads: Uint8Array;
  /** Where prices see no more than samples. */
  readonly blocks: PlannedBlocks | undefined;
  /** The operation at hand, its line, and the host: the end of its last wait, and what it has issued since. */
  at: number;
  line: number;
  anchor: number;
  offset: number;
}

function createWalk(expanded: ExpandedList, list: number, base: number, pricing: OperationPrices): ListWalk {
  const replay = replayOf(expanded);
  const { samples, memories } = replay;
  const queues = queuesOf(replay);
  const seconds = ownDurations(expanded, list, pricing);
  const ofSamples = {
    replay,
    use: operandUse(replay, queues.of),
    queue: queues.of,
    launch: Float64Array.from(samples, (sample) => launchOf(sample, pricing)),
    isMark: Uint8Array.from(samples, ({ operation }) => (takesNoTime(operation) ? 1 : 0)),
    holds: Uint8Array.from(samples, ({ operation }) => (holdsHost(operation) ? 1 : 0)),
  };
  return {
    ...ofSamples,
    base,
    seconds,
    reads: Uint8Array.from(samples, readCount),
    free: new Float64Array(queues.count),
    written: new Float64Array(memories),
    read: new Float64Array(memories),
    openReads: new Uint8Array(memories),
    blocks: pricing.byShape ? plannedBlocks({ ...ofSamples, seconds: seconds.own }) : undefined,
    at: 0,
    line: 0,
    anchor: 0,
    offset: 0,
  };
}

/** Walks a list until it ends or needs the end of an open exchange. */
function walkOn(walk: ListWalk, shared: Shared, resolve: (leader: number) => void): void {
  const { replay, base, isMark, holds, launch, seconds, queue, free, blocks } = walk;
  const { sampleOf, lineFirst, length } = replay;
  const { start, end, next } = shared;
  let { at: index, line, anchor, offset } = walk;
  for (; index < length; index++) {
    while ((lineFirst[line + 1] as number) <= index) line += 1;
    if (blocks !== undefined) {
      walk.anchor = anchor;
      walk.offset = offset;
      const done = blocks.place(walk, shared, index, line);
      if (done > 0) {
        offset = walk.offset;
        index += done - 1;
        continue;
      }
    }
    const sample = sampleOf[index] as number;
    const at = base + index;
    const issuedAfter = offset + (launch[sample] as number);
    let from = anchor + issuedAfter;
    if (isMark[sample] === 0) {
      const own = queue[sample] as number;
      if (own !== HOST_QUEUE && (free[own] as number) > from) from = free[own] as number;
      from = startOf(walk, end, sample, index, line, from);
    }
    if (from === OPEN) break;
    offset = issuedAfter;
    if (next[at] !== at) {
      arrive(walk, shared, index, from, resolve);
      continue;
    }
    const until = from + (seconds.own[seconds.of[index] as number] as number);
    start[at] = from;
    end[at] = until;
    if (isMark[sample] === 0) {
      free[queue[sample] as number] = until;
      leave(walk, sample, index, until);
    }
    if (holds[sample] === 1) {
      anchor = until;
      offset = 0;
    }
  }
  walk.at = index;
  walk.line = line;
  walk.anchor = anchor;
  walk.offset = offset;
}

/** A member comes to an exchange with other lists, which could begin at `from`. */
function arrive(walk: ListWalk, shared: Shared, index: number, from: number, resolve: (leader: number) => void): void {
  const { next, start, duration, arrived } = shared;
  const { own, of } = walk.seconds;
  const first = shared.leader[walk.base + index] as number;
  const seconds = own[of[index] as number] as number;
  if (from > (start[first] as number)) start[first] = from;
  if (seconds > (duration[first] as number)) duration[first] = seconds;
  enter(walk, shared, index);
  const members = (arrived[first] as number) + 1;
  arrived[first] = members;
  if (members === sizeOf(next, first)) resolve(first);
}

function sizeOf(next: Uint32Array, leader: number): number {
  let size = 1;
  for (let member = next[leader] as number; member !== leader; member = next[member] as number) size += 1;
  return size;
}

/** When all is done that an operation waits for which could begin at `from`; OPEN where some of it is an open exchange. */
function startOf(walk: ListWalk, end: Float64Array, sample: number, index: number, line: number, from: number): number {
  const { replay, base, use, written, read, openReads } = walk;
  const { operands, operandFirst, needs, needFirst } = replay;
  const { asks, askFirst } = use;
  let latest = from;
  const last = askFirst[sample + 1] as number;
  for (let each = askFirst[sample] as number; each < last; each++) {
    const code = asks[each] as number;
    const memory = operands[(operandFirst[index] as number) + (code >> 1)] as number;
    if ((code & 1) === 0) {
      if ((written[memory] as number) > latest) latest = written[memory] as number;
    } else {
      if ((read[memory] as number) > latest) latest = read[memory] as number;
      if ((openReads[memory] as number) > 0) return OPEN;
    }
  }
  const stop = needFirst[line + 1] as number;
  for (let need = needFirst[line] as number; need < stop; need++) {
    const done = end[base + (needs[need] as number)] as number;
    if (done > latest) latest = done;
  }
  return latest;
}

/** Moves the clocks that somebody will look at of an operation that ends at `until`. */
function leave({ replay, use, written, read }: ListWalk, sample: number, index: number, until: number): void {
  const { operands, operandFirst } = replay;
  const { leaves, leaveFirst } = use;
  const last = leaveFirst[sample + 1] as number;
  for (let each = leaveFirst[sample] as number; each < last; each++) {
    const code = leaves[each] as number;
    const memory = operands[(operandFirst[index] as number) + (code >> 1)] as number;
    if ((code & 1) === 1) written[memory] = until;
    else if (until > (read[memory] as number)) read[memory] = until;
  }
}

/** An exchange with other lists begins: what it writes and its queue are open, what it reads may still be read. */
function enter(walk: ListWalk, { end }: Shared, index: number): void {
  const { replay, base, queue, reads, free, written, openReads } = walk;
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
  for (let each = writes; each < last; each++) written[operands[each] as number] = OPEN;
}

/** The last member has come: the clocks of all that the exchange touches move to its end. */
function close(walk: ListWalk, member: number, { start, end, leader, duration }: Shared): void {
  const { replay, base, queue, reads, free, written, read, openReads } = walk;
  const { sampleOf, operands, operandFirst } = replay;
  const first = leader[member] as number;
  const from = start[first] as number;
  const until = from + (duration[first] as number);
  start[member] = from;
  end[member] = until;
  const index = member - base;
  const sample = sampleOf[index] as number;
  free[queue[sample] as number] = until;
  const begin = operandFirst[index] as number;
  const writes = begin + (reads[sample] as number);
  const last = operandFirst[index + 1] as number;
  for (let each = begin; each < writes; each++) {
    const memory = operands[each] as number;
    openReads[memory] = (openReads[memory] as number) - 1;
    if (until > (read[memory] as number)) read[memory] = until;
  }
  for (let each = writes; each < last; each++) written[operands[each] as number] = until;
}
