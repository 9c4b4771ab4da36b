/** @file From a valid shape to a model: layers one by one, equal ones as one object. */
import { type KindFacts, kinds } from './kinds.ts';
import type { ModelShape } from './shape.ts';
import type { AttentionSpec, DenseFfn, LayerSpec, ModelSpec, MoeFfn } from './types.ts';

const DEFAULT_THETA = 10_000;

/** A shape with the facts of its kind under what it states itself. */
export const withFacts = (shape: ModelShape): ModelShape & KindFacts => ({ ...kinds[shape.kind], ...shape });

/** The model of a valid shape, frozen; layers that are alike are one object repeated. */
export function buildModel(given: ModelShape, name: string): ModelSpec {
  const shape = withFacts(given);
  const { kind, hidden, mtp = 0 } = shape;
  const layers = layersOf(shape);
  const last = layers.at(-1);
  return Object.freeze({
    name,
    kind,
    hidden,
    vocabulary: shape.vocab,
    learnedPositions: shape.positionKind === 'learned' ? shape.positions : undefined,
    maxLength: shape.positions,
    ...(given.positions === undefined && { lengthAssumed: true as const }),
    norm: shape.norm ?? 'rmsnorm',
    normEpsilon: shape.epsilon,
    ...(shape.normBias === false && { normBias: false as const }),
    ...(shape.embeddingNorm === true && { embeddingNorm: true as const }),
    ...(shape.embeddingRoot === true && { embeddingScale: Math.sqrt(hidden) }),
    ...scales(shape),
    ...(shape.headBias === true && { headBias: true as const }),
    ...(mtp > 0 && last && { mtp: Object.freeze({ modules: mtp, layer: last }) }),
    tied: shape.tied ?? false,
    layers,
  });
}

const scaleKeys = ['embeddingScale', 'residualScale', 'logitScale', 'logitCap'] as const;

const scales = (shape: ModelShape): Partial<Pick<ModelSpec, (typeof scaleKeys)[number]>> =>
  Object.fromEntries(scaleKeys.flatMap((key) => (isUnit(shape[key]) ? [] : [[key, shape[key]]])));

const isUnit = (factor: number | undefined): boolean => factor === undefined || factor === 1;

function layersOf(shape: ModelShape): readonly LayerSpec[] {
  const known = new Map<string, LayerSpec>();
  const layers = Array.from({ length: shape.layers }, (_, index) => {
    const [routed, windowed] = [hasExperts(shape, index), hasWindow(shape, index)];
    const key = `${routed} ${windowed}`;
    const layer = known.get(key) ?? layerOf(shape, routed, windowed);
    known.set(key, layer);
    return layer;
  });
  return Object.freeze(layers);
}

function hasExperts(shape: ModelShape, index: number): boolean {
  const { experts = 0, denseFirst = 0, moeEvery = 1, denseLayers = [] } = shape;
  return experts > 0 && index >= denseFirst && (index + 1) % moeEvery === 0 && !denseLayers.includes(index);
}

function hasWindow(shape: ModelShape, index: number): boolean {
  const { slidingWindow, fullEvery, fullLayers, windowFrom = 0 } = shape;
  if (slidingWindow === undefined || index < windowFrom) return false;
  if (fullLayers) return !fullLayers.includes(index);
  return fullEvery === undefined || (index + 1) % fullEvery !== 0;
}

function layerOf(shape: ModelShape, routed: boolean, windowed: boolean): LayerSpec {
  const { placement = 'pre' } = shape;
  return Object.freeze({
    attention: Object.freeze(attentionOf(shape, windowed)),
    ffn: Object.freeze(routed ? expertsOf(shape) : denseOf(shape)),
    ...(placement !== 'pre' && { placement }),
  });
}

function attentionOf(shape: ModelShape, windowed: boolean): AttentionSpec {
  const { heads, hidden, keyValueRank, scoreCap } = shape;
  const { nopeSize = 0, ropeSize = 0 } = shape;
  const headSize = keyValueRank === undefined ? (shape.headSize ?? hidden / heads) : nopeSize + ropeSize;
  const base = {
    heads,
    kvHeads: keyValueRank === undefined ? (shape.kvHeads ?? heads) : heads,
    headSize,
    qkvBias: shape.qkvBias ?? false,
    outBias: shape.outBias ?? false,
    rotary: windowed || shape.positionsInWindows !== true ? rotaryOf(shape, headSize) : undefined,
    ...(shape.positionKind === 'alibi' && { alibi: true as const }),
    ...(windowed && shape.slidingWindow !== undefined && { window: shape.slidingWindow }),
    ...(windowed && shape.chunked === true && { chunked: true as const }),
    ...(scoreCap !== undefined && { scoreCap }),
  };
  if (keyValueRank === undefined) {
    return {
      kind: 'grouped-query',
      ...base,
      ...(shape.queryKeyNorm !== undefined && { queryKeyNorm: shape.queryKeyNorm }),
      ...(shape.sinks === true && { sinks: true as const }),
    };
  }
  const { queryRank, valueSize = 0, indexHeads, indexSize, indexTopK } = shape;
  const indexed = indexHeads !== undefined && indexSize !== undefined && indexTopK !== undefined;
  return {
    kind: 'latent',
    ...base,
    ...(queryRank !== undefined && { queryRank }),
    keyValueRank,
    nopeSize,
    ropeSize,
    valueSize,
    ...(indexed && { indexer: Object.freeze({ heads: indexHeads, size: indexSize, topK: indexTopK }) }),
  };
}

function rotaryOf(shape: ModelShape, headSize: number): AttentionSpec['rotary'] {
  const { positionKind = 'rotary', theta = DEFAULT_THETA, rotarySize, keyValueRank } = shape;
  if (positionKind !== 'rotary') return undefined;
  const fraction = rotarySize === undefined ? shape.rotaryFraction : rotarySize / headSize;
  const whole = fraction === undefined || fraction === 1 || keyValueRank !== undefined;
  return Object.freeze(whole ? { theta } : { theta, fraction });
}

function denseOf(shape: ModelShape): DenseFfn {
  const { hidden, ffn = (shape.ffnFactor ?? 4) * hidden, gated = true, activation = 'silu', mlpBias = false } = shape;
  return { kind: 'dense', width: ffn, gated, activation, bias: mlpBias };
}

function expertsOf(shape: ModelShape): MoeFfn {
  const { experts = 1, topK = 1, ffn = 0, expertFfn = ffn, gated = true, activation = 'silu' } = shape;
  const { expertGroups = 1, chosenGroups = expertGroups } = shape;
  const { sharedExperts = 0, sharedFfn = sharedExperts * expertFfn, sharedGate = false } = shape;
  return {
    kind: 'moe',
    experts,
    topK,
    width: expertFfn,
    gated,
    activation,
    ...(shape.mlpBias === true && { bias: true as const }),
    ...(shape.routerBias === true && { routerBias: true as const }),
    ...(shape.selectionBias === true && { selectionBias: true as const }),
    ...(shape.scoring !== undefined && { scoring: shape.scoring }),
    ...(shape.normalized === true && { normalized: true as const }),
    ...(isUnit(shape.weightFactor) ? {} : { weightFactor: shape.weightFactor }),
    ...(expertGroups > chosenGroups && {
      groups: Object.freeze({ count: expertGroups, chosen: chosenGroups, top: shape.groupTop ?? 1 }),
    }),
    ...(shape.weighs !== undefined && { weighs: shape.weighs }),
    ...(sharedFfn > 0 && { shared: Object.freeze({ width: sharedFfn, gate: sharedGate }) }),
  };
}
