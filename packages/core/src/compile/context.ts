/** @file What the passes know of a job and a layout: sizes, types, and the choices that templates depend on. */
import type { Job } from '../job/index.ts';
import { computeType } from '../job/index.ts';
import { expertDataOf, hasExpertGrid, type Layout } from '../layout/index.ts';
import { type LayerKind, type LayerKinds, type LayerSpec, layerKinds, type ModelSpec } from '../model/index.ts';
import type { Dim, DType } from '../tensor/index.ts';

export { microBatchesOf as microBatches } from '../layout/index.ts';

/** Facts that decide the operations of a block. Two layouts with equal contexts share their templates. */
export interface BlockContext {
  readonly model: ModelSpec;
  readonly kinds: LayerKinds;
  /** The layer that templates are written for: of the first kind, until a kind is chosen by {@link contextOfKind}. */
  readonly layer: LayerSpec;
  readonly length: number;
  readonly microBatch: number;
  readonly data: number;
  readonly tensor: number;
  readonly sequenceParallel: boolean;
  /** The degrees of the grid that experts lie over; absent where they lie as tensor cuts everything. */
  readonly grid?: ExpertGrid;
  /** Rows of the busiest expert rank over the mean: 1 for balanced routing. */
  readonly load: number;
  /** Backward reads the gathered inputs that forward left (kept, or made again by full recomputation). */
  readonly keepGathered: boolean;
  readonly recompute: Layout['recompute'];
  readonly lossChunks: number;
  readonly attention: Job['kernels']['attention'];
  readonly dropout: number;
  /** Element type of weights and activations. */
  readonly type: DType;
}

/** Degrees of the axes of the expert grid beside pipeline. */
export interface ExpertGrid {
  readonly expert: number;
  readonly expertTensor: number;
  readonly expertData: number;
}

/** The expert grid of a layout; undefined where experts lie as the dense grid does. */
export function expertGridOf(layout: Layout): ExpertGrid | undefined {
  if (!hasExpertGrid(layout)) return undefined;
  const { expert, expertTensor } = layout;
  return { expert, expertTensor, expertData: expertDataOf(layout) };
}

export function blockContext(job: Job, layout: Layout): BlockContext {
  const kinds = layerKinds(job.model, job.batch.length);
  const [first] = kinds.kinds;
  if (first === undefined) throw new Error('internal: a model without layers passed validation.');
  const grid = expertGridOf(layout);
  return {
    model: job.model,
    kinds,
    layer: first.layer,
    length: job.batch.length,
    microBatch: layout.microBatch,
    data: layout.data,
    tensor: layout.tensor,
    sequenceParallel: layout.sequenceParallel && layout.tensor > 1,
    ...(grid && { grid }),
    load: 1,
    keepGathered: layout.keepGathered || layout.recompute === 'full',
    recompute: layout.recompute,
    lossChunks: layout.lossChunks,
    attention: job.kernels.attention,
    dropout: job.kernels.dropout,
    type: computeType(job.precision),
  };
}

/** The context of the templates of one kind of layer. */
export const contextOfKind = (context: BlockContext, { layer }: LayerKind): BlockContext => ({ ...context, layer });

/** A dim, cut by `axis` when that axis has more than one rank. */
export function dim(label: string, size: number, axis?: string, degree = 1, parts?: readonly number[]): Dim {
  return { label, size, ...(axis !== undefined && degree > 1 && { cut: [axis] }), ...(parts && { parts }) };
}

/** Dims that activations are made of. */
export interface ActivationDims {
  /** Cut over tensor where the sequence is sharded. */
  readonly s: Dim;
  readonly sWhole: Dim;
  /** A piece of the sequence in which the loss is taken. */
  readonly sPiece: Dim;
  readonly b: Dim;
  readonly h: Dim;
  /** Fused query, key and value, each cut by heads. */
  readonly qkv: Dim;
  readonly o: Dim;
  readonly heads: Dim;
  /** Input of the activation function: gate and up fused where the layer is gated. */
  readonly fIn: Dim;
  readonly f: Dim;
  readonly v: Dim;
}

export function activationDims(context: BlockContext): ActivationDims {
  const { model, layer, tensor } = context;
  const { heads, kvHeads, headSize } = layer.attention;
  const parts = [heads * headSize, kvHeads * headSize, kvHeads * headSize];
  const { width, gated } = layer.ffn;
  const fIn = gated ? dim('f', 2 * width, 'tensor', tensor, [width, width]) : dim('f', width, 'tensor', tensor);
  return {
    s: dim('s', context.length, 'tensor', context.sequenceParallel ? tensor : 1),
    sWhole: dim('s', context.length),
    sPiece: dim('s', context.length / context.lossChunks),
    b: dim('b', context.microBatch * context.data, 'data', context.data),
    h: dim('h', model.hidden),
    qkv: dim('qkv', (heads + 2 * kvHeads) * headSize, 'tensor', tensor, parts),
    o: dim('o', heads * headSize, 'tensor', tensor),
    heads: dim('a', heads, 'tensor', tensor),
    fIn,
    f: dim('f', width, 'tensor', tensor),
    v: dim('v', model.vocabulary, 'tensor', tensor),
  };
}
