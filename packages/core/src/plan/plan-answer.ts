/** @file From what a search found to an answer: its best layouts settled by the simulator, put in order, each in full, and
 * why the first is first. Piece by piece, so that who waits sees each as it comes.
 */
import { type Issue, issue } from '../errors/index.ts';
import type { Job } from '../job/index.ts';
import { bytes, formatBytes } from '../units/index.ts';
import { compareShown } from './compare.ts';
import { detailOf, type LayoutDetail } from './detail.ts';
import { layerIssue } from './layer-fit.ts';
import { peakRate } from './peak-rate.ts';
import type { Planned, PlanOptions } from './planned.ts';
import { type Candidate, type SearchOptions, type SearchResult, searchLayouts } from './search.ts';
import { type Settled, settleCandidate } from './settle-plans.ts';
import { shortSteps } from './short-steps.ts';
import { showCandidate } from './show.ts';
import type { Shown } from './show-types.ts';
import { amountsOf } from './sizes/amounts.ts';

/** What becomes known while a job is planned, in this order. */
export type PlanPiece =
  /** The best layouts, evaluated, best first. */
  | { readonly kind: 'found'; readonly found: SearchResult; readonly chosen: readonly Candidate[] }
  /** One of them simulated; all are, in the order of `chosen`, before the first is shown. */
  | { readonly kind: 'settled'; readonly candidate: Candidate; readonly settled: Settled }
  /** One of them in full, in the order of the answer. */
  | { readonly kind: 'shown'; readonly shown: Shown };

export const USUAL_TOP = 5;

/** Plans a job for time on its own cluster, like `planJob`, and tells what it knows on the way. Who stops asking stops it. */
export function* planPieces(
  job: Job,
  options: Pick<PlanOptions, 'top'> & Pick<SearchOptions, 'evaluator'> = {},
): Generator<PlanPiece, Planned> {
  const { top = USUAL_TOP, evaluator } = options;
  const found = searchLayouts(job, { top, ranking: 'time', ...(evaluator && { evaluator }) });
  return yield* answerPieces(job, found, { top });
}

type AnswerOptions = Pick<PlanOptions, 'top' | 'objective' | 'pricePerGpuHour'>;

/** The answer at once. */
export function answer(job: Job, found: SearchResult, options: AnswerOptions): Planned {
  const pieces = answerPieces(job, found, options);
  for (;;) {
    const { done, value } = pieces.next();
    if (done) return value;
  }
}

function* answerPieces(
  job: Job,
  found: SearchResult,
  { top = USUAL_TOP, objective = 'time', pricePerGpuHour }: AnswerOptions,
): Generator<PlanPiece, Planned> {
  const chosen = found.best.length > 0 ? found.best : found.atRisk.slice(0, top);
  yield { kind: 'found', found, chosen };
  const settled: (Settled & { readonly candidate: Candidate; readonly detail: LayoutDetail })[] = [];
  for (const candidate of chosen) {
    const steps = shortSteps(found.evaluator, candidate);
    const own = settleCandidate(found.evaluator, candidate, steps);
    yield { kind: 'settled', candidate, settled: own };
    const detail = detailOf(found.evaluator, candidate, (dtype) => peakRate(job, dtype), steps);
    settled.push({ candidate, detail, ...own });
  }
  // A stable order: what the simulator cannot tell apart stays as the evaluation has it.
  if (objective === 'time' && settled.every(({ simulatedSeconds }) => simulatedSeconds !== undefined)) {
    settled.sort((one, other) => (one.simulatedSeconds ?? 0) - (other.simulatedSeconds ?? 0));
  }
  const plans: Shown[] = [];
  for (const { candidate, detail } of settled) {
    const shown = showCandidate(found.evaluator, candidate, {}, detail);
    plans.push(shown);
    yield { kind: 'shown', shown };
  }
  const [first, second] = plans;
  return {
    schema: 'meshwright.plan/1',
    considered: found.considered,
    legal: found.legal,
    evaluated: found.evaluated,
    rejected: found.rejected,
    proven: found.proven,
    plans,
    settled: settled.map(({ evaluatedSeconds, simulatedSeconds }) => ({ evaluatedSeconds, simulatedSeconds })),
    explain: first && second ? compareShown(first, second) : [],
    objective,
    ...(first && { amounts: amountsOf(job, first.gpus, first.step.seconds, pricePerGpuHour) }),
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
