/** @file Places the operations of a graph in time: Kahn's order, each start the latest of what it waits for. */
import { assertInvariant } from '../errors/index.ts';
import { type ExpandedList, type ExpandedOperation, type RankList, replayOf } from '../program/index.ts';
import { throwDeadlock } from './deadlock.ts';
import { takesNoTime } from './graph.ts';
import type { StepGraph } from './step-graph.ts';
import type { OperationPrices } from './types.ts';

/** Seconds of every operation of a graph. */
export interface Placed {
  readonly start: Float64Array;
  readonly end: Float64Array;
}

/** Throws an InputError that says what waits for what when operations wait in a circle. */
export function placeOperations(graph: StepGraph, pricing: OperationPrices): Placed {
  const { leader, next, hostAnchor, hostOffset } = graph;
  const count = leader.length;
  const duration = durationsOf(graph, pricing);
  const { waiting, first, successors } = successorsOf(graph);
  const start = new Float64Array(count);
  const end = new Float64Array(count);
  const queue = new Uint32Array(count);
  let queued = 0;
  let nodes = 0;
  for (let at = 0; at < count; at++) {
    if (leader[at] !== at) continue;
    nodes += 1;
    if (waiting[at] === 0) queue[queued++] = at;
  }
  for (let done = 0; done < queued; done++) {
    const at = queue[done] as number;
    let from = start[at] as number;
    let member = at;
    do {
      const anchor = hostAnchor[member] as number;
      const issued = (anchor < 0 ? 0 : (end[anchor] as number)) + (hostOffset[member] as number);
      if (issued > from) from = issued;
      member = next[member] as number;
    } while (member !== at);
    const until = from + (duration[at] as number);
    do {
      start[member] = from;
      end[member] = until;
      member = next[member] as number;
    } while (member !== at);
    for (let each = first[at] as number; each < (first[at + 1] as number); each++) {
      const successor = successors[each] as number;
      if (until > (start[successor] as number)) start[successor] = until;
      const left = (waiting[successor] as number) - 1;
      waiting[successor] = left;
      if (left === 0) queue[queued++] = successor;
    }
  }
  if (queued < nodes) throwDeadlock(graph, waiting);
  return { start, end };
}

/** By leader: the longest of the members. */
export function durationsOf(
  { lists, base, leader }: Pick<StepGraph, 'lists' | 'base' | 'leader'>,
  pricing: OperationPrices,
): Float64Array {
  const durations = new Float64Array(leader.length);
  for (const [index, expanded] of lists.entries()) {
    const { own, of } = ownDurations(expanded, index, pricing);
    const from = base[index] as number;
    for (let at = 0; at < of.length; at++) {
      const first = leader[from + at] as number;
      const seconds = own[of[at] as number] as number;
      if (seconds > (durations[first] as number)) durations[first] = seconds;
    }
  }
  return durations;
}

/** Seconds, and which of them each operation of a list takes. */
interface OwnDurations {
  readonly own: Float64Array;
  readonly of: Uint32Array;
}

/** Asked once for a sample where prices see no more than that. */
function ownDurations(expanded: ExpandedList, index: number, pricing: OperationPrices): OwnDurations {
  const { list } = expanded;
  if (pricing.byShape === true) {
    const { samples, sampleOf } = replayOf(expanded);
    return { own: secondsOfAll(samples, list, index, pricing), of: sampleOf };
  }
  const own = secondsOfAll(expanded.operations, list, index, pricing);
  return { own, of: Uint32Array.from(own, (_, at) => at) };
}

/** Seconds of operations of a list; `index` is that of its class of ranks. */
export const secondsOfAll = (
  operations: readonly ExpandedOperation[],
  list: RankList,
  index: number,
  pricing: OperationPrices,
): Float64Array =>
  Float64Array.from(operations, (each) => {
    const seconds = takesNoTime(each.operation) ? 0 : pricing.duration(each, list, index);
    assertInvariant(seconds >= 0 && seconds < Infinity, () => `an operation of ${list.name} takes ${seconds} s`);
    return seconds;
  });

/** The graph the other way round, between leaders. */
export interface Successors {
  /** How many needs of a leader and its members are not yet done. */
  readonly waiting: Uint32Array;
  readonly first: Uint32Array;
  readonly successors: Uint32Array;
}

export function successorsOf({
  leader,
  needFirst,
  needOf,
}: Pick<StepGraph, 'leader' | 'needFirst' | 'needOf'>): Successors {
  const count = leader.length;
  const waiting = new Uint32Array(count);
  const first = new Uint32Array(count + 2);
  for (let at = 0; at < count; at++) {
    const from = needFirst[at] as number;
    const to = needFirst[at + 1] as number;
    const own = leader[at] as number;
    waiting[own] = (waiting[own] as number) + to - from;
    for (let each = from; each < to; each++) {
      const slot = (leader[needOf[each] as number] as number) + 2;
      first[slot] = (first[slot] as number) + 1;
    }
  }
  for (let at = 2; at < count + 2; at++) first[at] = (first[at] as number) + (first[at - 1] as number);
  const successors = new Uint32Array(needOf.length);
  for (let at = 0; at < count; at++) {
    for (let each = needFirst[at] as number; each < (needFirst[at + 1] as number); each++) {
      const slot = (leader[needOf[each] as number] as number) + 1;
      const place = first[slot] as number;
      successors[place] = leader[at] as number;
      first[slot] = place + 1;
    }
  }
  return { waiting, first, successors };
}
