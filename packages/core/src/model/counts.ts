/** @file How many parameters a model has and how many FLOPs a token costs. */
import { type Flops, flops } from '../units/index.ts';
import { blockParameters } from './parameters.ts';
import type { BlockId, LayerSpec, ModelSpec, ParameterSpec } from './types.ts';

/** Parameters of a model, tied ones once. `total` = `embedding` + all of `perLayer` + `head`. */
export interface ParameterCounts {
  readonly total: number;
  /** Those that one token passes through: `topK` of the experts. */
  readonly active: number;
  /** Token table and learned positions. */
  readonly embedding: number;
  /** Final norm, and the output matrix unless it is tied. */
  readonly head: number;
  readonly perLayer: readonly number[];
}

/** What the FLOPs of {@link flopsPerToken}, and every MFU made from them, count. */
export const mfuConvention: string =
  'matrix products and attention, forward x 3; a multiply-add is 2 FLOPs; causal attention at half; logits counted; ' +
  'embedding lookup, norms, activations, softmax, optimizer and recomputation not counted';

/** Elements of one parameter. */
export const elementsOf = (parameter: ParameterSpec): number =>
  parameter.dims.reduce((product, dim) => product * dim.size, 1);

/** Counts of a model; `total` equals the elements of all its tensors. */
export function countParameters(model: ModelSpec): ParameterCounts {
  const counted = new Map<LayerSpec, readonly [number, number]>();
  const perLayer: number[] = [];
  let active = 0;
  for (const [index, layer] of model.layers.entries()) {
    const known = counted.get(layer) ?? countLayer(model, layer, index);
    counted.set(layer, known);
    perLayer.push(known[0]);
    active += known[1];
  }
  const embedding = countBlock(model, 'embed');
  const head = countBlock(model, 'head');
  const total = embedding + head + perLayer.reduce((sum, each) => sum + each, 0);
  return { total, active: active + embedding + head, embedding, head, perLayer };
}

const countBlock = (model: ModelSpec, block: BlockId): number =>
  blockParameters(model, block).reduce((sum, parameter) => sum + elementsOf(parameter), 0);

function countLayer(model: ModelSpec, layer: LayerSpec, index: number): readonly [total: number, active: number] {
  const { ffn } = layer;
  const share = ffn.kind === 'moe' ? ffn.topK / ffn.experts : 1;
  let total = 0;
  let active = 0;
  for (const parameter of blockParameters(model, index)) {
    const elements = elementsOf(parameter);
    total += elements;
    active += parameter.name.startsWith('experts.') ? Math.round(elements * share) : elements;
  }
  return [total, active];
}

/** FLOPs that training spends on one token of a sequence of `length` tokens: forward and backward, see {@link mfuConvention}. */
export function flopsPerToken(model: ModelSpec, length: number): Flops {
  const known = new Map<LayerSpec, number>();
  let forward = 2 * model.hidden * model.vocabulary;
  for (const layer of model.layers) {
    const cost = known.get(layer) ?? layerForward(model.hidden, layer, length);
    known.set(layer, cost);
    forward += cost;
  }
  return flops(3 * forward);
}

function layerForward(hidden: number, layer: LayerSpec, length: number): number {
  const { attention, ffn } = layer;
  const query = attention.heads * attention.headSize;
  const keyValue = attention.kvHeads * attention.headSize;
  const projections = 2 * hidden * (2 * query + 2 * keyValue);
  const scoresAndValues = (2 * 2 * query * length) / 2;
  const products = ffn.gated ? 3 : 2;
  const oneFfn = 2 * hidden * ffn.width * products;
  const feedForward = ffn.kind === 'dense' ? oneFfn : ffn.topK * oneFfn + 2 * hidden * ffn.experts;
  return projections + scoresAndValues + feedForward;
}
