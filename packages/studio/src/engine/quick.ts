/** @file The ranking while somebody types: lower bounds of all layouts with the usual buckets and prefetch. No layout is
 * compiled, so it is there in milliseconds; the worker that plans replaces it row by row.
 */
import { capacityBytes } from '@meshwright/core/cluster';
import { formatLayout, type Layout, layoutSpace } from '@meshwright/core/layout';
import { boundBook, createEvaluator, deviceMemory, splitCosts, type Verdict } from '@meshwright/core/plan';
import type { Scenario } from '../scenario/scenario.ts';
import { jobOf } from './job-of.ts';

/** A row of the ranking before anything is evaluated. */
export interface QuickRow {
  readonly layout: Layout;
  readonly short: string;
  /** Lower bounds. */
  readonly seconds: number;
  readonly deviceBytes: number;
  readonly verdict: Verdict;
}

/** The ranking, and what was looked at. */
export interface QuickPlan {
  readonly rows: readonly QuickRow[];
  readonly considered: number;
  readonly fitting: number;
  readonly capacityBytes: number;
}

const ROWS = 10;

/** Ranks by bound; the best of each split. Throws an InputError for a scenario that is no job. */
export function quickPlan(scenario: Scenario): QuickPlan {
  const job = jobOf(scenario);
  const evaluator = createEvaluator(job);
  const usual = { prefetch: 1, bucketMB: 25, keepGathered: false, ...job.layout };
  const space = layoutSpace(job, usual, splitCosts(job));
  const boundOf = boundBook(evaluator);
  const best = new Map<
    string,
    { readonly layout: Layout; readonly seconds: number; readonly deviceBytes: number; readonly verdict: Verdict }
  >();
  let fitting = 0;
  for (const layout of space.layouts()) {
    const { seconds, peakBytes, residentBytes } = boundOf(layout);
    const { deviceBytes, verdict } = deviceMemory(job, layout, peakBytes, residentBytes);
    if (verdict === 'does-not-fit') continue;
    fitting += 1;
    const split = `${layout.tensor} ${layout.pipeline} ${layout.data}`;
    const known = best.get(split);
    if (!known || seconds < known.seconds) best.set(split, { layout, seconds, deviceBytes, verdict });
  }
  const rows = [...best.values()].sort((a, b) => a.seconds - b.seconds).slice(0, ROWS);
  return {
    rows: rows.map((row) => ({ ...row, short: formatLayout(row.layout) })),
    considered: space.considered,
    fitting,
    capacityBytes: capacityBytes(job.cluster),
  };
}
