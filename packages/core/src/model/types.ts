/** @file What a model is: layers one by one, and every parameter under its logical and its Hugging Face name. */

export type NormKind = 'layernorm' | 'rmsnorm';

export interface AttentionSpec {
  readonly kind: 'grouped-query';
  readonly heads: number;
  /** Key and value heads; equal to `heads` for multi-head attention. */
  readonly kvHeads: number;
  readonly headSize: number;
  readonly qkvBias: boolean;
  readonly outBias: boolean;
  readonly rotary: { readonly theta: number } | undefined;
}

export type ActivationKind = 'gelu' | 'gelu-tanh' | 'silu' | 'relu';

export interface DenseFfn {
  readonly kind: 'dense';
  readonly width: number;
  /** Gated: act(gate) * up, two input products. */
  readonly gated: boolean;
  readonly activation: ActivationKind;
  readonly bias: boolean;
}

export interface MoeFfn {
  readonly kind: 'moe';
  readonly experts: number;
  readonly topK: number;
  /** Width of one expert. */
  readonly width: number;
  readonly gated: boolean;
  readonly activation: ActivationKind;
}

export interface LayerSpec {
  readonly attention: AttentionSpec;
  readonly ffn: DenseFfn | MoeFfn;
}

export interface ModelSpec {
  readonly name: string;
  readonly kind: 'gpt2' | 'llama' | 'mixtral';
  readonly hidden: number;
  readonly vocabulary: number;
  /** Rows of the learned position table; undefined for rotary models. */
  readonly learnedPositions: number | undefined;
  /** Longest sequence that the model states. */
  readonly maxLength: number;
  readonly norm: NormKind;
  readonly normEpsilon: number;
  /** The head is the embedding's matrix. */
  readonly tied: boolean;
  readonly layers: readonly LayerSpec[];
}

/** The block that a parameter belongs to: `embed`, a layer index, or `head` (final norm and output matrix). */
export type BlockId = 'embed' | number | 'head';

/** One piece of a Hugging Face tensor that a parameter holds: rows [from, to) of its first dim; all of it when absent. */
export interface HfSlice {
  readonly name: string;
  /** Shape of the Hugging Face tensor. */
  readonly shape: readonly number[];
  /** Stored as [in, out] instead of [out, in] (GPT-2's Conv1D). */
  readonly transposed?: true;
}

/** A dim of a parameter; `tensor` says how tensor parallelism may cut it.
 *
 * `heads`: by query and key/value heads, part by part. `even`: by any divisor.
 */
export interface ParameterDim {
  readonly label: string;
  readonly size: number;
  readonly tensor?: 'heads' | 'even';
  /** Global sizes of what is fused along this dim, in order: query, key, value; gate, up. */
  readonly parts?: readonly number[];
}

/** One parameter as the step program knows it.
 *
 * Logical names, per block:
 * - `embed`: `wte` [v h], `wpe` [n h] (learned positions).
 * - layer: `ln1.w` `ln1.b` [h]; `qkv.w` [qkv h] parts query, key, value; `qkv.b` [qkv]; `proj.w` [h o]; `proj.b` [h];
 *   `ln2.w` `ln2.b`; dense: `fc1.w` [f h] (gated: parts gate, up, size 2f), `fc1.b` [f], `fc2.w` [h f], `fc2.b` [h];
 *   MoE: `router.w` [e h], `experts.fc1.w` [e f h] (gated: f dim has parts gate, up), `experts.fc2.w` [e h f].
 *   RMS norms have no `.b`.
 * - `head`: `lnf.w` `lnf.b`; `lm.w` [v h] unless tied (then the head reads `wte`).
 */
export interface ParameterSpec {
  readonly name: string;
  readonly block: BlockId;
  readonly dims: readonly ParameterDim[];
  /** Weight decay applies (matrices yes, norms and biases no). */
  readonly decay: boolean;
  /** Hugging Face tensors, fused along the first dim in order of `parts` (for experts: expert by expert, gate then up). */
  readonly tensors: readonly HfSlice[];
}
