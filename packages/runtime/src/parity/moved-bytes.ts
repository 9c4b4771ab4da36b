/** @file Predicted bytes = moved bytes, for every rank and every kind of exchange, exactly. */
import { algorithms } from '@meshwright/core/collectives';
import { worldSize } from '@meshwright/core/mesh';
import {
  boundSentBytes,
  bytesSent,
  type Collective,
  type ExchangeSum,
  type ExpandedList,
  expandList,
  type Operation,
  type Program,
  paddedBytes,
  rowKey,
  sentBytes,
} from '@meshwright/core/program';
import type { RowTables } from '../interpreter/rows.ts';
import { listOf, type Seat, seatOf } from '../place/seat.ts';
import type { RunResult } from '../train/train-program.ts';

/** One kind of exchange of one rank whose bytes were not those of the program. Bytes of all steps. */
export interface BytesDifference {
  readonly rank: number;
  readonly kind: string;
  readonly over: string;
  readonly rule: string;
  readonly predicted: number;
  readonly moved: number;
}

/** What moved against what the program says that `steps` steps send; empty when all is equal. Exchanges of routed rows
 * are held against the rows that were counted.
 */
export function compareBytes(
  program: Program,
  result: Pick<RunResult, 'bytes' | 'rows'>,
  steps: number,
): readonly BytesDifference[] {
  const predicted = predictedExchanges(program, result.rows, steps);
  return result.bytes.flatMap((own, rank) => {
    const rows = new Map<string, BytesDifference>();
    for (const { kind, over, rule, bytes } of predicted[rank] ?? []) {
      rows.set(`${kind} ${over} ${rule}`, { rank, kind, over, rule, predicted: bytes, moved: 0 });
    }
    for (const { kind, over, rule, bytes } of own) {
      const row = rows.get(`${kind} ${over} ${rule}`) ?? { rank, kind, over, rule, predicted: 0 };
      rows.set(`${kind} ${over} ${rule}`, { ...row, moved: bytes });
    }
    return [...rows.values()].filter((row) => row.predicted !== row.moved);
  });
}

type Predicted = Omit<ExchangeSum, 'exchanges'>;

/** What each rank sends in `steps` periods, by kind of exchange. */
function predictedExchanges(
  program: Program,
  rows: RunResult['rows'],
  steps: number,
): readonly (readonly Predicted[])[] {
  const lists = new Map(program.lists.map((list) => [list.name, expandList(program, list)]));
  const sums = new Map(bytesSent(program, [...lists.values()]).lists.map((each) => [each.list, each.exchanges]));
  return Array.from({ length: worldSize(program.mesh) }, (_, rank) => {
    const seat = seatOf(program, rank);
    const { name } = listOf(program, seat);
    const exchanges = sums.get(name) ?? [];
    const expanded = lists.get(name);
    if (expanded === undefined) return [];
    const uneven = expanded.operations.some(({ operation }) => isUneven(operation));
    return exchanges.map((each) => {
      const counted = program.mesh.experts && countedBytes(expanded, each, rows[rank] ?? [], seat);
      const bytes = uneven ? memberBytes(expanded, each, seat) : each.bytes;
      return { ...each, bytes: counted ?? bytes * steps };
    });
  });
}

/** Whether members of a collective may send different shares. */
const isUneven = (operation: Operation): operation is Collective =>
  operation.kind === 'collective' && (operation.algorithm === 'tree' || operation.algorithm === 'halving-doubling');

const isOf = ({ kind, over, rule }: ExchangeSum, operation: Operation): operation is Collective =>
  operation.kind === 'collective' &&
  operation.collective === kind &&
  operation.axis === over &&
  operation.why.rule === rule;

/** Bytes of one kind of exchange of one rank in a period, where members of trees or halves send different shares. */
function memberBytes({ operations }: ExpandedList, sum: ExchangeSum, { degrees, indexOn }: Seat): number {
  if (sum.kind === 'send') return sum.bytes;
  let bytes = 0;
  for (const expanded of operations) {
    const { operation } = expanded;
    if (!isOf(sum, operation)) continue;
    if (!isUneven(operation)) bytes += sentBytes(expanded, degrees);
    else {
      const share = memberShare(operation, degrees(operation.axis), indexOn(operation.axis));
      bytes += share * paddedBytes(operation, expanded, degrees);
    }
  }
  return bytes;
}

/** Of the buffer, what the member at a place sends in an all-reduce. */
function memberShare({ algorithm }: Collective, ranks: number, place: number): number {
  let sum = 0;
  algorithms[algorithm].flows('all-reduce', ranks, (from, _, share) => {
    if (from === place) sum += share;
  });
  return sum;
}

/** Bytes of one kind of exchange of routed rows, over all periods; undefined for exchanges of other things, and where rows
 * are as many as tokens whatever the router says.
 */
function countedBytes(
  { operations }: ExpandedList,
  sum: ExchangeSum,
  periods: readonly RowTables[],
  seat: Seat,
): number | undefined {
  let counted: number | undefined;
  for (const expanded of operations) {
    const { operation, reads } = expanded;
    const [read] = reads;
    if (read === undefined || !isOf(sum, operation)) continue;
    for (const tables of periods) {
      const table = tables[rowKey(read.instance.name)];
      const bytes = table && boundSentBytes(expanded, operation, table, seat.coordinate, seat.degrees);
      if (bytes !== undefined) counted = (counted ?? 0) + bytes;
    }
  }
  return counted;
}

/** Bytes that the program says all ranks send in one step, by axis; rows balanced. */
export function predictedByAxis(program: Program): Readonly<Record<string, number>> {
  return sumByAxis(predictedExchanges(program, [], 1).flat());
}

/** The same over a whole run, with the rows that it counted. */
export function predictedOfRun(
  program: Program,
  result: Pick<RunResult, 'rows' | 'periods'>,
): Readonly<Record<string, number>> {
  return sumByAxis(predictedExchanges(program, result.rows, result.periods).flat());
}

/** Bytes of all ranks by axis, over all steps. */
export function bytesByAxis(result: RunResult): Readonly<Record<string, number>> {
  return sumByAxis(result.bytes.flat());
}

function sumByAxis(rows: readonly { readonly axis: string; readonly bytes: number }[]): Record<string, number> {
  const sums: Record<string, number> = {};
  for (const { axis, bytes } of rows) sums[axis] = (sums[axis] ?? 0) + bytes;
  return sums;
}
