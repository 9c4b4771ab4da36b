import { describe, expect, it } from 'vitest';
import { createCluster } from '../cluster/index.ts';
import { createJob, type Job } from '../job/index.ts';
import { checkLayout, type Layout, normalizeLayout } from '../layout/index.ts';
import { modelFromConfig } from '../model/index.ts';
import { verifyProgram } from '../program/index.ts';
import { blockContext, blockTemplates, compileProgram } from './index.ts';
import { sizesByLaw } from './laws/index.ts';
import { parameterCounts } from './parameters.ts';
import { toyLayout } from './toy.fixture.ts';

const sizes = {
  num_hidden_layers: 4,
  hidden_size: 16,
  num_attention_heads: 4,
  num_key_value_heads: 2,
  intermediate_size: 24,
  vocab_size: 32,
  max_position_embeddings: 64,
};
const kinds = [
  'qwen3',
  'gemma3_text',
  'gpt_neox',
  'phi',
  'falcon',
  'cohere',
  'granite',
  'stablelm',
  'starcoder2',
  'gemma2',
  'qwen3_moe',
  'qwen2_moe',
  'deepseek',
  'gpt_oss',
  'granitemoe',
  'llama4',
  'bloom',
  'deepseek_v2',
  'deepseek_v3',
] as const;
const experts = { num_experts: 4, num_local_experts: 4, n_routed_experts: 4, num_experts_per_tok: 2 };
const deepseek = {
  ...{ ...experts, moe_intermediate_size: 8, first_k_dense_replace: 1 },
  ...{ scoring_func: 'sigmoid', topk_method: 'noaux_tc', norm_topk_prob: true, n_group: 2, topk_group: 1 },
};
const latent = { kv_lora_rank: 8, qk_nope_head_dim: 4, qk_rope_head_dim: 2, v_head_dim: 6 };
/** What tells a type's configuration apart beside its sizes. */
const more: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  falcon: { new_decoder_architecture: true },
  gemma2: { sliding_window: 3 },
  qwen3_moe: {
    ...{ ...experts, moe_intermediate_size: 8, norm_topk_prob: true },
    mlp_only_layers: [0],
  },
  qwen2_moe: { ...experts, moe_intermediate_size: 8, shared_expert_intermediate_size: 16 },
  deepseek: { ...deepseek, n_shared_experts: 2 },
  gpt_oss: { ...experts, head_dim: 4, attention_bias: true, sliding_window: 3 },
  granitemoe: { ...experts, residual_multiplier: 0.5 },
  llama4: {
    ...{ ...experts, num_experts_per_tok: 1, head_dim: 4, attention_chunk_size: 3 },
    ...{ intermediate_size_mlp: 24, interleave_moe_layer_step: 2 },
  },
  deepseek_v2: { ...deepseek, ...latent, scoring_func: 'softmax' },
  deepseek_v3: { ...deepseek, ...latent, q_lora_rank: 12, n_shared_experts: 2, attention_bias: true },
  bloom: { n_embed: 16, n_layer: 4, n_head: 4 },
};

function jobOf(type: string, more: Readonly<Record<string, unknown>> = {}): Job {
  const own = { ...sizes, model_type: type, sliding_window: null, num_kv_heads: 2, ...more };
  const config = type === 'llama4' ? { model_type: type, text_config: own } : own;
  const { model, issues } = modelFromConfig(config, { name: type });
  if (!model) throw new Error(issues.map(({ message }) => message).join(' '));
  return createJob({ model, cluster: createCluster('dgx-h100', 1), batch: { sequences: 8, length: 8 } });
}

const base: Partial<Layout> = { layersPerStage: [2, 2] };
const layouts: readonly Partial<Layout>[] = [
  { ...base },
  { ...base, sharding: 3, gradientReduction: 'per-micro-batch', keepGathered: true },
  { ...base, sequenceParallel: false, sharding: 2, gradientReduction: 'per-micro-batch' },
  { ...base, recompute: 'full' },
  { ...base, recompute: 'selective', keepGathered: true },
  { tensor: 1, sequenceParallel: false, pipeline: 1, schedule: 'none', layersPerStage: [4], data: 1, sharding: 0 },
];

/** Experts over a grid of their own. */
const grids: readonly Partial<Layout>[] = [
  { ...base, tensor: 2, data: 4, expert: 2, expertTensor: 2, sharding: 1 },
  { ...base, tensor: 2, data: 4, expert: 4, expertTensor: 1, sharding: 3, gradientReduction: 'per-micro-batch' },
  { ...base, tensor: 1, sequenceParallel: false, data: 4, expert: 2, expertTensor: 2, recompute: 'full' },
];

/** Exchanges over tensor of one layer, by direction. */
function exchangesOf(job: Job): string {
  const { templates } = blockTemplates(blockContext(job, toyLayout(base)));
  const count = (name: string): string =>
    templates
      .filter((template) => template.name === name)
      .flatMap(({ operations }) => operations)
      .flatMap((each) => (each.kind === 'collective' ? [each.collective === 'all-gather' ? 'g' : 's'] : []))
      .join('');
  return `${count('F.layer')} ${count('B.layer')}`;
}

describe('blocks that differ from those of Llama', () => {
  it.each(kinds)('%s: programs of every layout are sound', (kind) => {
    const job = jobOf(kind, more[kind]);
    for (const changes of layouts) {
      expect(verifyProgram(compileProgram(job, toyLayout(changes)))).toEqual([]);
    }
  });
  it.each(kinds.filter((kind) => more[kind]?.['num_experts'] !== undefined))(
    '%s: programs with experts over a grid of their own are sound',
    (kind) => {
      const job = jobOf(kind, more[kind]);
      for (const changes of grids) {
        expect(verifyProgram(compileProgram(job, normalizeLayout(job, toyLayout(changes))))).toEqual([]);
      }
    },
  );
  it.each(kinds)('%s: parameters of a rank are those of the law', (kind) => {
    const { model } = jobOf(kind, more[kind]);
    for (const tensor of [1, 2]) {
      for (const sequenceParallel of [false, true]) {
        const layout = { tensor, sequenceParallel: sequenceParallel && tensor > 1 };
        expect(parameterCounts(model, layout)).toEqual(sizesByLaw(model, layout));
      }
    }
  });
  it('side by side, the sum of both branches is scattered once; two norms gather and scatter twice', () => {
    expect(exchangesOf(jobOf('stablelm'))).toBe('gsgs ggsggs');
    expect(exchangesOf(jobOf('phi'))).toBe('gs ggs');
    expect(exchangesOf(jobOf('gpt_neox'))).toBe('ggs gggss');
  });
  it('norms behind only, over all heads: sound without tensor parallelism, which is refused by name', () => {
    const job = jobOf('olmo2');
    const alone = { tensor: 1, sequenceParallel: false };
    for (const changes of [...layouts.map((each) => ({ ...each, ...alone }))]) {
      expect(verifyProgram(compileProgram(job, toyLayout(changes)))).toEqual([]);
    }
    const codes = checkLayout(job, toyLayout(base)).map(({ code }) => code);
    expect(codes).toContain('QUERY_KEY_NORM_NOT_SPLIT');
    expect(parameterCounts(job.model, alone)).toEqual(sizesByLaw(job.model, alone));
  });
  it('norms of queries and keys keep what they were, and nothing of the values', () => {
    const { buffers } = blockTemplates(blockContext(jobOf('qwen3', { head_dim: 8 }), toyLayout(base)));
    const size = (name: string) => buffers.find((buffer) => buffer.name === name)?.dims.map((dim) => dim.size);
    expect(size('qkv')).toEqual([8, 2, 64]);
    expect(size('qkr')).toEqual([8, 2, 48]);
    expect(size('stq')).toEqual([6, 8, 2]);
  });
  it('a window shortens attention where sequences are longer, layer by layer', () => {
    const windowsOf = (more: object, type = 'mistral') => {
      const { templates } = blockTemplates(blockContext(jobOf(type, { ...more }), toyLayout(base)));
      return templates.flatMap(({ name, operations }) =>
        operations.flatMap((each) =>
          each.kind === 'compute' && each.kernel === 'attention' ? [[name, each.attributes?.['window']]] : [],
        ),
      );
    };
    expect(windowsOf({ sliding_window: 3 })).toEqual([['F.layer', 3]]);
    expect(windowsOf({ sliding_window: 8 })).toEqual([['F.layer', undefined]]);
    const gemma = { head_dim: 8, sliding_window_pattern: 2 };
    expect(windowsOf({ sliding_window: 3, ...gemma }, 'gemma3_text')).toEqual([
      ['F.layer.window', 3],
      ['F.layer.full', undefined],
    ]);
    expect(windowsOf({ sliding_window: 8, ...gemma }, 'gemma3_text')).toEqual([['F.layer', undefined]]);
  });
  it('dropout beside a parallel block is refused', () => {
    const { model, cluster } = jobOf('phi');
    const batch = { sequences: 8, length: 8 };
    expect(() => createJob({ model, cluster, batch, kernels: { dropout: 0.1 } })).toThrow(/side by side/);
  });
});
