/** @file Names of tensors in the Llama manner: `model.layers.0.self_attn.q_proj`. */
import type { ModelKind } from '../types.ts';
import type { ExpertNames, GptLike, HfNames, LatentNames } from './types.ts';

export const llama: HfNames = {
  embed: 'model.embed_tokens',
  layer: 'model.layers',
  beforeAttention: 'input_layernorm',
  afterAttention: 'post_attention_layernorm',
  beforeFfn: 'post_attention_layernorm',
  afterFfn: 'post_feedforward_layernorm',
  qkv: ['self_attn.q_proj', 'self_attn.k_proj', 'self_attn.v_proj'],
  out: 'self_attn.o_proj',
  queryNorm: 'self_attn.q_norm',
  keyNorm: 'self_attn.k_norm',
  in: ['mlp.gate_proj', 'mlp.up_proj'],
  down: 'mlp.down_proj',
  final: 'model.norm',
  head: 'lm_head',
};

/** The same names for the text part of a model that has others. */
const inside = (names: HfNames, root: string, head: string = names.head): HfNames => ({
  ...names,
  embed: names.embed.replace(/^model/, root),
  layer: names.layer.replace(/^model/, root),
  final: names.final.replace(/^model/, root),
  head,
});

/** Experts with the names of a dense feed-forward; `shared` is the module that every token passes. */
const experts = (shared: string): ExpertNames => ({
  router: 'mlp.gate',
  selectionBias: 'mlp.gate.e_score_correction_bias',
  prefix: 'mlp.experts',
  in: ['gate_proj', 'up_proj'],
  down: 'down_proj',
  shared: {
    in: [`mlp.${shared}.gate_proj`, `mlp.${shared}.up_proj`],
    down: `mlp.${shared}.down_proj`,
    gate: `mlp.${shared}_gate`,
  },
});

const mixtralExperts: ExpertNames = {
  router: 'block_sparse_moe.gate',
  selectionBias: 'block_sparse_moe.e_score_correction_bias',
  prefix: 'block_sparse_moe.experts',
  in: ['w1', 'w3'],
  down: 'w2',
};

const latent: LatentNames = {
  queryDown: 'self_attn.q_a_proj',
  queryDownNorm: 'self_attn.q_a_layernorm',
  queryUp: 'self_attn.q_b_proj',
  query: 'self_attn.q_proj',
  keyValueDown: 'self_attn.kv_a_proj_with_mqa',
  keyValueDownNorm: 'self_attn.kv_a_layernorm',
  keyValueUp: 'self_attn.kv_b_proj',
  indexer: 'self_attn.indexer',
};

const deepseekMtp = { norms: ['enorm', 'hnorm', 'shared_head.norm'], project: 'eh_proj' };
const qwen3: HfNames = { ...llama, experts: experts('shared_expert') };
const gemma2: HfNames = { ...llama, beforeFfn: 'pre_feedforward_layernorm' };

export type LlamaLike = Exclude<ModelKind, GptLike>;

/** Names of architectures that follow Llama. */
export const llamaLike: Readonly<Record<LlamaLike, HfNames>> = {
  llama,
  mixtral: { ...llama, experts: mixtralExperts },
  baichuan: { ...llama, qkv: ['self_attn.W_pack'] },
  cohere: llama,
  deepseek: { ...llama, latent, experts: experts('shared_experts'), mtp: deepseekMtp },
  gemma: llama,
  gemma2,
  gemma3: gemma2,
  'gemma3-vision': inside(gemma2, 'language_model.model'),
  'glm4-moe': { ...llama, experts: experts('shared_experts'), mtp: deepseekMtp },
  'gpt-oss': {
    ...llama,
    sinks: 'self_attn.sinks',
    experts: {
      router: 'mlp.router',
      prefix: 'mlp.experts',
      in: ['gate_up_proj'],
      down: 'down_proj',
      stacked: 'in-out',
    },
  },
  'granite-moe': {
    ...llama,
    experts: {
      router: 'block_sparse_moe.router.layer',
      prefix: 'block_sparse_moe',
      in: ['input_linear'],
      down: 'output_linear',
      stacked: 'out-in',
      shared: { in: ['shared_mlp.input_linear'], down: 'shared_mlp.output_linear', gate: '' },
    },
  },
  llama4: {
    ...inside(llama, 'language_model.model', 'language_model.lm_head'),
    in: ['feed_forward.gate_proj', 'feed_forward.up_proj'],
    down: 'feed_forward.down_proj',
    experts: {
      router: 'feed_forward.router',
      prefix: 'feed_forward.experts',
      in: ['gate_up_proj'],
      down: 'down_proj',
      stacked: 'in-out',
      shared: {
        in: ['feed_forward.shared_expert.gate_proj', 'feed_forward.shared_expert.up_proj'],
        down: 'feed_forward.shared_expert.down_proj',
        gate: '',
      },
    },
  },
  mimo: {
    ...llama,
    mtp: {
      prefix: 'model.mtp_layers',
      norms: ['token_layernorm', 'hidden_layernorm', 'final_layernorm'],
      project: 'input_proj',
    },
  },
  minicpm: {
    ...llama,
    experts: { router: 'mlp.gate', prefix: 'mlp.experts', in: ['w1', 'w3'], down: 'w2' },
  },
  'minimax-m2': { ...llama, experts: mixtralExperts },
  mistral3: inside(llama, 'language_model.model', 'language_model.lm_head'),
  olmo2: llama,
  phi3: { ...llama, qkv: ['self_attn.qkv_proj'], in: ['mlp.gate_up_proj'] },
  'qwen2-moe': { ...llama, experts: experts('shared_expert') },
  qwen3,
  'qwen3-vl': inside(qwen3, 'model.language_model'),
  stablelm: llama,
  starcoder2: { ...llama, in: ['mlp.c_fc'], down: 'mlp.c_proj' },
};
