/** @file Models by their dimensions: the short form that presets, job files and readers of `config.json` all end in. */
import type { ActivationKind } from './types.ts';

/** Kinds that a job file can give by their dimensions. */
export type DimensionKind = 'gpt2' | 'llama' | 'mixtral';

/** A model whose layers are all alike. Absent keys take the default of the kind. */
export interface ModelDimensions {
  readonly kind: DimensionKind;
  readonly layers: number;
  readonly hidden: number;
  readonly heads: number;
  /** Key and value heads; absent: as many as `heads`. */
  readonly kvHeads?: number;
  /** Absent: hidden / heads. */
  readonly headSize?: number;
  /** Width of the feed-forward, or of one expert. Absent: 4 hidden for gpt2; the other kinds need it. */
  readonly ffn?: number;
  readonly vocab: number;
  /** Longest sequence; for gpt2 the rows of the position table. Absent: the default of the kind. */
  readonly positions?: number;
  /** Experts of a layer and experts per token; mixtral only. */
  readonly experts?: number;
  readonly topK?: number;
  /** The head is the embedding's matrix. Absent: yes for gpt2, no otherwise. */
  readonly tied?: boolean;
  /** Biases; absent: all for gpt2, none otherwise. */
  readonly qkvBias?: boolean;
  readonly outBias?: boolean;
  readonly mlpBias?: boolean;
  readonly activation?: ActivationKind;
  /** Base of the rotary frequencies. */
  readonly theta?: number;
  readonly epsilon?: number;
  /** Tokens that attention looks back, itself among them. */
  readonly slidingWindow?: number;
}

export type DimensionKey = keyof ModelDimensions;

/** A key of the dimensions as data: what it takes, for readers, the JSON Schema and the reference. */
export interface DimensionRule {
  readonly type: 'integer' | 'real' | 'boolean' | 'name';
  readonly what: string;
  readonly min?: number;
  readonly max?: number;
  readonly names?: readonly string[];
  readonly example?: string;
}

const activations: readonly ActivationKind[] = ['gelu', 'gelu-tanh', 'silu', 'relu'];

/** Every layer is written, priced and placed on its own, and nobody trains a quarter of these. */
const MOST_LAYERS = 512;

/** Every key of the dimensions with its range. The upper ends are far beyond what anybody trains; they catch slips. */
export const dimensionRules: Readonly<Record<DimensionKey, DimensionRule>> = {
  kind: { type: 'name', what: 'the kind of model', names: ['gpt2', 'llama', 'mixtral', 'toy'], example: 'llama' },
  layers: { type: 'integer', what: 'the number of layers', min: 1, max: MOST_LAYERS, example: '32' },
  hidden: { type: 'integer', what: 'the width of the model', min: 1, max: 2 ** 20, example: '4096' },
  heads: { type: 'integer', what: 'the number of query heads', min: 1, max: 2 ** 16, example: '32' },
  kvHeads: { type: 'integer', what: 'the number of key and value heads', min: 1, max: 2 ** 16 },
  headSize: { type: 'integer', what: 'the size of a head', min: 1, max: 2 ** 16 },
  ffn: { type: 'integer', what: 'the width of the feed-forward', min: 1, max: 2 ** 22, example: '14336' },
  vocab: { type: 'integer', what: 'the size of the vocabulary', min: 1, max: 2 ** 24, example: '128256' },
  positions: { type: 'integer', what: 'the longest sequence', min: 1, max: 2 ** 28 },
  experts: { type: 'integer', what: 'the number of experts', min: 1, max: 4096 },
  topK: { type: 'integer', what: 'the number of experts per token', min: 1, max: 4096 },
  tied: { type: 'boolean', what: 'whether the head is the embedding' },
  qkvBias: { type: 'boolean', what: 'whether queries, keys and values have a bias' },
  outBias: { type: 'boolean', what: 'whether the output projection of attention has a bias' },
  mlpBias: { type: 'boolean', what: 'whether the feed-forward has biases' },
  activation: { type: 'name', what: 'the activation function', names: activations },
  theta: { type: 'real', what: 'the base of the rotary frequencies', min: 1, max: 1e12 },
  epsilon: { type: 'real', what: 'the epsilon of the norms', min: 0, max: 1 },
  slidingWindow: { type: 'integer', what: 'the window of attention', min: 1, max: 2 ** 28 },
};
