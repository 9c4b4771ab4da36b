/** @file Words for runs: the line of a step, and predicted against measured. */
import { batchTokens, type Job } from '@meshwright/core/job';
import type { Layout } from '@meshwright/core/layout';
import { formatLayout } from '@meshwright/core/layout';
import { formatCount } from '@meshwright/core/units';
import type { RunFailure, RunResult, StepReport } from '@meshwright/runtime';
import { type ByteColumn, byteColumn, count, fixed, whole } from './numbers.ts';
import { numbers, type Table, tableOf, words } from './table.ts';

/** Bytes of a whole run by axis. */
export type BytesByAxis = Readonly<Record<string, { readonly predicted: number; readonly moved: number }>>;

/** What is run, on what, in one line. */
export function runHeadline(job: Job, layout: Layout, parameters: number, corpus: string): string {
  const ranks = layout.tensor * layout.pipeline * layout.context * layout.data;
  const tokens = batchTokens(job.batch);
  const who = `${job.name}: ${formatCount(parameters)} parameters on ${count(ranks, 'rank')} (${formatLayout(layout)})`;
  return `${who}, ${whole(tokens)} tokens a step of ${corpus}`;
}

/** Lines of equal columns, one for each step. */
export interface StepLines {
  readonly head: string;
  line(report: StepReport): string;
}

/** The lines of a run that is predicted to send `bytes` a step. */
export function stepLines(steps: number, bytes: Readonly<Record<string, number>>): StepLines {
  const axes = Object.keys(bytes).map((axis) => ({ axis, column: byteColumn([bytes[axis] ?? 0]) }));
  const heads = [
    'step'.padStart(Math.max(4, String(steps).length)),
    'loss'.padStart(8),
    'rate'.padStart(9),
    'norm'.padStart(8),
    'ms'.padStart(9),
    'tokens/s'.padStart(9),
    ...axes.map(({ axis, column }) => headOf(axis, column)),
    'validation',
  ];
  return {
    head: heads.join('  '),
    line: (report) =>
      cellsOf(report, axes)
        .map((cell, index) => cell.padStart(heads[index]?.length ?? 0))
        .join('  '),
  };
}

const headOf = (axis: string, { unit }: ByteColumn): string => `${axis} ${unit}`.padStart(9);

function cellsOf(
  report: StepReport,
  axes: readonly { readonly axis: string; readonly column: ByteColumn }[],
): readonly string[] {
  const { step, loss, learningRate, gradientNorm, seconds, tokens, bytes, validationLoss } = report;
  return [
    String(step),
    fixed(loss, 4),
    learningRate.toExponential(2),
    gradientNorm === undefined ? '-' : fixed(gradientNorm, 4),
    fixed(seconds * 1e3, 1),
    whole(tokens / seconds),
    ...axes.map(({ axis, column }) => column.cell(bytes[axis] ?? 0)),
    ...(validationLoss === undefined ? [] : [fixed(validationLoss, 4)]),
  ];
}

/** What was predicted against what moved, over all steps and ranks. */
export function bytesTable(bytes: BytesByAxis, periods: number): Table {
  const rows = Object.entries(bytes);
  const title = `bytes that all ranks sent in ${count(periods, 'period')}`;
  return tableOf(
    rows,
    [
      words('axis', ([axis]) => axis),
      numbers('predicted', ([, { predicted }]) => whole(predicted)),
      numbers('moved', ([, { moved }]) => whole(moved)),
      words('', ([, { predicted, moved }]) => (predicted === moved ? 'equal' : 'DIFFERENT')),
    ],
    title,
  );
}

/** Peaks of live bytes by rank; ranks with the same numbers share a row. */
export function memoryTable({ memory }: Pick<RunResult, 'memory'>): Table {
  const rows = new Map<string, { readonly ranks: number[]; readonly one: RunResult['memory'][number] }>();
  for (const each of memory) {
    const key = `${each.predictedPeakBytes} ${each.peakBytes} ${each.differs.length}`;
    const known = rows.get(key);
    if (known) known.ranks.push(each.rank);
    else rows.set(key, { ranks: [each.rank], one: each });
  }
  const fields = [...rows.values()];
  const column = byteColumn(memory.map(({ peakBytes }) => peakBytes));
  return tableOf(
    fields,
    [
      words('ranks', ({ ranks }) => ranks.join(' ')),
      numbers(`predicted ${column.unit}`, ({ one }) => column.cell(one.predictedPeakBytes)),
      numbers(`tracked ${column.unit}`, ({ one }) => column.cell(one.peakBytes)),
      numbers(`arena ${column.unit}`, ({ one }) => (one.highWaterBytes === 0 ? '-' : column.cell(one.highWaterBytes))),
      words('', ({ one }) =>
        one.differs.length === 0
          ? 'equal at every operation'
          : `DIFFERENT at ${count(one.differs.length, 'operation')}`,
      ),
    ],
    'peak of live bytes on a rank',
  );
}

/** Why a run ended before its last step. */
export function failureWords({ rank, operation, reason, waiting = [] }: RunFailure): string {
  const where = operation === undefined ? '' : ` at ${operation}`;
  const others = waiting.map((each) => `\n  rank ${each.rank} waited for ${each.for}`).join('');
  return `rank ${rank} stopped${where}: ${reason}${others}`;
}
