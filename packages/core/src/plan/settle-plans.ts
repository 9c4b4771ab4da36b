/** @file Settles the best layouts of a search with the simulator: seconds of a step on shared links.
 *
 * A step repeats itself once its pipeline is full, so two short programs, one round of the steady state apart, say what a round
 * takes on shared links; what the others take follows. What that adds to operations alone is added to the evaluation, which
 * stays a lower bound.
 */
import { slowDownOf } from '../cost/index.ts';
import type { Layout } from '../layout/index.ts';
import { operationCount, simulateShared } from '../sim/index.ts';
import type { Evaluator } from './evaluate/index.ts';
import type { Candidate } from './search.ts';
import { type ShortSteps, shortSteps } from './short-steps.ts';

/** What settling says of one layout. */
export interface Settled {
  /** Seconds of a step with every operation alone: the evaluation. */
  readonly evaluatedSeconds: number;
  /** On shared links, with mutual slow-down; undefined where even a short step is too large to be simulated here. */
  readonly simulatedSeconds: number | undefined;
}

/** Operations of a short step that are simulated while people wait. */
const MOST_OPERATIONS = 300_000;

/** Settles one candidate. `steps` may be given where others ask for short steps of its layout. */
export function settleCandidate(
  evaluator: Evaluator,
  { layout, evaluation }: Candidate,
  steps: ShortSteps = shortSteps(evaluator, layout),
): Settled {
  const { written, stride, extra } = evaluator.orderOf(layout);
  const all = written + extra * stride;
  const count = Math.min(all, written);
  const near = addedSeconds(evaluator, layout, steps, count);
  const next = near === undefined || count >= all ? near : addedSeconds(evaluator, layout, steps, count + stride);
  if (near === undefined || next === undefined) {
    return { evaluatedSeconds: evaluation.seconds, simulatedSeconds: undefined };
  }
  const rounds = count >= all ? 0 : (all - count) / stride;
  const added = Math.max(0, near + rounds * (next - near));
  return { evaluatedSeconds: evaluation.seconds, simulatedSeconds: evaluation.seconds + added };
}

/** What sharing and slow-down add to a step of so many micro-batches. */
function addedSeconds(
  evaluator: Evaluator,
  layout: Layout,
  steps: ShortSteps,
  microBatches: number,
): number | undefined {
  const step = steps.of(microBatches);
  const { program } = step;
  if (operationCount(program) > MOST_OPERATIONS) return undefined;
  const { alone } = step;
  const lists = alone.lists.map(({ expanded }) => expanded);
  const slowDown = slowDownOf(evaluator.job.cluster);
  const setting = { prices: evaluator.pricesOf(layout), network: steps.network, slowDown };
  const shared = simulateShared(program, setting, lists, alone);
  return shared.seconds - alone.seconds;
}
