/** Small jobs and the layouts that they must give the same result under. */
import { clusterFromRequest } from '@meshwright/core/cluster';
import { compileProgram } from '@meshwright/core/compile';
import { createJob, type Job } from '@meshwright/core/job';
import type { Layout } from '@meshwright/core/layout';
import { defaultOrder } from '@meshwright/core/mesh';
import { type ModelDimensions, modelFromConfig, modelFromDimensions } from '@meshwright/core/model';
import type { Program } from '@meshwright/core/program';
import { families } from './families.fixture.ts';

const gpt2: ModelDimensions = { kind: 'gpt2', layers: 4, hidden: 16, heads: 4, ffn: 32, vocab: 26, positions: 8 };
const llama: ModelDimensions = { kind: 'llama', layers: 4, hidden: 16, heads: 4, kvHeads: 2, ffn: 24, vocab: 26 };
const wide: ModelDimensions = { ...gpt2, layers: 5, vocab: 28, positions: 16 };
const moe: ModelDimensions = { ...llama, kind: 'mixtral', layers: 2, experts: 4, topK: 2 };

export const models = { gpt2, wide, llama, moe } as const;

export type ModelName = keyof typeof models | keyof typeof families;
const isFamily = (name: ModelName): name is keyof typeof families => Object.hasOwn(families, name);

/** 8 sequences, of 8 tokens unless told otherwise. */
export function smallJob(
  model: ModelName,
  changes: Partial<Pick<Job, 'precision' | 'optimizer' | 'kernels' | 'workload'>> = {},
  length = 8,
): Job {
  const { cluster } = clusterFromRequest('1x dgx-h100', 'cluster');
  const read = isFamily(model)
    ? modelFromConfig(families[model], { name: model }).model
    : modelFromDimensions(models[model], 'model').model;
  if (!cluster || !read) throw new Error('internal: the fixture is broken.');
  const batch = { sequences: 8, length };
  return createJob({ name: model, model: read, cluster, batch, precision: 'fp32', ...changes });
}

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
  layersPerStage: [4],
  schedule: 'none',
  recompute: 'none',
  sequenceParallel: false,
  keepGathered: false,
  order: defaultOrder,
};

/** A layout of `alone` with changes; stages get an equal share of the layers unless told otherwise. */
export function layoutOf(job: Job, changes: Partial<Layout> = {}): Layout {
  const { pipeline = 1, chunks = 1, sharding = 0 } = changes;
  const positions = pipeline * chunks;
  const layersPerStage = Array.from({ length: positions }, () => job.model.layers.length / positions);
  const schedule = pipeline === 1 ? 'none' : chunks > 1 ? 'interleaved-1f1b' : '1f1b';
  const gradientReduction = sharding >= 2 ? 'per-micro-batch' : 'per-step';
  return { ...alone, expertTensor: changes.tensor ?? 1, layersPerStage, schedule, gradientReduction, ...changes };
}

export const programOf = (job: Job, changes: Partial<Layout> = {}): Program =>
  compileProgram(job, layoutOf(job, changes));
