/** @file Architectures in the Llama manner without experts: how their keys are called. */
import {
  type Family,
  flag,
  fullLayersOf,
  noExperts,
  numberOf,
  perLayer,
  plain,
  qwenWindow,
  required,
  shared,
} from './types.ts';

const qwen2: Family = {
  kind: 'llama',
  keys: shared,
  required,
  defaults: { ...plain, qkvBias: true, kvHeads: 32, positions: 32_768, theta: 10_000, epsilon: 1e-6 },
  noted: ['kvHeads', 'positions'],
  refuses: [...noExperts, ...perLayer],
  adjust: qwenWindow,
};

const qwen3: Family = {
  ...qwen2,
  kind: 'qwen3',
  keys: { ...shared, qkvBias: ['attention_bias'], outBias: ['attention_bias'] },
  defaults: { ...plain, kvHeads: 32, headSize: 128, positions: 32_768, theta: 10_000, epsilon: 1e-6 },
  noted: ['kvHeads', 'headSize', 'positions'],
};

const gemma: Family = {
  kind: 'gemma',
  keys: { ...shared, qkvBias: ['attention_bias'], outBias: ['attention_bias'], slidingWindow: ['sliding_window'] },
  required,
  defaults: { tied: true, kvHeads: 16, headSize: 256, positions: 8192, theta: 10_000, epsilon: 1e-6 },
  noted: ['kvHeads', 'headSize', 'positions'],
  refuses: noExperts,
  // Gemma's own code takes the tanh form whatever `hidden_act` says; `hidden_activation` is the newer key.
  adjust: () => ({ activation: 'gelu-tanh' }),
};

const gemma2: Family = {
  ...gemma,
  kind: 'gemma2',
  keys: { ...gemma.keys, scoreCap: ['attn_logit_softcapping'], logitCap: ['final_logit_softcapping'] },
  defaults: { ...gemma.defaults, kvHeads: 4, slidingWindow: 4096, fullEvery: 2 },
  adjust: (_shape, config) => ({ activation: 'gelu-tanh', ...fullLayersOf(config) }),
};

const gemma3: Family = {
  ...gemma2,
  kind: 'gemma3',
  types: ['gemma3text'],
  keys: { ...gemma2.keys, fullEvery: ['sliding_window_pattern', '_sliding_window_pattern'] },
  defaults: { ...gemma2.defaults, positions: 131_072, theta: 1_000_000, fullEvery: 6 },
};

const phi3: Family = {
  kind: 'phi3',
  keys: {
    ...shared,
    qkvBias: ['attention_bias'],
    outBias: ['attention_bias'],
    slidingWindow: ['sliding_window'],
    rotaryFraction: ['partial_rotary_factor'],
  },
  required,
  defaults: { ...plain, positions: 4096, theta: 10_000, epsilon: 1e-5 },
  noted: ['positions'],
  refuses: [
    ...noExperts,
    { key: 'mlp_bias', unless: [false], means: 'biases in the feed-forward' },
    { key: 'lm_head_bias', unless: [false], means: 'a bias of the output matrix' },
  ],
};

const internlm: Family = {
  kind: 'llama',
  keys: { ...shared, qkvBias: ['bias'], outBias: ['bias'] },
  required,
  defaults: { ...plain, qkvBias: true, outBias: true, positions: 2048, theta: 10_000, epsilon: 1e-6 },
  noted: ['positions'],
  refuses: noExperts,
};

const mistral: Family = {
  kind: 'llama',
  keys: { ...shared, slidingWindow: ['sliding_window', 'sliding_window_size'] },
  required,
  defaults: { ...plain, kvHeads: 8, positions: 131_072, theta: 10_000, epsilon: 1e-6, slidingWindow: 4096 },
  noted: ['kvHeads', 'positions'],
  refuses: [...noExperts, ...perLayer],
};

const vision = 'the vision tower and its projection';

/** Dense architectures with names in the Llama manner, by the stem of the class. */
export const llamaLikeFamilies: Readonly<Record<string, Family>> = {
  llama: {
    kind: 'llama',
    keys: { ...shared, qkvBias: ['attention_bias'], outBias: ['attention_bias'], mlpBias: ['mlp_bias'] },
    required,
    defaults: { ...plain, positions: 2048, theta: 10_000, epsilon: 1e-6 },
    noted: ['positions'],
    refuses: [...noExperts, ...perLayer],
  },
  mistral,
  mistral3: {
    ...mistral,
    kind: 'mistral3',
    types: ['ministral3'],
    classEnding: 'ForConditionalGeneration',
    nested: true,
    leavesOut: vision,
    defaults: { ...plain, kvHeads: 8, positions: 131_072, theta: 1_000_000, epsilon: 1e-5 },
  },
  qwen2,
  mimo: {
    ...qwen2,
    kind: 'mimo',
    keys: { ...shared, qkvBias: ['attention_bias'], mtp: ['num_nextn_predict_layers'] },
    defaults: { ...qwen2.defaults, mtp: 0 },
  },
  qwen3,
  qwen3vl: {
    ...qwen3,
    kind: 'qwen3-vl',
    types: ['qwen3vltext'],
    classEnding: 'ForConditionalGeneration',
    nested: true,
    leavesOut: vision,
  },
  gemma,
  gemma2,
  gemma3,
  gemma3conditional: {
    ...gemma3,
    kind: 'gemma3-vision',
    types: ['gemma3'],
    classEnding: 'ForConditionalGeneration',
    nested: true,
    leavesOut: vision,
  },
  phi3,
  phi3v: { ...phi3, leavesOut: vision },
  internlm,
  internlm2: { ...internlm, kind: 'internlm2', defaults: { ...internlm.defaults, kvHeads: 32 } },
  baichuan: {
    ...internlm,
    kind: 'baichuan',
    keys: { ...shared, positions: ['max_position_embeddings', 'model_max_length'] },
    defaults: { ...plain, positions: 4096, theta: 10_000, epsilon: 1e-6 },
    // The larger model has ALiBi in place of rotary positions, and so no table of them.
    adjust: (_shape, config) =>
      numberOf(config, 'max_position_embeddings') === undefined ? { positionKind: 'alibi' } : {},
  },
  olmo2: {
    kind: 'olmo2',
    keys: { ...shared, qkvBias: ['attention_bias'], outBias: ['attention_bias'] },
    required,
    defaults: { ...plain, positions: 2048, theta: 10_000, epsilon: 1e-5 },
    noted: ['positions'],
    refuses: noExperts,
  },
  stablelm: {
    kind: 'stablelm',
    keys: {
      ...shared,
      qkvBias: ['use_qkv_bias'],
      epsilon: ['layer_norm_eps', 'norm_eps'],
      rotaryFraction: ['partial_rotary_factor', 'rope_pct'],
    },
    required,
    types: ['stablelmepoch'],
    defaults: { ...plain, positions: 4096, theta: 10_000, epsilon: 1e-5, rotaryFraction: 0.25 },
    noted: ['positions'],
    refuses: [{ key: 'qk_layernorm', unless: [false], means: 'norms on the queries and keys of each head' }],
    adjust: (_shape, config) =>
      flag(config, 'use_parallel_residual') === true ? { placement: 'parallel-shared' } : {},
  },
  cohere: {
    kind: 'cohere',
    keys: {
      ...shared,
      qkvBias: ['attention_bias'],
      outBias: ['attention_bias'],
      epsilon: ['layer_norm_eps'],
      logitScale: ['logit_scale'],
    },
    required,
    defaults: { ...plain, tied: true, positions: 8192, theta: 10_000, epsilon: 1e-5, logitScale: 0.0625 },
    noted: ['positions'],
    refuses: noExperts,
    adjust: (_shape, config) => (flag(config, 'use_qk_norm') === true ? { queryKeyNorm: 'heads' } : {}),
  },
  granite: {
    kind: 'llama',
    keys: {
      ...shared,
      qkvBias: ['attention_bias'],
      outBias: ['attention_bias'],
      mlpBias: ['mlp_bias'],
      embeddingScale: ['embedding_multiplier'],
      residualScale: ['residual_multiplier'],
    },
    required,
    defaults: { ...plain, positions: 2048, theta: 10_000, epsilon: 1e-6 },
    noted: ['positions'],
    refuses: noExperts,
    adjust: (_shape, config) => ({ logitScale: 1 / (numberOf(config, 'logits_scaling') || 1) }),
  },
  starcoder2: {
    kind: 'starcoder2',
    keys: {
      ...shared,
      qkvBias: ['use_bias'],
      outBias: ['use_bias'],
      mlpBias: ['use_bias'],
      epsilon: ['norm_epsilon'],
      slidingWindow: ['sliding_window'],
    },
    required,
    defaults: { tied: true, kvHeads: 2, positions: 4096, theta: 10_000, epsilon: 1e-5 },
    noted: ['kvHeads', 'positions'],
    refuses: noExperts,
  },
};
