/** @file The score of one source: errors, coverage of the ranges, and the order among layouts of one job. */
import type { Judged } from './scored-row.ts';
import { type ErrorSummary, mean, regret, spearman, summarise } from './statistics.ts';

/** Layouts of a job from which an order can be read. */
const LAYOUTS_OF_A_JOB = 3;

/** Score of the rows of a source; numbers are null where no row gives them. */
export interface SourceScore {
  readonly source: string;
  /** Rows that were priced and have a measured time. */
  readonly rows: number;
  readonly skipped: number;
  readonly mape: number | null;
  readonly bias: number | null;
  readonly median: number | null;
  readonly p90: number | null;
  readonly worst: number | null;
  /** Share of the rows whose measured time lies in the predicted range. */
  readonly coverage: number | null;
  /** Rank correlation among layouts of one job, mean over its jobs of at least three layouts. */
  readonly spearman: number | null;
  /** Measured time of the layout that would have been picked over the best, less 1; mean over the same jobs. */
  readonly regret: number | null;
  readonly jobs: number;
  /** Of the rows that were simulated on shared links: their errors there and at block level. */
  readonly tiers: { readonly shared: ErrorSummary; readonly block: ErrorSummary } | null;
  /** The same of peak memory. */
  readonly memory: ErrorSummary | null;
}

/** The score of `judged`. */
export function scoreOf(source: string, judged: readonly Judged[]): SourceScore {
  const timed = judged.filter(({ row }) => row.error !== undefined);
  const errors = summarise(timed.map(({ row }) => row.error ?? 0));
  const covered = timed.filter(
    ({ row: { low = 0, high = 0, measuredSeconds = 0 } }) => low <= measuredSeconds && measuredSeconds <= high,
  );
  const jobs = jobsOf(timed);
  return {
    source,
    rows: timed.length,
    skipped: judged.filter(({ row }) => row.skipped !== undefined).length,
    mape: errors?.mape ?? null,
    bias: errors?.bias ?? null,
    median: errors?.median ?? null,
    p90: errors?.p90 ?? null,
    worst: errors?.worst ?? null,
    coverage: timed.length === 0 ? null : covered.length / timed.length,
    spearman: jobs.length === 0 ? null : mean(jobs.map(([predicted, measured]) => spearman(predicted, measured))),
    regret: jobs.length === 0 ? null : mean(jobs.map(([predicted, measured]) => regret(predicted, measured))),
    jobs: jobs.length,
    tiers: tiersOf(timed),
    memory: summarise(judged.flatMap(({ row }) => (row.memoryError === undefined ? [] : [row.memoryError]))) ?? null,
  };
}

function tiersOf(timed: readonly Judged[]): SourceScore['tiers'] {
  const rows = timed.filter(({ row }) => row.simulatedError !== undefined);
  const shared = summarise(rows.map(({ row }) => row.simulatedError ?? 0));
  const block = summarise(rows.map(({ row }) => row.error ?? 0));
  return shared && block ? { shared, block } : null;
}

/** Predicted and measured seconds of each job. */
function jobsOf(timed: readonly Judged[]): readonly (readonly [readonly number[], readonly number[]])[] {
  const jobs = new Map<string, readonly [number[], number[]]>();
  for (const { row, priced } of timed) {
    const key = priced?.jobKey ?? '';
    const job = jobs.get(key) ?? [[], []];
    job[0].push(row.predictedSeconds ?? 0);
    job[1].push(row.measuredSeconds ?? 0);
    jobs.set(key, job);
  }
  return [...jobs.values()].filter(([predicted]) => predicted.length >= LAYOUTS_OF_A_JOB);
}
