/** @file Which architectures are read from a Hugging Face `config.json`, how their keys are called, and what is missing
 * for the others. Key names and defaults are those of the configuration classes of transformers [hf-configs].
 */
import type { DimensionKey, ModelDimensions } from './dimensions.ts';

/** Keys of a family that hold dimensions; of several names the first is the usual one. */
type ConfigKeys = Readonly<Partial<Record<DimensionKey, readonly string[]>>>;

/** One architecture that is read. */
export interface Family {
  readonly kind: ModelDimensions['kind'];
  readonly keys: ConfigKeys;
  /** Dimensions that a file must state. */
  readonly required: readonly DimensionKey[];
  /** The documented defaults of the configuration class for keys that may be absent. */
  readonly defaults: Partial<ModelDimensions>;
  /** Defaults that are said in a note when they stand in; the others follow from the architecture. */
  readonly noted: readonly DimensionKey[];
  /** Keys whose presence changes the layers; a value other than these is refused, with what it means. */
  readonly refuses: readonly { readonly key: string; readonly unless: readonly unknown[]; readonly means: string }[];
}

const shared: ConfigKeys = {
  layers: ['num_hidden_layers'],
  hidden: ['hidden_size'],
  heads: ['num_attention_heads'],
  kvHeads: ['num_key_value_heads'],
  headSize: ['head_dim'],
  ffn: ['intermediate_size'],
  vocab: ['vocab_size'],
  positions: ['max_position_embeddings'],
  tied: ['tie_word_embeddings'],
  activation: ['hidden_act', 'hidden_activation'],
  theta: ['rope_theta'],
  epsilon: ['rms_norm_eps'],
};
const required: readonly DimensionKey[] = ['layers', 'hidden', 'heads', 'ffn', 'vocab'];
const noExperts = ['num_local_experts', 'num_experts', 'n_routed_experts'].map((key) => ({
  key,
  unless: [0, 1],
  means: 'experts',
}));
const perLayer = [{ key: 'block_configs', unless: [], means: 'layers that differ from each other' }];
const plain = { tied: false, activation: 'silu', qkvBias: false, outBias: false, mlpBias: false } as const;

/** Architectures that are read, by the stem of the class name in lower case. */
export const families: Readonly<Record<string, Family>> = {
  llama: {
    kind: 'llama',
    keys: { ...shared, qkvBias: ['attention_bias'], outBias: ['attention_bias'], mlpBias: ['mlp_bias'] },
    required,
    defaults: { ...plain, positions: 2048, theta: 10_000, epsilon: 1e-6 },
    noted: ['positions'],
    refuses: [...noExperts, ...perLayer],
  },
  mistral: {
    kind: 'llama',
    keys: { ...shared, slidingWindow: ['sliding_window', 'sliding_window_size'] },
    required,
    defaults: { ...plain, kvHeads: 8, positions: 131_072, theta: 10_000, epsilon: 1e-6, slidingWindow: 4096 },
    noted: ['kvHeads', 'positions'],
    refuses: [...noExperts, ...perLayer],
  },
  qwen2: {
    kind: 'llama',
    keys: shared,
    required,
    defaults: { ...plain, qkvBias: true, kvHeads: 32, positions: 32_768, theta: 10_000, epsilon: 1e-6 },
    noted: ['kvHeads', 'positions'],
    refuses: [
      ...noExperts,
      ...perLayer,
      { key: 'use_sliding_window', unless: [false], means: 'windows of attention in some layers' },
    ],
  },
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
  gpt2: {
    kind: 'gpt2',
    keys: {
      layers: ['n_layer', 'num_hidden_layers'],
      hidden: ['n_embd', 'hidden_size'],
      heads: ['n_head', 'num_attention_heads'],
      ffn: ['n_inner'],
      vocab: ['vocab_size'],
      positions: ['n_positions', 'n_ctx', 'max_position_embeddings'],
      tied: ['tie_word_embeddings'],
      activation: ['activation_function'],
      epsilon: ['layer_norm_epsilon'],
    },
    required: ['layers', 'hidden', 'heads'],
    defaults: { vocab: 50_257, positions: 1024, tied: true, activation: 'gelu-tanh', epsilon: 1e-5 },
    noted: ['vocab', 'positions'],
    refuses: [
      { key: 'add_cross_attention', unless: [false], means: 'cross attention' },
      ...noExperts,
      { key: 'num_key_value_heads', unless: [], means: 'shared key and value heads' },
      { key: 'head_dim', unless: [], means: 'a head size of its own' },
    ],
  },
};

/** What is missing for architectures that are known but not modelled, by the stem of the class name in lower case. */
export const missingParts: Readonly<Record<string, string>> = {
  baichuan: 'one fused tensor for queries, keys and values under another name, and ALiBi positions in the larger model',
  bloom: 'ALiBi positions and a norm after the embedding',
  chatglm: 'two-dimensional rotary positions and fused tensors',
  cohere: 'attention and feed-forward side by side, and scaled logits',
  decilm: 'layers that differ from each other (block_configs)',
  deepseek: 'shared experts and leading dense layers',
  deepseekv2: 'latent attention (MLA) and shared experts',
  deepseekv3: 'latent attention (MLA), shared experts and multi-token prediction',
  deepseekv32: 'latent attention (MLA) with sparse selection, shared experts and multi-token prediction',
  falcon: 'attention and feed-forward side by side',
  gemma: 'scaled embeddings and norms with an offset',
  gemma2: 'norms after each part, capped scores and alternating windows of attention',
  gemma3: 'norms on queries and keys, norms after each part and alternating windows of attention',
  glmmoedsa: 'latent attention with sparse selection and shared experts',
  gptbigcode: 'one key and value head for all query heads in a GPT-2 block',
  gptj: 'attention and feed-forward side by side, and partly rotary positions',
  gptneox: 'attention and feed-forward side by side, and partly rotary positions',
  gptoss: 'attention sinks, experts with biases and alternating windows of attention',
  internlm: 'biases under a key of its own',
  internlm2: 'one fused tensor for queries, keys and values in another order',
  llama4: 'a vision tower, chunked attention and shared experts',
  mimo: 'multi-token prediction',
  minicpm: 'scaled embeddings, residuals and logits',
  minimaxm2: 'norms on queries and keys, and routing by sigmoid',
  ministral3: 'a vision tower and scaled rotary positions',
  mistral3: 'a vision tower',
  mpt: 'ALiBi positions and clipped queries, keys and values',
  nemotronh: 'state space layers (Mamba)',
  olmo2: 'norms after each part, and norms on queries and keys',
  opt: 'learned positions with an offset in a block of its own',
  phi: 'attention and feed-forward side by side, and partly rotary positions',
  phi3: 'fused tensors for queries, keys and values and for gate and up',
  phi3v: 'a vision tower and fused tensors',
  qwen: 'fused tensors under other names, and a feed-forward width counted twice',
  qwen2moe: 'shared experts',
  qwen3: 'norms on queries and keys',
  qwen3moe: 'norms on queries and keys, and experts with a width of their own',
  qwen3next: 'linear attention',
  qwen3vl: 'a vision tower, and norms on queries and keys',
  qwen3vlmoe: 'a vision tower, norms on queries and keys, and experts with a width of their own',
  rw: 'attention and feed-forward side by side',
};
