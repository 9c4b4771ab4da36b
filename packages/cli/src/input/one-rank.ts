/** @file The layout of one rank: what others are held against, and what writes samples. */
import type { Job } from '@meshwright/core/job';
import type { Layout } from '@meshwright/core/layout';

/** One rank, no sharding, nothing recomputed or held by the host, gradients accumulated over the same micro-batches. */
export const oneRankLayout = (job: Job, layout: Layout): Layout => ({
  ...layout,
  tensor: 1,
  pipeline: 1,
  data: 1,
  context: 1,
  expert: 1,
  expertTensor: 1,
  sharding: 0,
  replicate: 1,
  chunks: 1,
  layersPerStage: [job.model.layers.length],
  schedule: 'none',
  gradientReduction: 'per-step',
  recompute: 'none',
  layers: [],
  offload: 'none',
  sequenceParallel: false,
  keepGathered: false,
});
