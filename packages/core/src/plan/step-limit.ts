/** @file How large a step may be to be shown operation by operation. */
import { type Issue, issue } from '../errors/index.ts';
import type { Layout } from '../layout/index.ts';
import type { Evaluator } from './evaluate/index.ts';

/** Layers times micro-batches that are written out to see a step in full, at most: some seconds of work. 128 layers
 * over 64 stages are a quarter of it. */
const MOST_PASSES = 65_536;

/** The refusal of a step that is larger than what is written out; undefined for all others. */
export function stepLimit(evaluator: Evaluator, layout: Layout): Issue | undefined {
  const { written, stride, extra } = evaluator.orderOf(layout);
  const microBatches = extra === 0 ? written : 2 * written + stride;
  const passes = evaluator.job.model.layers.length * microBatches;
  if (passes <= MOST_PASSES) return undefined;
  const message = `${evaluator.job.model.layers.length} layers times the ${microBatches} micro-batches that show how this step repeats are ${passes}, more than the ${MOST_PASSES} that are written out.`;
  const hint = 'Use fewer stages or chunks, or a smaller batch.';
  return issue('STEP_TOO_LARGE', 'layout.pipeline', message, hint, { passes, most: MOST_PASSES });
}
