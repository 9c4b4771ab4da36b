/** @file The graph of one period: every operation of every list, numbered through, with what it needs, who it meets and
 * when the host can have issued it. Struct of arrays; no durations of the device.
 */
import { type ExpandedList, holdsHost, type Operation, type Program } from '../program/index.ts';
import { laneCode } from './lanes.ts';
import { matchExchanges } from './match.ts';
import { createNeedCollector, createNeedRows, type NeedRows } from './needs.ts';
import type { OperationPrices } from './types.ts';

/** What waits for what. Operations are numbered through all lists, in the order of the lists. */
export interface StepGraph {
  readonly lists: readonly ExpandedList[];
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

/** Builds the graph. Throws an InputError when an exchange does not find its partner. */
export function stepGraph(program: Program, lists: readonly ExpandedList[], pricing: OperationPrices): StepGraph {
  const base = basesOf(lists);
  const count = base[lists.length] as number;
  const rows = createNeedRows(count);
  const lane = new Uint8Array(count);
  const hostAnchor = new Int32Array(count);
  const hostOffset = new Float64Array(count);
  lists.forEach((list, index) => addList(list, base[index] as number, pricing, rows, lane, hostAnchor, hostOffset));
  return {
    lists,
    base,
    needFirst: rows.first,
    needOf: rows.of.subarray(0, rows.length),
    needCause: rows.cause.subarray(0, rows.length),
    lane,
    ...matchExchanges(program, lists, base),
    hostAnchor,
    hostOffset,
  };
}

function basesOf(lists: readonly ExpandedList[]): Uint32Array {
  const base = new Uint32Array(lists.length + 1);
  for (const [index, list] of lists.entries()) base[index + 1] = (base[index] as number) + list.operations.length;
  return base;
}

function addList(
  list: ExpandedList,
  base: number,
  pricing: OperationPrices,
  rows: NeedRows,
  lanes: Uint8Array,
  hostAnchor: Int32Array,
  hostOffset: Float64Array,
): void {
  const needs = createNeedCollector(list, base, rows);
  let anchor = -1;
  let offset = 0;
  for (const operation of list.operations) {
    const at = base + operation.index;
    lanes[at] = laneCode(operation.operation);
    offset += launchOf(operation.operation, pricing);
    hostAnchor[at] = anchor;
    hostOffset[at] = offset;
    if (takesNoTime(operation.operation)) needs.addMark(operation, anchor);
    else needs.add(operation, anchor);
    if (holdsHost(operation.operation)) {
      anchor = at;
      offset = 0;
    }
  }
}

function launchOf({ kind }: Operation, pricing: OperationPrices): number {
  if (kind === 'compute') return pricing.launchCompute;
  return kind === 'collective' || kind === 'send' || kind === 'recv' ? pricing.launchExchange : 0;
}

/** Marks and lifetimes stand where the host passes them. */
export const takesNoTime = ({ kind }: Operation): boolean => kind === 'mark' || kind === 'alloc' || kind === 'free';

/** The list that an operation belongs to, by its number. */
export function listOf({ base }: StepGraph, at: number): number {
  let list = 0;
  while (at >= (base[list + 1] as number)) list += 1;
  return list;
}
