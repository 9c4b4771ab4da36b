/** @file Plans: the best layouts of a job, each in full, and why the first one is first. */
import { InputError } from '../errors/index.ts';
import type { Job } from '../job/index.ts';
import { completeLayout, type LayoutRequest } from '../layout/index.ts';
import { createEvaluator } from './evaluate/index.ts';
import { evaluateLayout } from './search.ts';
import { showCandidate } from './show.ts';
import type { Shown, ShowOptions } from './show-types.ts';
import { splitCosts } from './split-costs.ts';
import { stepLimit } from './step-limit.ts';

/** One layout in full: defaults for the keys that `request` leaves out. Throws an InputError when it is not legal, or its
 * step larger than what is written out. */
export function showLayout(job: Job, request: LayoutRequest = job.layout, options: ShowOptions = {}): Shown {
  const { layout, issues } = completeLayout(request, job, splitCosts(job));
  if (issues.some((each) => each.severity === 'error')) throw new InputError(issues);
  const evaluator = createEvaluator(job);
  const tooLarge = stepLimit(evaluator, layout);
  if (tooLarge) throw new InputError([...issues, tooLarge]);
  return showCandidate(evaluator, evaluateLayout(evaluator, layout), { ...options, issues });
}

export { type Bound, boundBook, boundOf } from './bound/index.ts';
export { compareShown, partWords, type Reason } from './compare.ts';
export { detailOf, type LayoutDetail } from './detail.ts';
export {
  createEvaluator,
  createPricing,
  type Evaluation,
  type Evaluator,
  evaluateStep,
  evaluatorOf,
  type Pricing,
  pricingOfSequences,
} from './evaluate/index.ts';
export {
  bestInterval,
  type FailureOptions,
  type Failures,
  type FailureTimes,
  failureAssumptions,
  failuresOf,
  type Interrupted,
  type LostAt,
  type LostTime,
  lostCurve,
  lostTime,
} from './failures.ts';
export { type OrderException, type OrderedStep, type OrderSearch, searchOrders } from './orders.ts';
export { peakRate } from './peak-rate.ts';
export { type PlanPiece, planPieces } from './plan-answer.ts';
export { planJob, sizedJob } from './plan-job.ts';
export { type Objective, objectives, type Planned, type PlanOptions } from './planned.ts';
export { optionsOfEra, priceOptionsOf } from './price-options.ts';
export { type RecipeName, type RecipePlan, recipeNames } from './recipe/index.ts';
export { type Candidate, evaluateLayout, type SearchOptions, type SearchResult, searchLayouts } from './search.ts';
export { type SettledStep, type SettleOptions, settleLayout } from './settle.ts';
export { type Settled, settleCandidate } from './settle-plans.ts';
export { showCandidate } from './show.ts';
export type { Shown, ShownStage, ShownTraffic, ShowOptions } from './show-types.ts';
export { type Amounts } from './sizes/amounts.ts';
export { jobOnGpus, type PlannedSize } from './sizes/size.ts';
export { exposedSeconds, sweepSizes } from './sizes/sweep.ts';
export type { Knee, ScalingCurve, Sweep, SweepGap, SweepPoint, SweepRange } from './sizes/sweep-types.ts';
export { type WorkloadSize } from './sizes/workloads.ts';
export { splitCosts } from './split-costs.ts';
export type { StorageNeeds } from './storage-needs.ts';
export { enoughMicroBatches, thresholds } from './thresholds.ts';
export type { TierBytes } from './traffic-tiers.ts';
export { deviceMemory, type Verdict, verdictOf } from './verdict.ts';
