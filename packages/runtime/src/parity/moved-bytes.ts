/** @file Predicted bytes = moved bytes, for every rank and every kind of exchange, exactly. */
import { bytesSent, type Program } from '@meshwright/core/program';
import { listOf, seatOf } from '../place/seat.ts';
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

/** What moved against what the program says that `steps` steps send; empty when all is equal. */
export function compareBytes(
  program: Program,
  result: Pick<RunResult, 'bytes'>,
  steps: number,
): readonly BytesDifference[] {
  const lists = new Map(bytesSent(program).lists.map((each) => [each.list, each]));
  return result.bytes.flatMap((own, rank) => {
    const predicted = lists.get(listOf(program, seatOf(program, rank)).name)?.exchanges ?? [];
    const nameOf = ({ kind, over, rule }: { kind: string; over: string; rule: string }) => `${kind} ${over} ${rule}`;
    const rows = new Map<string, BytesDifference>();
    for (const { kind, over, rule, bytes } of predicted) {
      rows.set(nameOf({ kind, over, rule }), { rank, kind, over, rule, predicted: bytes * steps, moved: 0 });
    }
    for (const { kind, over, rule, bytes } of own) {
      const row = rows.get(nameOf({ kind, over, rule })) ?? { rank, kind, over, rule, predicted: 0 };
      rows.set(nameOf({ kind, over, rule }), { ...row, moved: bytes });
    }
    return [...rows.values()].filter((row) => row.predicted !== row.moved);
  });
}

/** Bytes that the program says all ranks send in one step, by axis. */
export function predictedByAxis(program: Program): Readonly<Record<string, number>> {
  const sums: Record<string, number> = {};
  for (const { ranks, byAxis } of bytesSent(program).lists) {
    for (const [axis, { bytes }] of Object.entries(byAxis)) sums[axis] = (sums[axis] ?? 0) + ranks * bytes;
  }
  return sums;
}

/** Bytes of all ranks by axis, over all steps. */
export function bytesByAxis(result: RunResult): Readonly<Record<string, number>> {
  const sums: Record<string, number> = {};
  for (const { axis, bytes } of result.bytes.flat()) sums[axis] = (sums[axis] ?? 0) + bytes;
  return sums;
}
