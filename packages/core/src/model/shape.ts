/** @file The widest form of a model before its layers are written out: dimensions, and what tells architectures apart. */
import type { DimensionRule, ModelDimensions } from './dimensions.ts';
import type { ExpertScoring, ModelKind, NormKind, NormPlacement, QueryKeyNorm } from './types.ts';

/** What configurations state beyond the dimensions of a job file. */
export interface ShapeNumbers {
  /** Width of one expert; absent: `ffn`, which is then the width of experts only. */
  readonly expertFfn?: number;
  /** Experts that every token passes; their widths add up. */
  readonly sharedExperts?: number;
  /** Width of all shared experts together, where it is stated as such. */
  readonly sharedFfn?: number;
  /** Leading layers without experts. */
  readonly denseFirst?: number;
  /** Every n-th layer has experts, counted from the end of each n. */
  readonly moeEvery?: number;
  readonly queryRank?: number;
  readonly keyValueRank?: number;
  readonly nopeSize?: number;
  readonly ropeSize?: number;
  readonly valueSize?: number;
  readonly indexHeads?: number;
  readonly indexSize?: number;
  readonly indexTopK?: number;
  /** Every n-th layer looks back at all tokens, the others at the window. */
  readonly fullEvery?: number;
  /** The first layer with a window. */
  readonly windowFrom?: number;
  readonly rotaryFraction?: number;
  /** Values of a head that are turned. */
  readonly rotarySize?: number;
  readonly embeddingScale?: number;
  readonly residualScale?: number;
  readonly logitScale?: number;
  readonly logitCap?: number;
  readonly scoreCap?: number;
  readonly mtp?: number;
  readonly weightFactor?: number;
  readonly expertGroups?: number;
  readonly chosenGroups?: number;
}

/** Facts of an architecture; a configuration may state some of them. */
export interface ShapeFacts {
  readonly norm?: NormKind;
  readonly normBias?: boolean;
  readonly placement?: NormPlacement;
  readonly gated?: boolean;
  readonly positionKind?: 'rotary' | 'learned' | 'alibi';
  readonly queryKeyNorm?: QueryKeyNorm;
  readonly embeddingNorm?: boolean;
  /** Embeddings are multiplied by the root of the width. */
  readonly embeddingRoot?: boolean;
  readonly headBias?: boolean;
  readonly routerBias?: boolean;
  readonly selectionBias?: boolean;
  readonly scoring?: ExpertScoring;
  readonly normalized?: boolean;
  /** Best experts of a group whose scores say how good it is. */
  readonly groupTop?: number;
  readonly weighs?: 'input';
  readonly sharedGate?: boolean;
  readonly sinks?: boolean;
  readonly chunked?: boolean;
  /** Layers without a window have no positions either. */
  readonly positionsInWindows?: boolean;
  /** The width of the feed-forward when it is not stated, in widths of the model. */
  readonly ffnFactor?: number;
  /** Layers without a window, where they are listed. */
  readonly fullLayers?: readonly number[];
  /** Layers without experts by index. */
  readonly denseLayers?: readonly number[];
}

export interface ModelShape extends Omit<ModelDimensions, 'kind'>, ShapeNumbers, ShapeFacts {
  readonly kind: ModelKind;
}

export type ShapeKey = keyof ModelShape;

const count = (what: string, max: number, min = 1): DimensionRule => ({ type: 'integer', what, min, max });
const factor = (what: string): DimensionRule => ({ type: 'real', what, min: 0, max: 1e6 });

/** What the numbers may be; keys that are neither here nor dimensions are facts. */
export const shapeRules: Readonly<Record<keyof ShapeNumbers | 'selectionBias', DimensionRule>> = {
  expertFfn: count('the width of an expert', 2 ** 22),
  sharedExperts: count('the number of shared experts', 4096, 0),
  sharedFfn: count('the width of the shared experts', 2 ** 22, 0),
  denseFirst: count('the number of leading dense layers', 4096, 0),
  moeEvery: count('the step between layers with experts', 4096),
  queryRank: count('the width of the narrow query', 2 ** 20),
  keyValueRank: count('the width of the narrow keys and values', 2 ** 20),
  nopeSize: count('the part of a head without positions', 2 ** 16),
  ropeSize: count('the rotary part of a head', 2 ** 16),
  valueSize: count('the size of a value', 2 ** 16),
  indexHeads: count('the number of heads that choose tokens', 2 ** 16),
  indexSize: count('the size of a head that chooses tokens', 2 ** 16),
  indexTopK: count('the number of chosen tokens', 2 ** 28),
  fullEvery: count('the step between layers without a window', 4096),
  windowFrom: count('the first layer with a window', 4096, 0),
  rotaryFraction: { type: 'real', what: 'the rotary share of a head', min: 0, max: 1 },
  rotarySize: count('the rotary part of a head', 2 ** 16, 0),
  embeddingScale: factor('the factor on embeddings'),
  residualScale: factor('the factor on residual branches'),
  logitScale: factor('the factor on logits'),
  logitCap: factor('the cap of logits'),
  scoreCap: factor('the cap of scores'),
  selectionBias: { type: 'boolean', what: 'whether the choice of experts is corrected' },
  mtp: count('the number of modules that predict further tokens', 64, 0),
  weightFactor: factor('the factor on the weights of experts'),
  expertGroups: count('the number of groups of experts', 4096),
  chosenGroups: count('the number of groups that a token chooses', 4096),
};
