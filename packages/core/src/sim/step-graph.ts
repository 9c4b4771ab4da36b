/** @file The graph of one period: what waits for what, who meets whom. Struct of arrays. */
import type { ExpandedList } from '../program/index.ts';
import type { RankClass } from './ranks.ts';

/** What waits for what. Operations are numbered through all lists, in the order of the lists. */
export interface StepGraph {
  /** The list of each class of ranks. */
  readonly lists: readonly ExpandedList[];
  /** Ranks that run alike; one class for each list where nothing disturbs any rank. */
  readonly classes: readonly RankClass[];
  /** Class of each rank; empty where every list is one class. */
  readonly classOf: Uint32Array;
  /** Number of the first operation of each list; one more entry at the end. */
  readonly base: Uint32Array;
  /** Needs of operation i: `needOf[needFirst[i]]` up to, not including, `needOf[needFirst[i + 1]]`. */
  readonly needFirst: Uint32Array;
  readonly needOf: Uint32Array;
  /** NEEDS_LANE, NEEDS_DATA, NEEDS_LINE or NEEDS_HOST. */
  readonly needCause: Uint8Array;
  /** Codes of lanes. */
  readonly lane: Uint8Array;
  /** The next member of the same exchange, in a ring; the operation itself where it meets nobody. */
  readonly next: Uint32Array;
  /** The first member of the same exchange. */
  readonly leader: Uint32Array;
  /** The operation that the host waited for last before it issued this one; -1 is the start of the period. */
  readonly hostAnchor: Int32Array;
  /** Seconds of the host from the end of that one until this one is issued. */
  readonly hostOffset: Float64Array;
}

/** The class that an operation belongs to, by its number. */
export function listOf({ base }: Pick<StepGraph, 'base'>, at: number): number {
  let low = 0;
  let high = base.length - 2;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((base[middle] as number) <= at) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** Visits the members of an exchange, `node` first; `node` alone where it meets nobody. */
export function visitMembers({ next }: Pick<StepGraph, 'next'>, node: number, visit: (member: number) => void): void {
  visit(node);
  for (let member = next[node] as number; member !== node; member = next[member] as number) visit(member);
}
