/** @file How many parameters a model has, and what stands beside them in a checkpoint. */
import { blockParameters, mtpParameters } from './parameters/index.ts';
import type { BlockId, LayerSpec, ModelSpec, ParameterSpec } from './types.ts';

/** A parameter of the experts that a router chooses from. */
export const isRoutedExpert = ({ name }: Pick<ParameterSpec, 'name'>): boolean => name.startsWith('experts.');

/** Parameters of a model, tied ones once. `total` = `embedding` + all of `perLayer` + `head`; buffers and padding are in none. */
export interface ParameterCounts {
  readonly total: number;
  /** Those that one token passes through: `topK` of the experts. */
  readonly active: number;
  /** Token table and learned positions. */
  readonly embedding: number;
  /** Final norm, and the output matrix unless it is tied. */
  readonly head: number;
  readonly perLayer: readonly number[];
  /** Those that the optimizer moves: all, or those of adapters. */
  readonly trainable: number;
  /** Beside `total`: modules that predict further tokens, without what they share with the model. */
  readonly mtp: number;
}

/** Elements of one parameter. */
export const elementsOf = (parameter: ParameterSpec): number =>
  parameter.dims.reduce((product, dim) => product * dim.size, 1);

/** Counts of a model; `total` equals the elements of all its tensors. */
export function countParameters(model: ModelSpec): ParameterCounts {
  const counted = new Map<LayerSpec, LayerCount>();
  const perLayer: number[] = [];
  let active = 0;
  let trained = 0;
  for (const [index, layer] of model.layers.entries()) {
    const known = counted.get(layer) ?? countLayer(model, layer, index);
    counted.set(layer, known);
    perLayer.push(known.total);
    active += known.active;
    trained += known.trained;
  }
  const embedding = countBlock(model, 'embed');
  const head = countBlock(model, 'head');
  const total = embedding + head + perLayer.reduce((sum, each) => sum + each, 0);
  const mtp = elementsOfAll(mtpParameters(model).flat());
  const trainable = model.adapters === undefined ? total : trained;
  return { total, active: active + embedding + head, embedding, head, perLayer, trainable, mtp };
}

const countBlock = (model: ModelSpec, block: BlockId): number => elementsOfAll(blockParameters(model, block));

const elementsOfAll = (parameters: readonly ParameterSpec[]): number =>
  parameters.reduce((sum, parameter) => sum + elementsOf(parameter), 0);

interface LayerCount {
  readonly total: number;
  readonly active: number;
  readonly trained: number;
}

function countLayer(model: ModelSpec, layer: LayerSpec, index: number): LayerCount {
  const { ffn } = layer;
  const share = ffn.kind === 'moe' ? ffn.topK / ffn.experts : 1;
  let total = 0;
  let active = 0;
  let trained = 0;
  for (const parameter of blockParameters(model, index)) {
    const elements = elementsOf(parameter);
    total += elements;
    if (!parameter.frozen) trained += elements;
    active += parameter.name.startsWith('experts.') ? Math.round(elements * share) : elements;
  }
  return { total, active, trained };
}
