/** @file How many FLOPs a token costs. */
import { type Flops, flops } from '../units/index.ts';
import { elementsOf } from './counts.ts';
import { blockParameters } from './parameters/index.ts';
import type { AttentionSpec, DenseFfn, LayerSpec, ModelSpec, MoeFfn } from './types.ts';

/** What the FLOPs of {@link flopsPerToken}, and every MFU made from them, count. */
export const mfuConvention: string =
  'matrix products and attention, forward x 3; a multiply-add is 2 FLOPs; causal attention at half; logits counted; ' +
  'embedding lookup, norms, activations, softmax, optimizer and recomputation not counted';

/** The same for a model whose weights are frozen: their products have no gradient of the weight. */
const frozenConvention =
  'matrix products and attention, forward x 2 for products of frozen weights, x 3 for attention and adapters; a multiply-add ' +
  'is 2 FLOPs; causal attention at half; logits counted; embedding lookup, norms, activations, softmax, optimizer and ' +
  'recomputation not counted';

/** {@link mfuConvention}, or what stands in for it where adapters are trained. */
export const mfuConventionOf = ({ adapters }: Pick<ModelSpec, 'adapters'>): string =>
  adapters === undefined ? mfuConvention : frozenConvention;

/** FLOPs that training spends on one token of a sequence of `length` tokens: forward and backward, see {@link mfuConventionOf}. */
export function flopsPerToken(model: ModelSpec, length: number): Flops {
  if (model.adapters !== undefined) return frozenFlops(model, length);
  const known = new Map<LayerSpec, number>();
  let forward = 2 * model.hidden * model.vocabulary;
  for (const layer of model.layers) {
    const cost = known.get(layer) ?? layerForward(model.hidden, layer, length);
    known.set(layer, cost);
    forward += cost;
  }
  return flops(3 * forward);
}

function frozenFlops(model: ModelSpec, length: number): Flops {
  const known = new Map<LayerSpec, number>();
  let total = 2 * (2 * model.hidden * model.vocabulary);
  model.layers.forEach((layer, index) => {
    const cost = known.get(layer) ?? frozenLayer(model, layer, index, length);
    known.set(layer, cost);
    total += cost;
  });
  return flops(total);
}

/** An adapter has one multiply-add for each of its parameters in each of its three products. */
function frozenLayer(model: ModelSpec, layer: LayerSpec, index: number, length: number): number {
  const adapters = blockParameters(model, index).filter(({ frozen }) => !frozen);
  const ofAdapters = adapters.reduce((sum, each) => sum + elementsOf(each), 0);
  const attention = scoresAndValues(layer.attention, length);
  return 2 * (layerForward(model.hidden, layer, length) - attention) + 3 * attention + 3 * 2 * ofAdapters;
}

const layerForward = (hidden: number, { attention, ffn }: LayerSpec, length: number): number =>
  projections(hidden, attention) + scoresAndValues(attention, length) + feedForward(hidden, ffn);

function projections(hidden: number, attention: AttentionSpec): number {
  const { heads, headSize } = attention;
  if (attention.kind === 'grouped-query') {
    return 2 * hidden * (2 * heads * headSize + 2 * attention.kvHeads * headSize);
  }
  const { queryRank, keyValueRank, nopeSize, ropeSize, valueSize, indexer } = attention;
  const from = queryRank ?? hidden;
  const query = (queryRank === undefined ? 0 : hidden * queryRank) + from * heads * headSize;
  const keyValue = hidden * (keyValueRank + ropeSize) + keyValueRank * heads * (nopeSize + valueSize);
  const choice = indexer ? from * indexer.heads * indexer.size + hidden * (indexer.size + indexer.heads) : 0;
  return 2 * (query + keyValue + choice + heads * valueSize * hidden);
}

/** Causal attention at half; a window bounds the tokens that a token looks at, and so does sparse selection, whose
 * choosing heads look at all of them. */
function scoresAndValues(attention: AttentionSpec, length: number): number {
  const { heads, headSize } = attention;
  if (attention.kind === 'grouped-query') return 2 * 2 * heads * headSize * tokensSeen(attention, length);
  const { valueSize, indexer } = attention;
  const seen = indexer ? seenThrough(indexer.topK, length) : length / 2;
  const choosing = indexer ? 2 * indexer.heads * indexer.size * (length / 2) : 0;
  return 2 * heads * (headSize + valueSize) * seen + choosing;
}

/** Tokens that a token of a sequence of `length` looks at, on average, counting causal attention at half. */
export function tokensSeen({ window, chunked }: AttentionSpec, length: number): number {
  if (window === undefined || window >= length) return length / 2;
  return chunked ? window / 2 : seenThrough(window, length);
}

const seenThrough = (window: number, length: number): number =>
  window >= length ? length / 2 : window - window ** 2 / (2 * length);

function feedForward(hidden: number, ffn: DenseFfn | MoeFfn): number {
  const products = ffn.gated ? 3 : 2;
  const ofWidth = (width: number): number => 2 * hidden * width * products;
  if (ffn.kind === 'dense') return ofWidth(ffn.width);
  const shared = ffn.shared ? ofWidth(ffn.shared.width) + (ffn.shared.gate ? 2 * hidden : 0) : 0;
  return ffn.topK * ofWidth(ffn.width) + 2 * hidden * ffn.experts + shared;
}
