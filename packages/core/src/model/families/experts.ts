/** @file Architectures with experts: how their keys are called. */
import type { Mapping } from '../../errors/fields/index.ts';
import type { ModelShape } from '../shape.ts';
import {
  type ConfigKeys,
  type Family,
  flag,
  fullLayersOf,
  numberOf,
  perLayer,
  plain,
  qwenWindow,
  required,
  shared,
} from './types.ts';

const biases: ConfigKeys = { qkvBias: ['attention_bias'], outBias: ['attention_bias'] };
const routed = [...required, 'experts', 'topK'] as const;

function denseLayersOf(config: Mapping): Partial<ModelShape> {
  const listed = config['mlp_only_layers'];
  return Array.isArray(listed) ? { denseLayers: listed.filter((each) => typeof each === 'number') } : {};
}

/** Weights that are not made to sum to one are parts of a softmax over all experts. */
const scoringOf = (config: Mapping): Partial<ModelShape> =>
  config['scoring_func'] === 'sigmoid'
    ? { scoring: 'sigmoid', normalized: flag(config, 'norm_topk_prob') === true }
    : flag(config, 'norm_topk_prob') === true
      ? {}
      : { scoring: 'softmax-all' };

const qwenExperts: ConfigKeys = {
  ...shared,
  experts: ['num_experts', 'num_local_experts'],
  topK: ['num_experts_per_tok'],
  expertFfn: ['moe_intermediate_size'],
  moeEvery: ['decoder_sparse_step'],
};

const qwen3moe: Family = {
  kind: 'qwen3',
  keys: { ...qwenExperts, ...biases },
  required: [...routed, 'expertFfn'],
  defaults: { ...plain, kvHeads: 4, positions: 32_768, theta: 10_000, epsilon: 1e-6 },
  noted: ['kvHeads', 'positions'],
  refuses: perLayer,
  adjust: (shape, config) => ({ ...qwenWindow(shape, config), ...denseLayersOf(config), ...scoringOf(config) }),
};

const deepseek: Family = {
  kind: 'deepseek',
  keys: {
    ...shared,
    ...biases,
    experts: ['n_routed_experts', 'num_routed_experts'],
    topK: ['num_experts_per_tok'],
    expertFfn: ['moe_intermediate_size'],
    sharedExperts: ['n_shared_experts', 'num_shared_experts'],
    denseFirst: ['first_k_dense_replace'],
    weightFactor: ['routed_scaling_factor'],
    expertGroups: ['n_group'],
    chosenGroups: ['topk_group'],
  },
  required: [...routed, 'expertFfn'],
  defaults: { ...plain, positions: 2048, theta: 10_000, epsilon: 1e-6 },
  noted: ['positions'],
  refuses: [{ key: 'moe_layer_freq', unless: [1], means: 'experts in some of the later layers' }],
  adjust: (_shape, config) => ({
    ...scoringOf(config),
    ...(config['topk_method'] === 'noaux_tc' && { selectionBias: true, groupTop: 2 }),
  }),
};

const latent: Family = {
  ...deepseek,
  keys: {
    ...deepseek.keys,
    queryRank: ['q_lora_rank'],
    keyValueRank: ['kv_lora_rank'],
    nopeSize: ['qk_nope_head_dim'],
    ropeSize: ['qk_rope_head_dim'],
    valueSize: ['v_head_dim'],
    mtp: ['num_nextn_predict_layers'],
  },
  required: [...deepseek.required, 'keyValueRank', 'nopeSize', 'ropeSize', 'valueSize'],
  types: ['kimik2'],
};

const sparse: Family = {
  ...latent,
  keys: { ...latent.keys, indexHeads: ['index_n_heads'], indexSize: ['index_head_dim'], indexTopK: ['index_topk'] },
  required: [...latent.required, 'indexHeads', 'indexSize', 'indexTopK'],
  types: [],
};

/** Scales of MiniCPM: of embeddings, of each branch by depth, of logits by width. */
function miniCpmScales({ layers, hidden }: ModelShape, config: Mapping): Partial<ModelShape> {
  const [depth, base] = [numberOf(config, 'scale_depth'), numberOf(config, 'dim_model_base')];
  return {
    ...(depth !== undefined && { residualScale: depth / Math.sqrt(layers) }),
    ...(base !== undefined && { logitScale: base / hidden }),
  };
}

const vision = 'the vision tower and its projection';

/** Architectures with routed experts, by the stem of the class. */
export const expertFamilies: Readonly<Record<string, Family>> = {
  mixtral: {
    kind: 'mixtral',
    keys: {
      ...shared,
      experts: ['num_local_experts', 'num_experts'],
      topK: ['num_experts_per_tok'],
      slidingWindow: ['sliding_window'],
    },
    required,
    defaults: { ...plain, kvHeads: 8, positions: 131_072, theta: 1_000_000, epsilon: 1e-5, experts: 8, topK: 2 },
    noted: ['kvHeads', 'positions', 'experts', 'topK'],
    refuses: perLayer,
  },
  qwen2moe: {
    ...qwen3moe,
    kind: 'qwen2-moe',
    keys: { ...qwenExperts, sharedFfn: ['shared_expert_intermediate_size'] },
    required: [...qwen3moe.required, 'sharedFfn'],
    defaults: { ...plain, qkvBias: true, kvHeads: 16, positions: 32_768, theta: 10_000, epsilon: 1e-6 },
  },
  qwen3moe,
  qwen3vlmoe: {
    ...qwen3moe,
    kind: 'qwen3-vl',
    types: ['qwen3vlmoetext'],
    classEnding: 'ForConditionalGeneration',
    nested: true,
    leavesOut: vision,
  },
  deepseek,
  deepseekv2: { ...latent, types: [] },
  deepseekv3: latent,
  deepseekv32: sparse,
  glmmoedsa: sparse,
  glm4moe: {
    ...deepseek,
    kind: 'glm4-moe',
    keys: {
      ...deepseek.keys,
      qkvBias: ['attention_bias'],
      outBias: [],
      rotaryFraction: ['partial_rotary_factor'],
      mtp: ['num_nextn_predict_layers'],
    },
    adjust: (_shape, config) => ({
      normalized: flag(config, 'norm_topk_prob') !== false,
      ...(flag(config, 'use_qk_norm') === true && { queryKeyNorm: 'head' as const }),
    }),
  },
  gptoss: {
    kind: 'gpt-oss',
    keys: {
      ...shared,
      ...biases,
      experts: ['num_local_experts', 'num_experts'],
      topK: ['num_experts_per_tok', 'experts_per_token'],
      slidingWindow: ['sliding_window'],
    },
    required: routed,
    defaults: {
      tied: false,
      kvHeads: 8,
      headSize: 64,
      positions: 131_072,
      theta: 150_000,
      epsilon: 1e-5,
      slidingWindow: 128,
      fullEvery: 2,
    },
    noted: ['kvHeads', 'headSize', 'positions'],
    refuses: perLayer,
    adjust: (_shape, config) => ({ activation: 'clamped-silu', ...fullLayersOf(config) }),
  },
  granitemoe: {
    kind: 'granite-moe',
    keys: {
      ...shared,
      ...biases,
      experts: ['num_local_experts'],
      topK: ['num_experts_per_tok'],
      embeddingScale: ['embedding_multiplier'],
      residualScale: ['residual_multiplier'],
    },
    required: routed,
    defaults: { ...plain, positions: 2048, theta: 10_000, epsilon: 1e-6 },
    noted: ['positions'],
    refuses: perLayer,
    adjust: (_shape, config) => ({ logitScale: 1 / (numberOf(config, 'logits_scaling') || 1) }),
  },
  llama4: {
    kind: 'llama4',
    keys: {
      ...shared,
      ...biases,
      ffn: ['intermediate_size_mlp'],
      expertFfn: ['intermediate_size'],
      experts: ['num_local_experts'],
      topK: ['num_experts_per_tok'],
      moeEvery: ['interleave_moe_layer_step'],
      slidingWindow: ['attention_chunk_size'],
    },
    required: [...routed, 'expertFfn'],
    classEnding: 'ForConditionalGeneration',
    nested: true,
    leavesOut: `${vision}, and norms of queries and keys without weights`,
    defaults: { ...plain, kvHeads: 8, positions: 131_072, theta: 500_000, epsilon: 1e-5 },
    noted: ['kvHeads', 'positions'],
    refuses: [{ key: 'moe_layers', unless: [], means: 'experts in listed layers' }],
  },
  minicpm: {
    kind: 'minicpm',
    keys: {
      ...shared,
      experts: ['num_experts'],
      topK: ['num_experts_per_tok'],
      embeddingScale: ['scale_emb'],
    },
    required,
    defaults: { ...plain, tied: true, positions: 2048, theta: 10_000, epsilon: 1e-6 },
    noted: ['tied', 'positions'],
    refuses: perLayer,
    adjust: miniCpmScales,
  },
  minimaxm2: {
    kind: 'minimax-m2',
    keys: {
      ...shared,
      experts: ['num_local_experts'],
      topK: ['num_experts_per_tok'],
      rotarySize: ['rotary_dim'],
      selectionBias: ['use_routing_bias'],
    },
    required: routed,
    defaults: { ...plain, positions: 196_608, theta: 5_000_000, epsilon: 1e-6 },
    noted: ['positions'],
    refuses: [
      { key: 'qk_norm_type', unless: ['per_layer'], means: 'norms on the queries and keys of each head' },
      { key: 'shared_intermediate_size', unless: [0], means: 'shared experts' },
      { key: 'use_qk_norm', unless: [true], means: 'queries and keys without norms' },
    ],
    leavesOut: 'the modules that predict further tokens',
  },
};
