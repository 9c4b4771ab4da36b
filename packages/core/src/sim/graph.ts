/** @file The graph of one period: every operation of every list, numbered through, with what it needs, who it meets and
 * when the host can have issued it. Struct of arrays; no durations of the device.
 */
import {
  type ExpandedList,
  type ExpandedOperation,
  holdsHost,
  type Operation,
  type Program,
  type Replay,
  replayOf,
  type Turns,
} from '../program/index.ts';
import { laneCode } from './lanes.ts';
import { matchExchanges, summed } from './match.ts';
import { createNeedCollector, createNeedRows, type NeedRows } from './needs.ts';
import { quotientGraph } from './quotient.ts';
import { classPerList, type RankClasses } from './ranks.ts';
import { listOf, type StepGraph } from './step-graph.ts';
import type { OperationPrices } from './types.ts';

/** Builds the graph, for classes of ranks where there is more than one for each list. Throws an InputError when an exchange
 * does not find its partner. */
export function stepGraph(
  program: Program,
  lists: readonly ExpandedList[],
  pricing: OperationPrices,
  ranks: RankClasses = classPerList(program),
): StepGraph {
  const graph = listGraph(program, lists, pricing);
  return ranks.of.length === 0 ? graph : quotientGraph(graph, program, ranks);
}

function listGraph(program: Program, lists: readonly ExpandedList[], pricing: OperationPrices): StepGraph {
  const replays = lists.map(replayOf);
  const base = summed(replays.map(({ length }) => length));
  const count = base[lists.length] as number;
  const rows = createNeedRows(count);
  const lane = new Uint8Array(count);
  const hostAnchor = new Int32Array(count);
  const hostOffset = new Float64Array(count);
  replays.forEach((each, index) => addList(each, base[index] as number, pricing, rows, lane, hostAnchor, hostOffset));
  return {
    lists,
    classes: classPerList(program).classes,
    classOf: new Uint32Array(0),
    base,
    needFirst: rows.first,
    needOf: rows.of.subarray(0, rows.length),
    needCause: rows.cause.subarray(0, rows.length),
    lane,
    ...operationMeetings(program, lists, base),
    hostAnchor,
    hostOffset,
  };
}

/** Meetings of turns as meetings of operations. */
function operationMeetings(program: Program, lists: readonly ExpandedList[], base: Uint32Array) {
  const meetings = matchExchanges(program, lists);
  const next = new Uint32Array(base[lists.length] as number);
  for (let at = 0; at < next.length; at++) next[at] = at;
  const leader = next.slice();
  const operationOf = (turn: number): number => {
    const list = listOf(meetings, turn);
    return (
      (base[list] as number) + ((meetings.turns[list] as Turns).first[turn - (meetings.base[list] as number)] as number)
    );
  };
  for (let turn = 0; turn < meetings.next.length; turn++) {
    if (meetings.next[turn] === turn) continue;
    const at = operationOf(turn);
    next[at] = operationOf(meetings.next[turn] as number);
    leader[at] = operationOf(meetings.leader[turn] as number);
  }
  return { next, leader };
}

function addList(
  replay: Replay,
  base: number,
  pricing: OperationPrices,
  rows: NeedRows,
  lanes: Uint8Array,
  hostAnchor: Int32Array,
  hostOffset: Float64Array,
): void {
  const needs = createNeedCollector(replay, base, rows);
  const { samples, sampleOf, lineFirst } = replay;
  const lane = Uint8Array.from(samples, ({ operation }) => laneCode(operation));
  const launch = Float64Array.from(samples, (sample) => launchOf(sample, pricing));
  const isMark = Uint8Array.from(samples, ({ operation }) => (takesNoTime(operation) ? 1 : 0));
  const holds = Uint8Array.from(samples, ({ operation }) => (holdsHost(operation) ? 1 : 0));
  let anchor = -1;
  let offset = 0;
  for (let line = 0; line < lineFirst.length - 1; line++) {
    for (let index = lineFirst[line] as number; index < (lineFirst[line + 1] as number); index++) {
      const at = base + index;
      const sample = sampleOf[index] as number;
      lanes[at] = lane[sample] as number;
      offset += launch[sample] as number;
      hostAnchor[at] = anchor;
      hostOffset[at] = offset;
      if (isMark[sample] === 1) needs.addMark(index, anchor);
      else needs.add(index, line, anchor);
      if (holds[sample] === 1) {
        anchor = at;
        offset = 0;
      }
    }
  }
}

/** Seconds of the host to issue an operation. */
export function launchOf(expanded: ExpandedOperation, pricing: OperationPrices): number {
  if (pricing.launch) return pricing.launch(expanded);
  const { kind } = expanded.operation;
  if (kind === 'compute') return pricing.launchCompute;
  return kind === 'collective' || kind === 'send' || kind === 'recv' ? pricing.launchExchange : 0;
}

/** Marks and lifetimes stand where the host passes them. */
export const takesNoTime = ({ kind }: Operation): boolean => kind === 'mark' || kind === 'alloc' || kind === 'free';
