/** @file What the balanced split weighs: seconds of a layer, of the embedding and of the head with its loss. */
import type { Job } from '../job/index.ts';
import { completeLayout, equalCosts, type SplitCosts } from '../layout/index.ts';
import { createEvaluator } from './evaluate/index.ts';

/** Seconds of one micro-batch of one sequence on one device, without exchanges. One set of costs for all layouts of a
 * job, so that equal stage counts are split alike whatever else differs.
 */
export function splitCosts(job: Job): SplitCosts {
  const layers = job.model.layers.length;
  const request = { tensor: 1, pipeline: 1, microBatch: 1, recompute: 'none' as const };
  const { layout } = completeLayout(request, job, equalCosts(layers));
  const { calls } = createEvaluator(job).blocksOf(layout);
  const both = (forward: keyof typeof calls, backward: keyof typeof calls): number =>
    calls[forward].computeSeconds + calls[backward].computeSeconds;
  const layer = both('layerForward', 'layerBackward');
  return {
    layers: Array.from({ length: layers }, () => layer),
    embed: both('embedForward', 'embedBackward'),
    head: both('headForward', 'headBackward'),
  };
}
