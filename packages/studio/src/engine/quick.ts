/** @file The ranking while somebody types: lower bounds of the usual layouts, within the time of a key press. No layout is
 * compiled; the worker that plans looks at all of them and replaces it.
 */
import { capacityBytes } from '@meshwright/core/cluster';
import type { Job } from '@meshwright/core/job';
import { formatLayout, type Layout, type LayoutRequest, layoutSpaceOf, type SplitCosts } from '@meshwright/core/layout';
import {
  boundBook,
  createPricing,
  deviceMemory,
  type Pricing,
  pricingOfSequences,
  splitCosts,
  type Verdict,
} from '@meshwright/core/plan';
import type { Scenario } from '../scenario/scenario.ts';

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
  /** Line rate of a card between hosts, in Gb/s. */
  readonly linkGbps: number;
}

/** How far to look: one sequence at a time, which prices a third of the blocks, or up to four. */
export type QuickReach = 'first' | 'usual';

const ROWS = 10;

/** Ranks by bound; the best of each split. `job` is that of the scenario. */
export type QuickPlanner = (scenario: Scenario, job: Job, reach: QuickReach) => QuickPlan;

/** Scenarios with one key have the same prices: they differ in their sequences and fixed keys only. */
export const pricingKey = (scenario: Scenario): string => JSON.stringify({ ...scenario, sequences: 0, layout: {} });

/** A planner that keeps the prices of the last scenario: while only the batch or fixed keys change, nothing is priced twice. */
export function createQuickPlanner(): QuickPlanner {
  let known: { readonly key: string; readonly pricing: Pricing; readonly costs: SplitCosts } | undefined;
  return (scenario, job, reach) => {
    const key = pricingKey(scenario);
    if (known?.key !== key) known = { key, pricing: createPricing(job), costs: splitCosts(job) };
    const { costs } = known;
    const pricing = pricingOfSequences(known.pricing, scenario.sequences);
    const usual = boundRows(pricing, job.layout, costs, usualWithin(job.layout, largestMicroBatch[reach]));
    // Where the usual ones are all illegal or too large, the others are looked at too.
    const found = usual.rows.length > 0 ? usual : boundRows(pricing, job.layout, costs, () => true);
    const linkGbps = Math.round((job.cluster.inter.rate.value * 8) / 1e9);
    return { ...found, capacityBytes: capacityBytes(job.cluster), linkGbps };
  };
}

const largestMicroBatch: Readonly<Record<QuickReach, number>> = { first: 1, usual: 4 };

function boundRows(
  pricing: Pricing,
  fixed: LayoutRequest,
  costs: SplitCosts,
  isWanted: (layout: Layout) => boolean,
): Omit<QuickPlan, 'capacityBytes' | 'linkGbps'> {
  const { job } = pricing;
  const boundOf = boundBook(pricing);
  const best = new Map<string, Omit<QuickRow, 'short'>>();
  let bounded = 0;
  let fitting = 0;
  for (const layout of layoutSpaceOf(job, { ...usualKeys, ...fixed }, costs).layouts()) {
    if (!isWanted(layout)) continue;
    bounded += 1;
    const { seconds, peakBytes, residentBytes } = boundOf(layout);
    const { deviceBytes, verdict } = deviceMemory(job, layout, peakBytes, residentBytes);
    if (verdict === 'does-not-fit') continue;
    fitting += 1;
    const split = `${layout.tensor} ${layout.pipeline} ${layout.data} ${layout.context}`;
    const row = best.get(split);
    if (!row || seconds < row.seconds) best.set(split, { layout, seconds, deviceBytes, verdict });
  }
  const rows = [...best.values()].sort((a, b) => a.seconds - b.seconds).slice(0, ROWS);
  return { rows: rows.map((row) => ({ ...row, short: formatLayout(row.layout) })), bounded, fitting };
}

const usualKeys: LayoutRequest = { prefetch: 1, bucketMB: 25, keepGathered: false };

/** What is usual where a key is open: sequence parallelism with tensor ranks, one forward and one backward in turns with
 * at most two chunks a stage, small micro-batches. Keys that somebody fixed stand as they are. */
function usualWithin(fixed: LayoutRequest, largest: number): (layout: Layout) => boolean {
  const open = (key: keyof LayoutRequest): boolean => fixed[key] === undefined;
  return ({ tensor, sequenceParallel, schedule, chunks, microBatch }) =>
    !(open('sequenceParallel') && sequenceParallel !== tensor > 1) &&
    !(open('schedule') && (schedule === 'naive' || schedule === 'gpipe')) &&
    !(open('chunks') && chunks > 2) &&
    !(open('microBatch') && microBatch > largest);
}
