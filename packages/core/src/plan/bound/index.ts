/** @file The first tier of evaluation: lower bounds on the time of a step and on the memory of its stages, in O(stages).
 * What they leave open is settled by the walk in `evaluate`, which never comes out below them.
 */
import { microBatches, optimizerTensors } from '../../compile/index.ts';
import type { Layout } from '../../layout/index.ts';
import type { Evaluator } from '../evaluate/index.ts';
import { stageLoads } from './load.ts';
import { peakBound } from './memory.ts';
import { secondsBound } from './time.ts';

export interface Bound {
  readonly seconds: number;
  /** Of the fullest stage. */
  readonly peakBytes: number;
  /** Weights, gradients and optimizer of that stage. */
  readonly residentBytes: number;
}

/** Lower bounds of a legal layout in normal form. */
export function boundOf(evaluator: Evaluator, layout: Layout): Bound {
  const { job } = evaluator;
  const counts = evaluator.countsOf(layout);
  const blocks = evaluator.blocksOf(layout);
  const prices = evaluator.pricesOf(layout);
  const input = {
    layout,
    counts,
    blocks,
    prices,
    microBatches: microBatches(job, layout),
    weightType: job.precision,
    optimizerTensors: optimizerTensors(job).length,
  };
  const loads = stageLoads(layout, counts, blocks, prices.launchExchange);
  return { seconds: secondsBound(input, loads), ...peakBound(input, loads) };
}
