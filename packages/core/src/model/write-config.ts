/** @file The `config.json` of a model, for the libraries that read one beside its weights. */
import { ALL_LINEAR, adaptedParts } from './adapters.ts';
import { layerParametersOf } from './parameters/index.ts';
import { modelFromConfig } from './read-config.ts';
import type { AdapterSpec, ModelKind, ModelSpec } from './types.ts';

type Config = Readonly<Record<string, unknown>>;

/** The configuration of a model of GPT-2, Llama or Mixtral kind; undefined for others, and for models that no such
 * configuration states: what is written reads back as the very model. */
export function configOf(model: ModelSpec): Config | undefined {
  const config = writers[model.kind]?.(model);
  if (config === undefined) return undefined;
  const { model: again } = modelFromConfig(config, { name: model.name });
  // A configuration states the longest sequence where the model's own description left it open.
  return again !== undefined && same(stated(again), stated(model)) ? config : undefined;
}

const writers: Readonly<Partial<Record<ModelKind, (model: ModelSpec) => Config>>> = {
  gpt2: (model) => ({
    architectures: ['GPT2LMHeadModel'],
    model_type: 'gpt2',
    n_embd: model.hidden,
    n_layer: model.layers.length,
    n_head: model.layers[0]?.attention.heads,
    n_inner: model.layers[0]?.ffn.width,
    n_positions: model.maxLength,
    vocab_size: model.vocabulary,
    layer_norm_epsilon: model.normEpsilon,
    activation_function: 'gelu_new',
    tie_word_embeddings: model.tied,
    torch_dtype: 'float32',
  }),
  llama: (model) => ({ architectures: ['LlamaForCausalLM'], model_type: 'llama', ...llamaKeys(model) }),
  mixtral: (model) => {
    const ffn = model.layers[0]?.ffn;
    const experts = ffn?.kind === 'moe' ? { num_local_experts: ffn.experts, num_experts_per_tok: ffn.topK } : {};
    return { architectures: ['MixtralForCausalLM'], model_type: 'mixtral', ...llamaKeys(model), ...experts };
  },
};

function llamaKeys({ hidden, layers, vocabulary, maxLength, normEpsilon, tied }: ModelSpec): Config {
  const [first] = layers;
  return {
    hidden_size: hidden,
    num_hidden_layers: layers.length,
    num_attention_heads: first?.attention.heads,
    num_key_value_heads: first?.attention.kvHeads,
    head_dim: first?.attention.headSize,
    intermediate_size: first?.ffn.width,
    vocab_size: vocabulary,
    max_position_embeddings: maxLength,
    rms_norm_eps: normEpsilon,
    rope_theta: first?.attention.rotary?.theta,
    hidden_act: first?.ffn.activation,
    attention_bias: first?.attention.qkvBias === true,
    tie_word_embeddings: tied,
    torch_dtype: 'float32',
  };
}

/** The `adapter_config.json` of PEFT beside the adapters of a model; undefined for a model without any. Which base they are
 * for is left open. Source: [hu2021] in docs/sources.md. */
export function adapterConfigOf(model: ModelSpec): Config | undefined {
  const { adapters, kind } = model;
  if (adapters === undefined) return undefined;
  const { rank, alpha } = adapters;
  return {
    peft_type: 'LORA',
    task_type: 'CAUSAL_LM',
    base_model_name_or_path: null,
    r: rank,
    lora_alpha: alpha,
    lora_dropout: 0,
    bias: 'none',
    target_modules: targetModules(model, adapters),
    // Linear layers of GPT-2 are stored [in, out].
    fan_in_fan_out: kind === 'gpt2',
    inference_mode: true,
  };
}

/** Modules by name: releases of PEFT before 0.8 do not know what stands for every linear layer. */
function targetModules(model: ModelSpec, { targets }: AdapterSpec): readonly string[] {
  if (!targets.includes(ALL_LINEAR)) return targets;
  const modules = [...new Set(model.layers)].flatMap((layer) =>
    layerParametersOf(model, model.layers.indexOf(layer)).flatMap(
      (each) => adaptedParts(each, { targets })?.modules ?? [],
    ),
  );
  return [...new Set(modules.map((module) => module.slice(module.lastIndexOf('.') + 1)))];
}

/** What a configuration states; that of the base says nothing of adapters. */
const stated = ({
  lengthAssumed: _,
  adapters: _adapters,
  ...rest
}: ModelSpec): Omit<ModelSpec, 'lengthAssumed' | 'adapters'> => rest;

/** Equal values, key by key; an absent key is one that is undefined. */
function same(one: unknown, other: unknown): boolean {
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return one === other;
  const [a, b] = [one as Config, other as Config];
  return [...new Set([...Object.keys(a), ...Object.keys(b)])].every((key) => same(a[key], b[key]));
}
