/** @file Small models whose layers are of several kinds, through the configurations that state them. */
import { modelFromConfig } from './index.ts';
import type { ModelSpec } from './types.ts';

export interface MixedSizes {
  readonly layers: number;
  readonly hidden: number;
  readonly heads: number;
  readonly kvHeads: number;
  readonly ffn: number;
  readonly vocab: number;
  readonly positions: number;
}

/** `windows`: every other layer looks back `positions / 2` tokens (Gemma 2); `experts`: every other layer has experts
 * (Qwen 3); `leading`: the first layer has none; `latent`: with latent attention besides (DeepSeek V3).
 */
export type Mixed = 'windows' | 'experts' | 'leading' | 'latent';

const kinds = {
  windows: ({ positions }: MixedSizes) => ({ model_type: 'gemma2', sliding_window: positions / 2 }),
  experts: (sizes: MixedSizes) => ({ ...routed(sizes), decoder_sparse_step: 2 }),
  leading: (sizes: MixedSizes) => ({ ...routed(sizes), mlp_only_layers: [0] }),
  latent: (sizes: MixedSizes) => ({
    ...{ ...routed(sizes), model_type: 'deepseek_v3', first_k_dense_replace: 1, n_routed_experts: 4 },
    ...{ scoring_func: 'sigmoid', n_shared_experts: 1, q_lora_rank: sizes.hidden / 2, kv_lora_rank: sizes.hidden / 4 },
    ...{ qk_nope_head_dim: 6, qk_rope_head_dim: 2, v_head_dim: 4 },
  }),
} as const satisfies Record<Mixed, (sizes: MixedSizes) => Readonly<Record<string, unknown>>>;

const routed = ({ ffn }: MixedSizes) => ({
  model_type: 'qwen3_moe',
  num_experts: 4,
  num_experts_per_tok: 2,
  moe_intermediate_size: ffn / 2,
  norm_topk_prob: true,
});

export function mixedModel(mixed: Mixed, sizes: MixedSizes): ModelSpec {
  const config = {
    num_hidden_layers: sizes.layers,
    hidden_size: sizes.hidden,
    num_attention_heads: sizes.heads,
    num_key_value_heads: sizes.kvHeads,
    head_dim: sizes.hidden / sizes.heads,
    intermediate_size: sizes.ffn,
    vocab_size: sizes.vocab,
    max_position_embeddings: sizes.positions,
    tie_word_embeddings: mixed === 'windows',
    ...kinds[mixed](sizes),
  };
  const { model, issues } = modelFromConfig(config, { name: mixed });
  if (!model) throw new Error(`internal: the fixture is broken: ${issues.map(({ message }) => message).join(' ')}`);
  return model;
}
