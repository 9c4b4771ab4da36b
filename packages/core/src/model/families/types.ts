import type { Mapping } from '../../errors/fields/index.ts';
import type { ModelShape, ShapeKey } from '../shape.ts';
import type { ModelKind } from '../types.ts';

/** Keys of a family that hold dimensions; of several names the first is the usual one. */
export type ConfigKeys = Readonly<Partial<Record<ShapeKey, readonly string[]>>>;

/** A key whose presence changes the layers; a value other than these is refused, with what it means. */
export interface Refusal {
  readonly key: string;
  readonly unless: readonly unknown[];
  readonly means: string;
}

/** One architecture that is read. */
export interface Family {
  readonly kind: ModelKind;
  readonly keys: ConfigKeys;
  /** Dimensions that a file must state. */
  readonly required: readonly ShapeKey[];
  /** The documented defaults of the configuration class for keys that may be absent. */
  readonly defaults: Partial<ModelShape>;
  /** Defaults that are said in a note when they stand in; the others follow from the architecture. */
  readonly noted: readonly ShapeKey[];
  readonly refuses: readonly Refusal[];
  /** Other values of `model_type` that name this architecture, as stems. */
  readonly types?: readonly string[];
  /** Ending of the class where it is not ForCausalLM. */
  readonly classEnding?: 'Model' | 'ForConditionalGeneration';
  /** The language model stands under `text_config`; the rest of the model is left out, with a note. */
  readonly nested?: true;
  /** Parts that are not counted, in words. */
  readonly leavesOut?: string;
  /** What a flag or a list of the file makes of the shape that was read. */
  readonly adjust?: (shape: ModelShape, config: Mapping) => Partial<ModelShape>;
}

export const shared: ConfigKeys = {
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

/** Keys that Falcon, GPT-2, BLOOM and their like share. */
export const sharedGpt: ConfigKeys = {
  layers: ['n_layer', 'num_hidden_layers'],
  hidden: ['n_embd', 'hidden_size', 'n_embed'],
  heads: ['n_head', 'num_attention_heads'],
  ffn: ['n_inner'],
  vocab: ['vocab_size'],
  positions: ['n_positions', 'n_ctx', 'max_position_embeddings', 'seq_length'],
  tied: ['tie_word_embeddings'],
  activation: ['activation_function'],
  epsilon: ['layer_norm_epsilon'],
};

export const required: readonly ShapeKey[] = ['layers', 'hidden', 'heads', 'ffn', 'vocab'];

/** Dimensions that a file must state where the width of the feed-forward follows from that of the model. */
export const requiredGpt: readonly ShapeKey[] = ['layers', 'hidden', 'heads', 'vocab'];

export const noExperts: readonly Refusal[] = ['num_local_experts', 'num_experts', 'n_routed_experts'].map((key) => ({
  key,
  unless: [0, 1],
  means: 'experts',
}));

export const perLayer: readonly Refusal[] = [
  { key: 'block_configs', unless: [], means: 'layers that differ from each other' },
];

export const plain = { tied: false, activation: 'silu', qkvBias: false, outBias: false, mlpBias: false } as const;

/** A flag of the file; undefined when it is absent or no flag. */
export const flag = (config: Mapping, key: string): boolean | undefined => {
  const value = config[key];
  return typeof value === 'boolean' ? value : undefined;
};

/** A finite number of the file; undefined when it is absent or no number. */
export const numberOf = (config: Mapping, key: string): number | undefined => {
  const value = config[key];
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
};

/** Layers that look back at all tokens, where the file lists the kind of each. */
export function fullLayersOf(config: Mapping): Partial<ModelShape> {
  const types = config['layer_types'];
  if (!Array.isArray(types)) return {};
  return { fullLayers: types.flatMap((type, index) => (type === 'full_attention' ? [index] : [])) };
}

/** Windows of Qwen: on by a flag, from a layer on. */
export function qwenWindow(_shape: ModelShape, config: Mapping): Partial<ModelShape> {
  if (flag(config, 'use_sliding_window') !== true) return {};
  const [slidingWindow, windowFrom] = [numberOf(config, 'sliding_window'), numberOf(config, 'max_window_layers')];
  if (slidingWindow === undefined) return {};
  return { slidingWindow, ...(windowFrom !== undefined && { windowFrom }), ...fullLayersOf(config) };
}
