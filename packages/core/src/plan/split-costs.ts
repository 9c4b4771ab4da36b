/** @file What the balanced split weighs: seconds of a layer, of the embedding and of the head with its loss. */
import type { Job } from '../job/index.ts';
import { equalCosts, type SplitCosts, withDefaults } from '../layout/index.ts';
import { layerKinds } from '../model/index.ts';
import type { BlockPrice } from './blocks.ts';
import { createPricing } from './evaluate/pricing.ts';

/** Seconds of one micro-batch of one sequence on one device, without exchanges. One set of costs for all layouts of a
 * job, so that equal stage counts are split alike whatever else differs.
 */
export function splitCosts(job: Job): SplitCosts {
  const layers = job.model.layers.length;
  const pricing = createPricing(job);
  const request = { tensor: 1, pipeline: 1, microBatch: 1, recompute: 'none' as const };
  const layout = withDefaults(request, job, equalCosts(layers));
  const { ends, layers: kinds } = pricing.blocksOf(layout);
  const both = (forward: BlockPrice, backward: BlockPrice): number => forward.computeSeconds + backward.computeSeconds;
  const costs = kinds.map(({ forward, backward }) => both(forward, backward));
  return {
    layers: layerKinds(job.model, job.batch.length).kindOf.map((kind) => costs[kind] as number),
    embed: ends.embedForward.computeSeconds + (ends.embedBackward?.computeSeconds ?? 0),
    head: both(ends.headForward, ends.headBackward),
  };
}
