/** @file Scores the price model on measured runs: every row that can be priced, by source and over all. */
import { nullSeconds } from './null-model.ts';
import { type PricedRun, priceRun } from './price-row.ts';
import { measuredSeconds, type RunRow } from './run-row.ts';
import type { Judged, ScoredRow } from './scored-row.ts';
import { type Outcome, type Skipped, type SkipReason, skip } from './skip.ts';
import { type SourceScore, scoreOf } from './source-score.ts';
import { type ErrorSummary, summarise } from './statistics.ts';

/** The null model over the rows that it can predict, beside ours on the same rows. */
export interface NullScore {
  readonly overall: ErrorSummary | undefined;
  /** Ours on the rows of `overall`. */
  readonly ours: ErrorSummary | undefined;
  readonly bySource: readonly { readonly source: string; readonly mape: number; readonly ours: number }[];
}

/** The answer of `meshwright score`. */
export interface Score {
  readonly schema: 'meshwright.score/1';
  readonly rows: readonly ScoredRow[];
  readonly bySource: readonly SourceScore[];
  readonly overall: SourceScore;
  readonly nullModel: NullScore;
  /** Rows that are not priced, by reason. */
  readonly skipped: Readonly<Partial<Record<SkipReason, number>>>;
}

export interface ScoreOptions {
  /** Rows that are left out, with the reason. */
  readonly exclusions?: ReadonlyMap<string, string>;
  /** Simulates every row with a measured time on shared links as well: minutes where the rest takes seconds. */
  readonly settles?: boolean;
  readonly onProgress?: (done: number, total: number) => void;
}

/** Scores rows. */
export function scoreRuns(rows: readonly RunRow[], options: ScoreOptions = {}): Score {
  const judged = rows.map((row, index) => {
    options.onProgress?.(index, rows.length);
    const each = judge(row, options.exclusions?.get(row.id));
    return options.settles ? withSettled(each) : each;
  });
  const withNull = addNull(judged);
  const sources = [...new Set(withNull.map(({ row }) => row.source))];
  const skipped: Partial<Record<SkipReason, number>> = {};
  for (const { row } of withNull) if (row.skipped) skipped[row.skipped] = (skipped[row.skipped] ?? 0) + 1;
  return {
    schema: 'meshwright.score/1',
    rows: withNull.map(({ row }) => row),
    bySource: sources.map((source) =>
      scoreOf(
        source,
        withNull.filter(({ row }) => row.source === source),
      ),
    ),
    overall: scoreOf('all', withNull),
    nullModel: nullScore(withNull, sources),
    skipped,
  };
}

/** The row with its step on shared links. */
function withSettled(judged: Judged): Judged {
  const { row, priced } = judged;
  const simulatedSeconds = row.error === undefined ? undefined : priced?.settle();
  if (simulatedSeconds === undefined || row.measuredSeconds === undefined) return judged;
  const simulatedError = simulatedSeconds / row.measuredSeconds - 1;
  return { ...judged, row: { ...row, simulatedSeconds, simulatedError } };
}

function judge(row: RunRow, excluded: string | undefined): Judged {
  const measured = measuredSeconds(row);
  const outcome = excluded === undefined ? outcomeOf(row, measured) : skip('excluded', excluded);
  const source = row.source === '' ? (row.id.split('-')[0] ?? '') : row.source;
  const base = { id: row.id, source, ...(measured !== undefined && { measuredSeconds: measured }) };
  const gpus = row.n_gpus ?? 0;
  if (outcome.skipped)
    return { row: { ...base, assumed: [], ...skippedCells(outcome.skipped) }, priced: undefined, gpus };
  const { seconds, low, high, verdict, assumed } = outcome.value;
  return {
    row: {
      ...base,
      predictedSeconds: seconds,
      low,
      high,
      ...(measured !== undefined && { error: seconds / measured - 1 }),
      ...memoryCells(row, outcome.value),
      verdict,
      ...(ranOut(row) && { ranOut: true as const }),
      assumed,
    },
    priced: outcome.value,
    gpus,
  };
}

const skippedCells = ({ reason, detail }: Skipped): Pick<ScoredRow, 'skipped' | 'detail'> => ({
  skipped: reason,
  detail,
});

function outcomeOf(row: RunRow, measured: number | undefined): Outcome<PricedRun> {
  if (measured === undefined && row.peak_mem_GB === undefined && !ranOut(row))
    return skip('no-time', 'nothing measured');
  return priceRun(row);
}

/** The column `outcome` says that the run did not fit. */
const ranOut = ({ outcome }: RunRow): boolean => /^oom$/i.test(outcome);

/** Decimal GB of what the source measured: tensors, tensors with fragments, or the whole device. */
function memoryCells(row: RunRow, priced: PricedRun): Partial<ScoredRow> {
  const kinds = { allocated: priced.allocatedBytes, reserved: priced.reservedBytes, device: priced.deviceBytes };
  const predictedPeakBytes = kinds[row.mem_kind as keyof typeof kinds] ?? priced.allocatedBytes;
  if (row.peak_mem_GB === undefined) return { predictedPeakBytes };
  const measuredPeakBytes = row.peak_mem_GB * 1e9;
  return { predictedPeakBytes, measuredPeakBytes, memoryError: predictedPeakBytes / measuredPeakBytes - 1 };
}

function addNull(judged: readonly Judged[]): readonly Judged[] {
  const usable = judged.flatMap((each) => {
    const { row, priced, gpus } = each;
    if (priced === undefined || row.measuredSeconds === undefined) return [];
    return [{ each, source: row.source, gpus, measuredSeconds: row.measuredSeconds, priced }];
  });
  const seconds = new Map(nullSeconds(usable).map((value, index) => [usable[index]?.each, value]));
  return judged.map((each) => {
    const value = seconds.get(each);
    return value === undefined ? each : { ...each, row: { ...each.row, nullSeconds: value } };
  });
}

function nullScore(judged: readonly Judged[], sources: readonly string[]): NullScore {
  const rows = judged.map(({ row }) => row).filter((row) => row.nullSeconds !== undefined);
  const nullErrors = (of: readonly ScoredRow[]): readonly number[] =>
    of.map((row) => (row.nullSeconds ?? 0) / (row.measuredSeconds ?? 1) - 1);
  const ourErrors = (of: readonly ScoredRow[]): readonly number[] => of.map((row) => row.error ?? 0);
  return {
    overall: summarise(nullErrors(rows)),
    ours: summarise(ourErrors(rows)),
    bySource: sources.flatMap((source) => {
      const mine = rows.filter((row) => row.source === source);
      const [mape, ours] = [summarise(nullErrors(mine))?.mape, summarise(ourErrors(mine))?.mape];
      return mape === undefined || ours === undefined ? [] : [{ source, mape, ours }];
    }),
  };
}
