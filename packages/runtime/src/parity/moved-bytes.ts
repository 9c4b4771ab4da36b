/** @file Predicted bytes = moved bytes, for every rank and every kind of exchange, exactly. */
import { worldSize } from '@meshwright/core/mesh';
import {
  boundSentBytes,
  bytesSent,
  type ExchangeSum,
  type ExpandedList,
  expandList,
  type Program,
  rowKey,
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
    if (program.mesh.experts === undefined || expanded === undefined) {
      return exchanges.map((each) => ({ ...each, bytes: each.bytes * steps }));
    }
    return exchanges.map((each) => {
      const counted = countedBytes(expanded, each, rows[rank] ?? [], seat);
      return { ...each, bytes: counted ?? each.bytes * steps };
    });
  });
}

/** Bytes of one kind of exchange of routed rows, over all periods; undefined for exchanges of other things, and where rows
 * are as many as tokens whatever the router says.
 */
function countedBytes(
  { operations }: ExpandedList,
  { kind, over, rule }: ExchangeSum,
  periods: readonly RowTables[],
  seat: Seat,
): number | undefined {
  let sum: number | undefined;
  for (const expanded of operations) {
    const { operation, reads } = expanded;
    const [read] = reads;
    if (operation.kind !== 'collective' || read === undefined) continue;
    if (operation.collective !== kind || operation.axis !== over || operation.why.rule !== rule) continue;
    for (const tables of periods) {
      const table = tables[rowKey(read.instance.name)];
      const bytes = table && boundSentBytes(expanded, operation, table, seat.coordinate, seat.degrees);
      if (bytes !== undefined) sum = (sum ?? 0) + bytes;
    }
  }
  return sum;
}

/** Bytes that the program says all ranks send in one step, by axis; rows balanced. */
export function predictedByAxis(program: Program): Readonly<Record<string, number>> {
  const sums: Record<string, number> = {};
  for (const { ranks, byAxis } of bytesSent(program).lists) {
    for (const [axis, { bytes }] of Object.entries(byAxis)) sums[axis] = (sums[axis] ?? 0) + ranks * bytes;
  }
  return sums;
}

/** The same over a whole run, with the rows that it counted. */
export function predictedOfRun(
  program: Program,
  result: Pick<RunResult, 'rows' | 'periods'>,
): Readonly<Record<string, number>> {
  const sums: Record<string, number> = {};
  for (const { axis, bytes } of predictedExchanges(program, result.rows, result.periods).flat()) {
    sums[axis] = (sums[axis] ?? 0) + bytes;
  }
  return sums;
}

/** Bytes of all ranks by axis, over all steps. */
export function bytesByAxis(result: RunResult): Readonly<Record<string, number>> {
  const sums: Record<string, number> = {};
  for (const { axis, bytes } of result.bytes.flat()) sums[axis] = (sums[axis] ?? 0) + bytes;
  return sums;
}
