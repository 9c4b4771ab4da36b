/** @file Plans: the best layouts of a job, each in full, and why the first one is first. */
import { InputError, type Issue, issue } from '../errors/index.ts';
import type { Job } from '../job/index.ts';
import { completeLayout, type LayoutRequest, type RejectedLayouts } from '../layout/index.ts';
import { bytes, formatBytes } from '../units/index.ts';
import { compareShown, type Reason } from './compare.ts';
import { createEvaluator } from './evaluate/index.ts';
import { layerIssue } from './layer-fit.ts';
import { evaluateLayout, type SearchOptions, type SearchResult, searchLayouts } from './search.ts';
import { showCandidate } from './show.ts';
import type { Shown, ShowOptions } from './show-types.ts';
import { splitCosts } from './split-costs.ts';

export interface Planned {
  readonly schema: 'meshwright.plan/1';
  readonly considered: number;
  readonly legal: number;
  readonly evaluated: number;
  readonly rejected: RejectedLayouts;
  readonly proven: boolean;
  /** Fastest first. */
  readonly plans: readonly Shown[];
  /** Why the first plan is ahead of the second. */
  readonly explain: readonly Reason[];
  readonly issues: readonly Issue[];
}

/** Plans a job: searches over all keys that its layout request leaves open. `plans` is empty when nothing fits. */
export function planJob(job: Job, options: Partial<SearchOptions> = {}): Planned {
  const found = searchLayouts(job, { ...options, top: options.top ?? 5 });
  const chosen = found.best.length > 0 ? found.best : found.atRisk.slice(0, options.top ?? 5);
  const plans = chosen.map((candidate) => showCandidate(found.evaluator, candidate));
  const [first, second] = plans;
  return {
    schema: 'meshwright.plan/1',
    considered: found.considered,
    legal: found.legal,
    evaluated: found.evaluated,
    rejected: found.rejected,
    proven: found.proven,
    plans,
    explain: first && second ? compareShown(first, second) : [],
    issues: plans.length > 0 ? [] : whyNothing(found),
  };
}

/** No layer fits under any layout, or no layout does. */
function whyNothing({ legal, rejected, leastMemory, evaluator }: SearchResult): readonly Issue[] {
  const nothing = nothingFits(leastMemory?.peakBytes);
  const byLayer = leastMemory !== undefined && rejected.LAYER_DOES_NOT_FIT === legal;
  return byLayer ? [layerIssue(evaluator, leastMemory.layout), nothing] : [nothing];
}

function nothingFits(least: number | undefined): Issue {
  const what =
    least === undefined
      ? 'no layout of this job is legal.'
      : `no legal layout fits: the smallest needs ${formatBytes(bytes(least))} on its fullest stage.`;
  return issue('NOTHING_FITS', 'layout', what, 'Use more or larger devices, a smaller batch, or fewer fixed keys.');
}

/** One layout in full: defaults for the keys that `request` leaves out. Throws an InputError when it is not legal. */
export function showLayout(job: Job, request: LayoutRequest = job.layout, options: ShowOptions = {}): Shown {
  const { layout, issues } = completeLayout(request, job, splitCosts(job));
  if (issues.some((each) => each.severity === 'error')) throw new InputError(issues);
  const evaluator = createEvaluator(job);
  return showCandidate(evaluator, evaluateLayout(evaluator, layout), { ...options, issues });
}

export { type Bound, boundBook, boundOf } from './bound/index.ts';
export { compareShown, type Reason } from './compare.ts';
export { detailOf, type LayoutDetail } from './detail.ts';
export { createEvaluator, type Evaluation, type Evaluator, evaluateStep } from './evaluate/index.ts';
export { optionsOfEra, priceOptionsOf } from './price-options.ts';
export { type Candidate, evaluateLayout, type SearchOptions, type SearchResult, searchLayouts } from './search.ts';
export { showCandidate } from './show.ts';
export type { Shown, ShownStage, ShownTraffic, ShowOptions } from './show-types.ts';
export { splitCosts } from './split-costs.ts';
export { enoughMicroBatches, thresholds } from './thresholds.ts';
export { deviceMemory, type Verdict } from './verdict.ts';
