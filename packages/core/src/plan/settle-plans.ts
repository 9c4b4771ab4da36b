/** @file Settles the best layouts of a search with the simulator: seconds of a step on shared links.
 *
 * A step repeats itself once its pipeline is full, so two short programs, one round of the steady state apart, say what a round
 * takes on shared links; what the others take follows. What that adds to operations alone is added to the evaluation, which
 * stays a lower bound.
 */
import { type FaultyNetwork, slowDownOf } from '../cost/index.ts';
import type { Layout } from '../layout/index.ts';
import { operationCount, simulateShared } from '../sim/index.ts';
import type { Evaluator } from './evaluate/index.ts';
import type { Candidate } from './search.ts';
import { MOST_OPERATIONS, type ShortStep, type ShortSteps, shortSteps } from './short-steps.ts';

/** What settling says of one layout. */
export interface Settled {
  /** Seconds of a step with every operation alone: the evaluation. */
  readonly evaluatedSeconds: number;
  /** On shared links, with mutual slow-down; undefined where even a short step is too large to be simulated here. */
  readonly simulatedSeconds: number | undefined;
}

/** Settles one candidate. `steps` may be given where others ask for short steps of its layout. */
export function settleCandidate(
  evaluator: Evaluator,
  candidate: Candidate,
  steps: ShortSteps = shortSteps(evaluator, candidate),
): Settled {
  const { layout, evaluation } = candidate;
  const { all, stride, fewest } = steps;
  const [exact = fewest] = steps.counts();
  const count = Math.min(exact, fewest);
  const rounds = (all - count) / stride;
  const longest = rounds > 0 ? count + stride : count;
  // The longer step decides: what is not extrapolated from is not simulated.
  if (operationCount(steps.of(longest).program) > MOST_OPERATIONS) {
    return { evaluatedSeconds: evaluation.seconds, simulatedSeconds: undefined };
  }
  const near = addedSeconds(evaluator, layout, steps.of(count), steps.network);
  const next = rounds > 0 ? addedSeconds(evaluator, layout, steps.of(longest), steps.network) : near;
  const added = Math.max(0, near + rounds * (next - near));
  return { evaluatedSeconds: evaluation.seconds, simulatedSeconds: evaluation.seconds + added };
}

/** What sharing and slow-down add to a short step. */
function addedSeconds(
  evaluator: Evaluator,
  layout: Layout,
  { program, alone }: ShortStep,
  network: FaultyNetwork,
): number {
  const lists = alone.lists.map(({ expanded }) => expanded);
  const slowDown = slowDownOf(evaluator.job.cluster);
  const shared = simulateShared(program, { prices: evaluator.pricesOf(layout), network, slowDown }, lists, alone);
  return shared.seconds - alone.seconds;
}
