/** @file What a model is: layers one by one, and every parameter under its logical and its Hugging Face name. */

export type NormKind = 'layernorm' | 'rmsnorm';

/** What every kind of attention says. */
interface AttentionBase {
  readonly heads: number;
  /** Key and value heads; equal to `heads` for multi-head and latent attention. */
  readonly kvHeads: number;
  /** Values of a query or key of one head. */
  readonly headSize: number;
  readonly qkvBias: boolean;
  readonly outBias: boolean;
  /** `fraction`: share of a head that is turned; absent: all of it. */
  readonly rotary: { readonly theta: number; readonly fraction?: number } | undefined;
  /** Linear biases on scores instead of positions (ALiBi). */
  readonly alibi?: true;
  /** Tokens that attention looks back; absent: all. `chunked`: no further than the beginning of the token's chunk. */
  readonly window?: number;
  readonly chunked?: true;
  /** Scores are capped: c tanh(x / c). */
  readonly scoreCap?: number;
}

/** Norms of queries and keys before their product: one vector of weights for all heads (`head`), one for each head
 * (`heads`), or one norm over all heads together (`projection`). */
export type QueryKeyNorm = 'head' | 'heads' | 'projection';

/** Query heads that share key and value heads; multi-head attention is the case of one each. */
export interface GroupedAttention extends AttentionBase {
  readonly kind: 'grouped-query';
  readonly queryKeyNorm?: QueryKeyNorm;
  /** A learned score for each head that takes part in the softmax and gives nothing (GPT-OSS). */
  readonly sinks?: true;
}

/** Latent attention (MLA): keys and values are made from a narrow vector that all heads share.
 *
 * A head's query and key have `nopeSize` values without positions and `ropeSize` rotary ones, the latter shared by the
 * keys of all heads; `headSize` is their sum.
 */
export interface LatentAttention extends AttentionBase {
  readonly kind: 'latent';
  /** Width of the narrow query; absent: queries come straight from the hidden state. */
  readonly queryRank?: number;
  readonly keyValueRank: number;
  readonly nopeSize: number;
  readonly ropeSize: number;
  readonly valueSize: number;
  /** Small heads that choose the `topK` tokens that attention looks at (sparse selection). */
  readonly indexer?: { readonly heads: number; readonly size: number; readonly topK: number };
}

export type AttentionSpec = GroupedAttention | LatentAttention;

/** `clamped-silu` is gated only: min(gate, 7) sigmoid(1.702 gate) (up clamped to 7, plus 1), as in GPT-OSS. */
export type ActivationKind = 'gelu' | 'gelu-tanh' | 'silu' | 'relu' | 'clamped-silu';

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
  /** Biases of the experts. */
  readonly bias?: true;
  readonly routerBias?: true;
  /** A correction of the choice of experts, set by the load of each and not by the gradient. */
  readonly selectionBias?: true;
  /** How scores become the weights of the chosen experts; absent: a softmax over the chosen. */
  readonly scoring?: ExpertScoring;
  /** The weights of the chosen are divided by their sum; a softmax over the chosen has that anyway. */
  readonly normalized?: true;
  /** Factor on the weights of the chosen; absent: 1. */
  readonly weightFactor?: number;
  /** Experts are chosen from the best groups only. */
  readonly groups?: ExpertGroups;
  /** Weights multiply what goes into an expert instead of what comes out; one expert a token. */
  readonly weighs?: 'input';
  /** Experts that every token passes, as one feed-forward of their widths together; `gate`: weighed by a sigmoid. */
  readonly shared?: { readonly width: number; readonly gate: boolean };
}

/** `count` groups of neighbouring experts, of which the `chosen` best take part; a group is as good as the sum of its `top`
 * best experts.
 */
export interface ExpertGroups {
  readonly count: number;
  readonly chosen: number;
  readonly top: number;
}

/** `softmax-all`: a softmax over all experts, of which the chosen keep their part; `sigmoid`: each by itself. */
export type ExpertScoring = 'softmax-all' | 'sigmoid';

/** Where norms stand around attention and feed-forward: before both; after both, inside the residual; before and after;
 * or side by side, both parts from one residual with a norm each (`parallel`) or one together (`parallel-shared`). */
export type NormPlacement = 'pre' | 'post' | 'both' | 'parallel' | 'parallel-shared';

export interface LayerSpec {
  readonly attention: AttentionSpec;
  readonly ffn: DenseFfn | MoeFfn;
  /** Absent: `pre`. */
  readonly placement?: NormPlacement;
}

/** Modules that predict further tokens (MTP): each one layer of its own behind a product of [2 hidden -> hidden]. */
export interface MtpSpec {
  readonly modules: number;
  readonly layer: LayerSpec;
}

/** Architectures by the layers and tensor names that they have. */
export type ModelKind =
  | 'gpt2'
  | 'llama'
  | 'mixtral'
  | 'baichuan'
  | 'bloom'
  | 'chatglm'
  | 'cohere'
  | 'deepseek'
  | 'falcon'
  | 'falcon-two-norms'
  | 'gemma'
  | 'gemma2'
  | 'gemma3'
  | 'gemma3-vision'
  | 'glm4-moe'
  | 'gpt-bigcode'
  | 'gpt-j'
  | 'gpt-neox'
  | 'gpt-oss'
  | 'granite-moe'
  | 'internlm2'
  | 'llama4'
  | 'mimo'
  | 'minicpm'
  | 'minimax-m2'
  | 'mistral3'
  | 'olmo2'
  | 'phi'
  | 'phi3'
  | 'qwen'
  | 'qwen2-moe'
  | 'qwen3'
  | 'qwen3-vl'
  | 'stablelm'
  | 'starcoder2';

export interface ModelSpec {
  readonly name: string;
  readonly kind: ModelKind;
  readonly hidden: number;
  readonly vocabulary: number;
  /** Rows of the learned position table; undefined for rotary models. */
  readonly learnedPositions: number | undefined;
  /** Longest sequence that the model states. */
  readonly maxLength: number;
  /** The model states no longest sequence: `maxLength` is what models of its kind usually take. */
  readonly lengthAssumed?: true;
  readonly norm: NormKind;
  readonly normEpsilon: number;
  /** Layer norms without a bias. */
  readonly normBias?: false;
  /** A norm right behind the embedding. */
  readonly embeddingNorm?: true;
  /** Factors on embeddings, on what a part adds to the residual, and on logits; absent: 1. */
  readonly embeddingScale?: number;
  readonly residualScale?: number;
  readonly logitScale?: number;
  /** Logits are capped: c tanh(x / c). */
  readonly logitCap?: number;
  /** The output matrix has a bias. */
  readonly headBias?: true;
  readonly mtp?: MtpSpec;
  /** The head is the embedding's matrix. */
  readonly tied: boolean;
  readonly layers: readonly LayerSpec[];
  /** Its weights are frozen and these are trained in their place; absent: all weights are trained. */
  readonly adapters?: AdapterSpec;
}

/** Low-rank adapters beside linear layers of the blocks; see adapters.ts. */
export interface AdapterSpec {
  /** Width of the narrow product. */
  readonly rank: number;
  /** The product of an adapter is multiplied by `alpha` / `rank`. */
  readonly alpha: number;
  /** Names of modules, matched from the end; `all-linear`: every linear layer of the blocks. */
  readonly targets: readonly string[];
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
 * - `embed`: `wte` [v h], `wpe` [n h] (learned positions), `lne.w` `lne.b` (a norm behind it).
 * - layer: `ln1.w` `ln1.b` [h]; `qn.w` `kn.w` (norms of queries and keys); `sinks` [a]; `qkv.w` [qkv h] parts query, key, value; `qkv.b` [qkv]; `proj.w` [h o]; `proj.b` [h];
 *   `ln2.w` `ln2.b`; dense: `fc1.w` [f h] (gated: parts gate, up, size 2f), `fc1.b` [f], `fc2.w` [h f], `fc2.b` [h];
 *   MoE: `router.w` [e h], `experts.fc1.w` [e f h] (gated: f dim has parts gate, up), `experts.fc2.w` [e h f].
 *   `router.b`, `router.c` (correction of the choice), `experts.fc1.b`, `experts.fc2.b`; `shared.fc1.w`, `shared.fc2.w`, `shared.gate.w` [1 h];
 *   norms behind attention and feed-forward: `pn1.w`, `pn2.w`. RMS norms have no `.b`.
 *   Latent attention in place of `qkv.w`: `qa.w` [q h], `qan.w`, `q.w` (from `qa` or the hidden state), `kva.w` [c h],
 *   `kvan.w`, `kvb.w`; its indexer: `iq.w`, `ik.w`, `ikn.w`, `ikn.b`, `iw.w`.
 *   Adapters of a linear layer `qkv.w`: `qkv.A` [a h], `a` the rank for each adapted part, and `qkv.B` [qkv r].
 * - `head`: `lnf.w` `lnf.b`; `lm.w` [v h] unless tied (then the head reads `wte`); `lm.b` [v].
 */
export interface ParameterSpec {
  readonly name: string;
  readonly block: BlockId;
  readonly dims: readonly ParameterDim[];
  /** Weight decay applies (matrices yes, norms and biases no). */
  readonly decay: boolean;
  /** Hugging Face tensors, fused along the first dim in order of `parts` (for experts: expert by expert, gate then up). */
  readonly tensors: readonly HfSlice[];
  /** It has no gradient and no state, and the optimizer leaves it as it is. */
  readonly frozen?: true;
}
