/** How the tensors of an architecture are called in a Hugging Face checkpoint; names of modules, without `.weight`.
 * Names of a layer's modules stand behind `layer` and its index.
 */
export interface HfNames {
  readonly embed: string;
  readonly positions?: string;
  readonly embeddingNorm?: string;
  readonly layer: string;
  /** The norm before attention; the only one where attention and feed-forward share it. */
  readonly beforeAttention: string;
  readonly afterAttention: string;
  readonly beforeFfn: string;
  readonly afterFfn: string;
  /** One fused tensor, or query, key and value. */
  readonly qkv: readonly string[];
  readonly out: string;
  readonly queryNorm: string;
  readonly keyNorm: string;
  readonly sinks?: string;
  readonly latent?: LatentNames;
  /** Gate and up, one tensor with both, or the only one. */
  readonly in: readonly string[];
  readonly down: string;
  readonly experts?: ExpertNames;
  readonly final: string;
  readonly head: string;
  readonly mtp?: MtpNames;
  /** Matrices are stored as [in, out]. */
  readonly transposed?: true;
}

export interface LatentNames {
  readonly queryDown: string;
  readonly queryDownNorm: string;
  /** From the narrow query, and from the hidden state where there is none. */
  readonly queryUp: string;
  readonly query: string;
  readonly keyValueDown: string;
  readonly keyValueDownNorm: string;
  readonly keyValueUp: string;
  /** Prefix of the heads that choose tokens. */
  readonly indexer: string;
}

export interface ExpertNames {
  readonly router: string;
  /** The tensor that corrects the choice of experts. */
  readonly selectionBias?: string;
  /** Prefix of the experts; an index follows unless they are stacked. */
  readonly prefix: string;
  readonly in: readonly string[];
  readonly down: string;
  /** All experts in one tensor: [expert, out, in], or [expert, in, out] under names without `.weight`. */
  readonly stacked?: 'out-in' | 'in-out';
  readonly shared?: { readonly in: readonly string[]; readonly down: string; readonly gate: string };
}

export interface MtpNames {
  /** Prefix of the modules; absent: they are numbered on behind the layers. */
  readonly prefix?: string;
  /** Norms that a module has besides those of its layer. */
  readonly norms: readonly string[];
  /** The product [2 hidden -> hidden]. */
  readonly project: string;
}

/** Kinds whose tensors are not named in the Llama manner. */
export type GptLike =
  | 'gpt2'
  | 'gpt-bigcode'
  | 'gpt-j'
  | 'gpt-neox'
  | 'bloom'
  | 'falcon'
  | 'falcon-two-norms'
  | 'chatglm'
  | 'qwen'
  | 'phi'
  | 'internlm2';
