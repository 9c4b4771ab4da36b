/** @file Architectures in the manner of GPT-2 and Megatron: how their keys are called. */
import { type Family, flag, noExperts, numberOf, plain, required, requiredGpt, shared, sharedGpt } from './types.ts';

const falcon: Family = {
  kind: 'falcon',
  keys: {
    ...sharedGpt,
    layers: ['num_hidden_layers', 'n_layer'],
    hidden: ['hidden_size'],
    heads: ['num_attention_heads', 'n_head'],
    kvHeads: ['num_kv_heads', 'n_head_kv'],
    ffn: ['ffn_hidden_size'],
    positions: ['max_position_embeddings'],
    theta: ['rope_theta'],
    activation: ['activation'],
    qkvBias: ['bias'],
    outBias: ['bias'],
    mlpBias: ['bias'],
  },
  required: requiredGpt,
  types: ['refinedweb', 'refinedwebmodel'],
  defaults: { kvHeads: 1, positions: 2048, theta: 10_000 },
  noted: ['kvHeads', 'positions'],
  refuses: [{ key: 'num_ln_in_parallel_attn', unless: [2], means: 'one norm in the newer block' }],
  adjust: (shape, config) => {
    const stated = numberOf(config, 'num_kv_heads') ?? numberOf(config, 'n_head_kv');
    // The 40B file of the older class states its key and value heads in place of the flag.
    const newer = flag(config, 'new_decoder_architecture') ?? numberOf(config, 'n_head_kv') !== undefined;
    const kvHeads = newer ? (stated ?? shape.heads) : flag(config, 'multi_query') === false ? shape.heads : 1;
    const alibi = flag(config, 'alibi') === true ? ({ positionKind: 'alibi' } as const) : {};
    if (newer) return { kind: 'falcon-two-norms', kvHeads, ...alibi };
    return { placement: flag(config, 'parallel_attn') === false ? 'pre' : 'parallel-shared', kvHeads, ...alibi };
  },
};

const noSharedHeads = [
  { key: 'num_key_value_heads', unless: [], means: 'shared key and value heads' },
  { key: 'head_dim', unless: [], means: 'a head size of its own' },
];

/** Architectures with names in the manner of GPT-2 or Megatron, by the stem of the class. */
export const gptLikeFamilies: Readonly<Record<string, Family>> = {
  gpt2: {
    kind: 'gpt2',
    keys: {
      ...sharedGpt,
      hidden: ['n_embd', 'hidden_size'],
      positions: ['n_positions', 'n_ctx', 'max_position_embeddings'],
    },
    required: ['layers', 'hidden', 'heads'],
    defaults: { vocab: 50_257, positions: 1024, tied: true, activation: 'gelu-tanh', epsilon: 1e-5 },
    noted: ['vocab', 'positions'],
    refuses: [
      { key: 'add_cross_attention', unless: [false], means: 'cross attention' },
      ...noExperts,
      ...noSharedHeads,
    ],
  },
  gptbigcode: {
    kind: 'gpt-bigcode',
    keys: sharedGpt,
    required: requiredGpt,
    defaults: { positions: 1024, tied: true, activation: 'gelu-tanh', epsilon: 1e-5 },
    noted: ['positions'],
    refuses: [{ key: 'add_cross_attention', unless: [false], means: 'cross attention' }, ...noExperts],
    adjust: (shape, config) => (flag(config, 'multi_query') === false ? { kvHeads: shape.heads } : {}),
  },
  gptj: {
    kind: 'gpt-j',
    keys: { ...sharedGpt, rotarySize: ['rotary_dim'] },
    required: requiredGpt,
    defaults: { positions: 2048, tied: false, rotarySize: 64, epsilon: 1e-5 },
    noted: ['positions'],
    refuses: noExperts,
  },
  gptneox: {
    kind: 'gpt-neox',
    keys: {
      ...shared,
      epsilon: ['layer_norm_eps'],
      theta: ['rotary_emb_base', 'rope_theta'],
      rotaryFraction: ['rotary_pct', 'partial_rotary_factor'],
      qkvBias: ['attention_bias'],
      outBias: ['attention_bias'],
    },
    required,
    defaults: { positions: 2048, tied: false, rotaryFraction: 0.25, theta: 10_000, epsilon: 1e-5 },
    noted: ['positions'],
    refuses: noExperts,
    adjust: (_shape, config) => (flag(config, 'use_parallel_residual') === false ? { placement: 'pre' } : {}),
  },
  phi: {
    kind: 'phi',
    keys: {
      layers: ['num_hidden_layers', 'n_layer'],
      hidden: ['hidden_size', 'n_embd'],
      heads: ['num_attention_heads', 'n_head'],
      kvHeads: ['num_key_value_heads', 'n_head_kv'],
      ffn: ['intermediate_size', 'n_inner'],
      vocab: ['vocab_size'],
      positions: ['max_position_embeddings', 'n_positions'],
      tied: ['tie_word_embeddings'],
      activation: ['hidden_act', 'activation_function'],
      epsilon: ['layer_norm_eps', 'layer_norm_epsilon'],
      theta: ['rope_theta'],
      rotarySize: ['rotary_dim'],
      rotaryFraction: ['partial_rotary_factor'],
    },
    required: requiredGpt,
    types: ['phimsft'],
    defaults: { positions: 2048, tied: false, theta: 10_000, epsilon: 1e-5 },
    noted: ['positions'],
    refuses: [{ key: 'qk_layernorm', unless: [false], means: 'norms on queries and keys' }, ...noExperts],
  },
  bloom: {
    kind: 'bloom',
    keys: { ...sharedGpt, hidden: ['hidden_size', 'n_embed'], heads: ['n_head', 'num_attention_heads'] },
    required: requiredGpt,
    defaults: { positions: 2048, tied: true, epsilon: 1e-5 },
    noted: ['positions'],
    refuses: noExperts,
  },
  falcon,
  rw: falcon,
  chatglm: {
    kind: 'chatglm',
    keys: {
      layers: ['num_layers', 'num_hidden_layers'],
      hidden: ['hidden_size'],
      heads: ['num_attention_heads'],
      kvHeads: ['multi_query_group_num'],
      headSize: ['kv_channels'],
      ffn: ['ffn_hidden_size'],
      vocab: ['padded_vocab_size', 'vocab_size'],
      positions: ['seq_length'],
      tied: ['tie_word_embeddings'],
      qkvBias: ['add_qkv_bias'],
      outBias: ['add_bias_linear'],
      mlpBias: ['add_bias_linear'],
      epsilon: ['layernorm_epsilon'],
    },
    required,
    classEnding: 'Model',
    defaults: { tied: false, positions: 2048, epsilon: 1e-5 },
    noted: ['positions'],
    refuses: [
      { key: 'rmsnorm', unless: [true], means: 'layer norms' },
      { key: 'post_layer_norm', unless: [true], means: 'no norm before the head' },
      { key: 'apply_residual_connection_post_layernorm', unless: [false], means: 'residuals behind the norms' },
    ],
    adjust: (shape, config) => (flag(config, 'multi_query_attention') === true ? {} : { kvHeads: shape.heads }),
  },
  qwen: {
    kind: 'qwen',
    keys: {
      ...shared,
      headSize: ['kv_channels'],
      positions: ['max_position_embeddings', 'seq_length'],
      theta: ['rotary_emb_base', 'rope_theta'],
      epsilon: ['layer_norm_epsilon'],
    },
    required,
    defaults: { ...plain, qkvBias: true, positions: 8192, theta: 10_000, epsilon: 1e-6 },
    noted: ['positions'],
    refuses: [{ key: 'no_bias', unless: [true], means: 'biases in every product' }, ...noExperts],
    // The file counts gate and up together.
    adjust: (shape) => ({ ffn: (shape.ffn ?? 0) / 2 }),
  },
};
