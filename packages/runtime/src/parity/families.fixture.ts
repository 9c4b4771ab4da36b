/** Small models through the configurations that state them, one for each way in which blocks differ from Llama's. */
const sizes = {
  num_hidden_layers: 4,
  hidden_size: 16,
  num_attention_heads: 4,
  num_key_value_heads: 2,
  intermediate_size: 24,
  vocab_size: 26,
  max_position_embeddings: 64,
};

const pattern = { sliding_window_pattern: 2 };
const qwenExperts = { num_experts: 4, num_experts_per_tok: 2, moe_intermediate_size: 8, norm_topk_prob: true };
const latent = { kv_lora_rank: 8, qk_nope_head_dim: 4, qk_rope_head_dim: 2, v_head_dim: 6 };
const deepseekExperts = { n_routed_experts: 4, num_experts_per_tok: 2, moe_intermediate_size: 8 };

/** One small model for each way in which blocks differ from Llama's. */
export const families = {
  'norms on queries and keys': { ...sizes, model_type: 'qwen3', head_dim: 8 },
  'norms on queries and keys, experts': {
    ...sizes,
    model_type: 'qwen3_moe',
    head_dim: 8,
    num_experts: 4,
    num_experts_per_tok: 2,
    moe_intermediate_size: 24,
    norm_topk_prob: true,
  },
  'tied experts': {
    ...{ ...sizes, ...qwenExperts, model_type: 'qwen3_moe', head_dim: 8, moe_intermediate_size: 24 },
    tie_word_embeddings: true,
  },
  'norms behind, scaled embedding': { ...sizes, model_type: 'gemma3_text', head_dim: 8, sliding_window: null },
  'side by side with two norms': { ...sizes, model_type: 'gpt_neox', rotary_pct: 0.5 },
  'side by side with one norm, biases': { ...sizes, model_type: 'phi' },
  'side by side with one norm, layer norms without bias': { ...sizes, model_type: 'cohere', logit_scale: 2 },
  'scaled branches and logits': { ...sizes, model_type: 'granite', residual_multiplier: 0.5, logits_scaling: 0.5 },
  'norms behind only, and over all heads': { ...sizes, model_type: 'olmo2' },
  'capped scores and logits': {
    ...sizes,
    model_type: 'gemma2',
    head_dim: 8,
    attn_logit_softcapping: 1,
    final_logit_softcapping: 2,
    sliding_window: null,
  },
  'a window': { ...sizes, model_type: 'mistral', sliding_window: 5 },
  'fused tensors': { ...sizes, model_type: 'phi3' },
  'windows in every other layer': { ...sizes, model_type: 'gemma3_text', head_dim: 8, sliding_window: 3, ...pattern },
  'experts in every other layer': { ...sizes, ...qwenExperts, model_type: 'qwen3_moe', decoder_sparse_step: 2 },
  'a gated shared expert, parts of a softmax over all': {
    ...{ ...sizes, ...qwenExperts, model_type: 'qwen2_moe', norm_topk_prob: false },
    shared_expert_intermediate_size: 16,
  },
  'shared experts, corrected choice in groups by sigmoid': {
    ...{ ...sizes, ...deepseekExperts, model_type: 'deepseek', n_shared_experts: 2, first_k_dense_replace: 1 },
    ...{ scoring_func: 'sigmoid', topk_method: 'noaux_tc', norm_topk_prob: true, routed_scaling_factor: 2.5 },
    ...{ n_group: 2, topk_group: 1 },
  },
  'latent attention, queries from the hidden state': {
    ...{ ...sizes, ...latent, ...deepseekExperts, model_type: 'deepseek_v2', first_k_dense_replace: 1 },
    ...{ scoring_func: 'softmax', norm_topk_prob: false, q_lora_rank: null },
  },
  'latent attention, narrow queries with biases': {
    ...{ ...sizes, ...latent, ...deepseekExperts, model_type: 'deepseek_v3', first_k_dense_replace: 1 },
    ...{ q_lora_rank: 10, attention_bias: true, scoring_func: 'sigmoid', norm_topk_prob: true, n_shared_experts: 1 },
    tie_word_embeddings: true,
  },
  'biases of experts and router, sinks, clamped gates': {
    ...{ ...sizes, model_type: 'gpt_oss', head_dim: 4, attention_bias: true, sliding_window: 3 },
    ...{ num_local_experts: 4, num_experts_per_tok: 2, layer_types: ['sliding_attention', 'full_attention'] },
  },
  'scaled branches of experts': {
    ...{ ...sizes, model_type: 'granitemoe', residual_multiplier: 0.5, logits_scaling: 0.5 },
    ...{ num_local_experts: 4, num_experts_per_tok: 2 },
  },
  'chunks, weighed inputs of one expert': {
    model_type: 'llama4',
    text_config: {
      ...{ ...sizes, head_dim: 4, attention_chunk_size: 3, num_local_experts: 4, num_experts_per_tok: 1 },
      ...{ intermediate_size_mlp: 24, interleave_moe_layer_step: 2 },
    },
  },
  'linear biases, a norm behind the embedding': { ...sizes, model_type: 'bloom', n_embed: 16, n_layer: 4, n_head: 4 },
  'a norm for each head': { ...sizes, model_type: 'cohere', use_qk_norm: true, logit_scale: 2 },
} as const;
