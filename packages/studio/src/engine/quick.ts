/** @file The ranking while somebody types: lower bounds of the usual layouts, within the time of a key press. No layout is
 * compiled; the worker that plans looks at all of them and replaces it.
 */
import { capacityBytes } from '@meshwright/core/cluster';
import type { Job } from '@meshwright/core/job';
import { formatLayout, type Layout, type LayoutRequest, layoutSpace } from '@meshwright/core/layout';
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
  readonly bounded: number;
  readonly fitting: number;
  readonly capacityBytes: number;
}

const ROWS = 10;

/** Ranks by bound; the best of each split. Throws an InputError for a scenario that is no job. */
export function quickPlan(scenario: Scenario): QuickPlan {
  const job = jobOf(scenario);
  const usual = boundRows(job, usualWithin(job.layout));
  // Where the usual ones are all illegal or too large, the others are looked at too.
  const found = usual.rows.length > 0 ? usual : boundRows(job, () => true);
  return { ...found, capacityBytes: capacityBytes(job.cluster) };
}

function boundRows(job: Job, isWanted: (layout: Layout) => boolean): Omit<QuickPlan, 'capacityBytes'> {
  const boundOf = boundBook(createEvaluator(job));
  const best = new Map<string, Omit<QuickRow, 'short'>>();
  let bounded = 0;
  let fitting = 0;
  for (const layout of layoutSpace(job, { ...usualKeys, ...job.layout }, splitCosts(job)).layouts()) {
    if (!isWanted(layout)) continue;
    bounded += 1;
    const { seconds, peakBytes, residentBytes } = boundOf(layout);
    const { deviceBytes, verdict } = deviceMemory(job, layout, peakBytes, residentBytes);
    if (verdict === 'does-not-fit') continue;
    fitting += 1;
    const split = `${layout.tensor} ${layout.pipeline} ${layout.data} ${layout.context}`;
    const known = best.get(split);
    if (!known || seconds < known.seconds) best.set(split, { layout, seconds, deviceBytes, verdict });
  }
  const rows = [...best.values()].sort((a, b) => a.seconds - b.seconds).slice(0, ROWS);
  return { rows: rows.map((row) => ({ ...row, short: formatLayout(row.layout) })), bounded, fitting };
}

const usualKeys: LayoutRequest = { prefetch: 1, bucketMB: 25, keepGathered: false };

/** What is usual where a key is open: sequence parallelism with tensor ranks, one forward and one backward in turns with
 * at most two chunks a stage, micro-batches up to four sequences. Keys that somebody fixed stand as they are. */
function usualWithin(fixed: LayoutRequest): (layout: Layout) => boolean {
  const open = (key: keyof LayoutRequest): boolean => fixed[key] === undefined;
  return ({ tensor, sequenceParallel, schedule, chunks, microBatch }) =>
    !(open('sequenceParallel') && sequenceParallel !== tensor > 1) &&
    !(open('schedule') && (schedule === 'naive' || schedule === 'gpipe')) &&
    !(open('chunks') && chunks > 2) &&
    !(open('microBatch') && microBatch > 4);
}
