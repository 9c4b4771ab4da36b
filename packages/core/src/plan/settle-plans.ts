/** @file Settles the best layouts of a search with the simulator: seconds of a step on shared links.
 *
 * A step repeats itself once its pipeline is full, so two short programs, one round of the steady state apart, say what a round
 * takes on shared links; what the others take follows. What that adds to operations alone is added to the evaluation, which
 * stays a lower bound.
 */
import { compileProgram } from '../compile/index.ts';
import { networkOf, slowDownOf } from '../cost/index.ts';
import type { Layout } from '../layout/index.ts';
import { operationCount, pricesOf, simulateProgram, simulateShared } from '../sim/index.ts';
import type { Evaluator } from './evaluate/index.ts';
import type { Candidate } from './search.ts';
import { shortenedJob } from './shortened.ts';

/** What settling says of one layout. */
export interface Settled {
  /** Seconds of a step with every operation alone: the evaluation. */
  readonly evaluatedSeconds: number;
  /** On shared links, with mutual slow-down; undefined where even a short step is too large to be simulated here. */
  readonly simulatedSeconds: number | undefined;
}

/** Operations of a short step that are simulated while people wait. */
const MOST_OPERATIONS = 300_000;

/** Settles one candidate. */
export function settleCandidate(evaluator: Evaluator, { layout, evaluation }: Candidate): Settled {
  const { written, stride, extra } = evaluator.orderOf(layout);
  const all = written + extra * stride;
  const count = Math.min(all, written);
  const near = addedSeconds(evaluator, layout, count);
  const next = near === undefined || count >= all ? near : addedSeconds(evaluator, layout, count + stride);
  if (near === undefined || next === undefined) {
    return { evaluatedSeconds: evaluation.seconds, simulatedSeconds: undefined };
  }
  const rounds = count >= all ? 0 : (all - count) / stride;
  const added = Math.max(0, near + rounds * (next - near));
  return { evaluatedSeconds: evaluation.seconds, simulatedSeconds: evaluation.seconds + added };
}

/** What sharing and slow-down add to a step of so many micro-batches. */
function addedSeconds(evaluator: Evaluator, layout: Layout, microBatches: number): number | undefined {
  const { job } = evaluator;
  const program = compileProgram(shortenedJob(job, layout, microBatches), layout);
  if (operationCount(program) > MOST_OPERATIONS) return undefined;
  const prices = evaluator.pricesOf(layout);
  const alone = simulateProgram(program, pricesOf(program, prices));
  const lists = alone.lists.map(({ expanded }) => expanded);
  const setting = { prices, network: networkOf(job.cluster), slowDown: slowDownOf(job.cluster) };
  const shared = simulateShared(program, setting, lists, alone);
  return shared.seconds - alone.seconds;
}
