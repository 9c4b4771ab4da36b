/** Small jobs and the layouts that they must give the same result under. */
import { clusterFromRequest } from '@meshwright/core/cluster';
import { compileProgram } from '@meshwright/core/compile';
import { createJob, type Job } from '@meshwright/core/job';
import type { Layout } from '@meshwright/core/layout';
import { defaultOrder } from '@meshwright/core/mesh';
import { type ModelDimensions, modelFromConfig, modelFromDimensions } from '@meshwright/core/model';
import type { Program } from '@meshwright/core/program';

const gpt2: ModelDimensions = { kind: 'gpt2', layers: 4, hidden: 16, heads: 4, ffn: 32, vocab: 26, positions: 8 };
const llama: ModelDimensions = { kind: 'llama', layers: 4, hidden: 16, heads: 4, kvHeads: 2, ffn: 24, vocab: 26 };
const moe: ModelDimensions = { ...llama, kind: 'mixtral', layers: 2, experts: 4, topK: 2 };

export const models = { gpt2, llama, moe } as const;

const sizes = {
  num_hidden_layers: 4,
  hidden_size: 16,
  num_attention_heads: 4,
  num_key_value_heads: 2,
  intermediate_size: 24,
  vocab_size: 26,
  max_position_embeddings: 64,
};

/** One small model for each way in which blocks differ from Llama's. */
export const families = {
  'norms on queries and keys': { ...sizes, model_type: 'qwen3', head_dim: 8 },
  'norms on queries and keys, experts': {
    ...sizes,
    model_type: 'qwen3_moe',
    head_dim: 8,
    num_experts: 4,
    num_experts_per_tok: 2,
    moe_intermediate_size: 24,
    norm_topk_prob: true,
  },
  'norms behind, scaled embedding': { ...sizes, model_type: 'gemma3_text', head_dim: 8, sliding_window: null },
  'side by side with two norms': { ...sizes, model_type: 'gpt_neox', rotary_pct: 0.5 },
  'side by side with one norm, biases': { ...sizes, model_type: 'phi' },
  'side by side with one norm, layer norms without bias': { ...sizes, model_type: 'cohere', logit_scale: 2 },
  'scaled branches and logits': { ...sizes, model_type: 'granite', residual_multiplier: 0.5, logits_scaling: 0.5 },
  'norms behind only, and over all heads': { ...sizes, model_type: 'olmo2' },
  'capped scores and logits': {
    ...sizes,
    model_type: 'gemma2',
    head_dim: 8,
    attn_logit_softcapping: 1,
    final_logit_softcapping: 2,
    sliding_window: null,
  },
  'a window': { ...sizes, model_type: 'mistral', sliding_window: 5 },
  'fused tensors': { ...sizes, model_type: 'phi3' },
} as const;

export type ModelName = keyof typeof models | keyof typeof families;
const isFamily = (name: ModelName): name is keyof typeof families => Object.hasOwn(families, name);

/** 8 sequences of 8 tokens. */
export function smallJob(
  model: ModelName,
  changes: Partial<Pick<Job, 'precision' | 'optimizer' | 'kernels'>> = {},
): Job {
  const { cluster } = clusterFromRequest('1x dgx-h100', 'cluster');
  const read = isFamily(model)
    ? modelFromConfig(families[model], { name: model }).model
    : modelFromDimensions(models[model], 'model').model;
  if (!cluster || !read) throw new Error('internal: the fixture is broken.');
  const batch = { sequences: 8, length: 8 };
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
  bucketMB: 25,
  gradientType: 'fp32',
  gradientReduction: 'per-step',
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
