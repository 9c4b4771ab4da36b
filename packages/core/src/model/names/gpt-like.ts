/** @file Names of tensors in the manner of GPT-2 and of its descendants: `transformer.h.0.attn.c_attn`. */
import { llama } from './llama-like.ts';
import type { GptLike, HfNames } from './types.ts';

const gpt2: HfNames = {
  ...llama,
  embed: 'transformer.wte',
  positions: 'transformer.wpe',
  layer: 'transformer.h',
  beforeAttention: 'ln_1',
  beforeFfn: 'ln_2',
  qkv: ['attn.c_attn'],
  out: 'attn.c_proj',
  in: ['mlp.c_fc'],
  down: 'mlp.c_proj',
  final: 'transformer.ln_f',
};

/** Megatron's words: BLOOM, Falcon, ChatGLM. */
const megatron: HfNames = {
  ...llama,
  embed: 'transformer.word_embeddings',
  embeddingNorm: 'transformer.word_embeddings_layernorm',
  layer: 'transformer.h',
  qkv: ['self_attention.query_key_value'],
  out: 'self_attention.dense',
  in: ['mlp.dense_h_to_4h'],
  down: 'mlp.dense_4h_to_h',
  final: 'transformer.ln_f',
};

/** Names of architectures that follow GPT-2 or Megatron, and of those that follow nobody. */
export const gptLike: Readonly<Record<GptLike, HfNames>> = {
  gpt2: { ...gpt2, transposed: true },
  'gpt-bigcode': gpt2,
  'gpt-j': {
    ...gpt2,
    qkv: ['attn.q_proj', 'attn.k_proj', 'attn.v_proj'],
    out: 'attn.out_proj',
    in: ['mlp.fc_in'],
    down: 'mlp.fc_out',
  },
  'gpt-neox': {
    ...megatron,
    embed: 'gpt_neox.embed_in',
    layer: 'gpt_neox.layers',
    qkv: ['attention.query_key_value'],
    out: 'attention.dense',
    final: 'gpt_neox.final_layer_norm',
    head: 'embed_out',
  },
  bloom: megatron,
  falcon: megatron,
  'falcon-two-norms': { ...megatron, beforeAttention: 'ln_attn', beforeFfn: 'ln_mlp' },
  chatglm: {
    ...megatron,
    embed: 'transformer.embedding.word_embeddings',
    layer: 'transformer.encoder.layers',
    final: 'transformer.encoder.final_layernorm',
    head: 'transformer.output_layer',
  },
  /** The gate is `w2`: silu(w2 x) * w1 x. */
  qwen: { ...gpt2, in: ['mlp.w2', 'mlp.w1'] },
  phi: {
    ...llama,
    out: 'self_attn.dense',
    in: ['mlp.fc1'],
    down: 'mlp.fc2',
    final: 'model.final_layernorm',
  },
  internlm2: {
    ...llama,
    embed: 'model.tok_embeddings',
    beforeAttention: 'attention_norm',
    beforeFfn: 'ffn_norm',
    qkv: ['attention.wqkv'],
    out: 'attention.wo',
    in: ['feed_forward.w1', 'feed_forward.w3'],
    down: 'feed_forward.w2',
    head: 'output',
  },
};
