/** @file The layouts of the golden programs: one for each idea, on toy models that can be followed by hand. */
import { clusterFromRequest } from '@meshwright/core/cluster';
import { createJob, type Job } from '@meshwright/core/job';
import type { Layout } from '@meshwright/core/layout';
import { defaultOrder } from '@meshwright/core/mesh';
import { modelFromDimensions } from '@meshwright/core/model';

const alone: Layout = {
  tensor: 1,
  pipeline: 1,
  data: 1,
  context: 1,
  contextKind: 'ring',
  expert: 1,
  expertTensor: 1,
  sharding: 0,
  prefetch: 1,
  reshard: true,
  replicate: 1,
  layers: [],
  offload: 'none',
  lossChunks: 1,
  bucketMB: 25,
  gradientType: 'fp32',
  gradientReduction: 'per-step',
  overlap: ['data', 'parameters', 'pipeline'],
  microBatch: 1,
  chunks: 1,
  layersPerStage: [2],
  schedule: 'none',
  recompute: 'none',
  sequenceParallel: false,
  keepGathered: false,
  order: defaultOrder,
};

/** GPT-2 kind: hidden 8, 2 heads, 4 positions, vocabulary 16; 4 sequences of 4 tokens. */
function toyJob(name: string, layers: number): Job {
  const { cluster } = clusterFromRequest('1x dgx-h100', 'cluster');
  const { model } = modelFromDimensions(
    { kind: 'gpt2', layers, hidden: 8, heads: 2, ffn: 32, vocab: 16, positions: 4 },
    'model',
  );
  if (!cluster || !model) throw new Error('internal: the toy job is broken.');
  return createJob({ name, model, cluster, batch: { sequences: 4, length: 4 } });
}

interface ToyLayout {
  readonly name: string;
  readonly job: Job;
  readonly layout: Layout;
}

const toy = (name: string, layers: number, changes: Partial<Layout>): ToyLayout => ({
  name,
  job: toyJob(name, layers),
  layout: { ...alone, layersPerStage: [layers], ...changes },
});

const stages = (changes: Partial<Layout>): Partial<Layout> => ({
  pipeline: 2,
  layersPerStage: [2, 2],
  schedule: '1f1b',
  ...changes,
});

/** Name of the golden file, job and layout. */
export const toyLayouts: readonly ToyLayout[] = [
  toy('ddp', 2, { data: 2 }),
  toy('zero-1', 2, { data: 2, sharding: 1 }),
  toy('zero-2', 2, { data: 2, sharding: 2, gradientReduction: 'per-micro-batch' }),
  toy('zero-3', 2, { data: 2, sharding: 3, gradientReduction: 'per-micro-batch' }),
  toy('tensor', 2, { tensor: 2 }),
  toy('tensor-sequence', 2, { tensor: 2, sequenceParallel: true }),
  toy('gpipe', 4, stages({ schedule: 'gpipe' })),
  toy('1f1b', 4, stages({})),
  toy('interleaved-1f1b', 4, stages({ schedule: 'interleaved-1f1b', chunks: 2, layersPerStage: [1, 1, 1, 1] })),
  toy('uneven-stages', 4, stages({ layersPerStage: [3, 1] })),
  toy('full-recompute', 2, { tensor: 2, sequenceParallel: true, recompute: 'full' }),
  toy('example-2x2x2-zero-1', 2, {
    tensor: 2,
    data: 2,
    sharding: 1,
    sequenceParallel: true,
    ...stages({ layersPerStage: [1, 1] }),
  }),
];
