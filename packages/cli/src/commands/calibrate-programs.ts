/** @file Programs whose kernels, on several shapes, stand for what small models do on a machine. */
import { clusterFromRequest } from '@meshwright/core/cluster';
import { compileProgram } from '@meshwright/core/compile';
import { createJob, type Job } from '@meshwright/core/job';
import { completeLayout, type Layout } from '@meshwright/core/layout';
import { type ModelDimensions, type ModelSpec, modelFromConfig, modelFromDimensions } from '@meshwright/core/model';
import { splitCosts } from '@meshwright/core/plan';
import type { Program } from '@meshwright/core/program';

interface Probe {
  readonly model: ModelSpec;
  readonly length: number;
  readonly microBatch: number;
  readonly optimizer: Job['optimizer'];
  readonly kernels?: Partial<Job['kernels']>;
  /** Ranks, and how they share: rows of an expert grid and blocks of context ranks need two. */
  readonly ranks?: number;
  readonly layout?: Partial<Layout>;
}

const built = (dimensions: ModelDimensions): ModelSpec => {
  const { model, issues } = modelFromDimensions(dimensions, 'model');
  if (!model) throw new Error(`internal: ${issues[0]?.message}`);
  return model;
};
const gpt = (hidden: number, heads: number): ModelSpec =>
  built({ kind: 'gpt2', layers: 2, hidden, heads, ffn: 4 * hidden, vocab: 256, positions: 256 });
const llamaOf = (hidden: number, heads: number): ModelDimensions => ({
  ...{ kind: 'llama', layers: 2, hidden, heads, kvHeads: heads / 2, ffn: 2 * hidden, vocab: 512 },
});
const llama = (hidden: number, heads: number): ModelSpec => built(llamaOf(hidden, heads));
const mixtral = (hidden: number): ModelSpec =>
  built({ ...llamaOf(hidden, 4), kind: 'mixtral', ffn: hidden, experts: 4, topK: 2 });

/** Latent attention, as DeepSeek V2's configuration states it, and experts with shared ones. */
function latent(hidden: number): ModelSpec {
  const config = {
    ...{ model_type: 'deepseek_v2', num_hidden_layers: 2, hidden_size: hidden, vocab_size: 256 },
    ...{ num_attention_heads: 4, num_key_value_heads: 4, max_position_embeddings: 256 },
    ...{ intermediate_size: 2 * hidden, first_k_dense_replace: 1, moe_intermediate_size: hidden },
    ...{
      n_routed_experts: 4,
      num_experts_per_tok: 2,
      n_shared_experts: 1,
      scoring_func: 'softmax',
      norm_topk_prob: false,
    },
    ...{ kv_lora_rank: hidden / 2, q_lora_rank: null, qk_nope_head_dim: hidden / 4, v_head_dim: hidden / 4 },
    qk_rope_head_dim: hidden / 8,
  };
  const { model, issues } = modelFromConfig(config, { name: 'latent' });
  if (!model) throw new Error(`internal: ${issues[0]?.message}`);
  return model;
}

const grid = { ranks: 2, layout: { data: 2, expert: 2 } } as const;
const ring = { ranks: 2, layout: { context: 2 } } as const;
const unfused = { attention: 'unfused', dropout: 0.1 } as const;

const probes: readonly Probe[] = [
  { model: gpt(48, 4), length: 32, microBatch: 1, optimizer: 'adamw' },
  { model: gpt(96, 4), length: 64, microBatch: 2, optimizer: 'sgd' },
  { model: gpt(160, 4), length: 64, microBatch: 4, optimizer: 'adamw' },
  { model: gpt(288, 8), length: 128, microBatch: 2, optimizer: 'adamw' },
  { model: gpt(512, 8), length: 128, microBatch: 1, optimizer: 'sgd' },
  { model: gpt(64, 4), length: 32, microBatch: 1, optimizer: 'sgd', kernels: unfused },
  { model: gpt(128, 4), length: 128, microBatch: 1, optimizer: 'sgd', kernels: unfused },
  { model: gpt(64, 4), length: 64, microBatch: 1, optimizer: 'sgd', ...ring },
  { model: gpt(192, 4), length: 128, microBatch: 1, optimizer: 'sgd', ...ring },
  { model: llama(64, 4), length: 64, microBatch: 1, optimizer: 'adamw' },
  { model: llama(128, 4), length: 128, microBatch: 1, optimizer: 'sgd' },
  { model: llama(256, 8), length: 256, microBatch: 1, optimizer: 'adamw' },
  { model: mixtral(64), length: 64, microBatch: 1, optimizer: 'sgd' },
  { model: mixtral(128), length: 128, microBatch: 1, optimizer: 'adamw' },
  { model: mixtral(64), length: 64, microBatch: 1, optimizer: 'sgd', ...grid },
  { model: mixtral(128), length: 128, microBatch: 1, optimizer: 'sgd', ...grid },
  { model: latent(64), length: 64, microBatch: 1, optimizer: 'sgd' },
  { model: latent(128), length: 128, microBatch: 1, optimizer: 'sgd' },
];

/** Two micro-batches for each data rank, in fp32. */
export const calibrationPrograms = (): readonly Program[] => probes.map(programOf);

function programOf({ model, length, microBatch, optimizer, kernels, ranks = 1, layout = {} }: Probe): Program {
  const { cluster, issues } = clusterFromRequest({ preset: 'dgx-h100', nodes: 1, gpusPerNode: ranks }, 'cluster');
  if (!cluster) throw new Error(`internal: ${issues[0]?.message}`);
  const batch = { sequences: 2 * microBatch * (layout.data ?? 1), length };
  const job = createJob({
    ...{ name: `${model.kind} of width ${model.hidden}`, model, cluster, batch, optimizer, precision: 'fp32' },
    ...(kernels && { kernels }),
  });
  return compileProgram(job, completeLayout({ ...layout, microBatch }, job, splitCosts(job)).layout);
}
