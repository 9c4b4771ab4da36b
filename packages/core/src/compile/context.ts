/** @file What the passes know of a job and a layout: sizes, types, and the choices that templates depend on. */
import { eraOf, frameworks, type LossPlan } from '../frameworks/index.ts';
import type { Job, ProductRecipe } from '../job/index.ts';
import { computeType } from '../job/index.ts';
import { expertDataOf, hasExpertGrid, headRanks, type Layout, type Recompute } from '../layout/index.ts';
import type { LayerSpec, ModelSpec } from '../model/index.ts';
import { isSplit } from '../schedules/index.ts';
import type { Dim, DType } from '../tensor/index.ts';
import { type BlockKind, type BlockKinds, blockKinds } from './kinds.ts';

export { microBatchesOf as microBatches } from '../layout/index.ts';

/** Facts that decide the operations of a block. Two layouts with equal contexts share their templates. */
export interface BlockContext {
  readonly model: ModelSpec;
  readonly kinds: BlockKinds;
  /** The layer that templates are written for: of the first kind, until a kind is chosen by {@link contextOfKind}. */
  readonly layer: LayerSpec;
  readonly length: number;
  readonly microBatch: number;
  readonly data: number;
  readonly tensor: number;
  readonly context: number;
  readonly contextKind: Layout['contextKind'];
  /** Context ranks that swap heads for tokens around attention: 1 where none do. */
  readonly contextHeads: number;
  readonly sequenceParallel: boolean;
  /** The degrees of the grid that experts lie over; absent where they lie as tensor cuts everything. */
  readonly grid?: ExpertGrid;
  /** Rows of the busiest expert rank over the mean: 1 for balanced routing. */
  readonly load: number;
  /** Backward reads the gathered inputs that forward left (kept, or made again by full recomputation). */
  readonly keepGathered: boolean;
  readonly recompute: Recompute;
  /** How the schedule takes backward: in one, in two parts, or either in turns. */
  readonly backward: 'whole' | 'split' | 'either';
  readonly lossChunks: number;
  readonly attention: Job['kernels']['attention'];
  readonly dropout: number;
  /** Element type of weights and activations. */
  readonly type: DType;
  /** Type in which inputs of the products of layers stay for backward: `type`, or the narrow one of a recipe. */
  readonly kept: DType;
  readonly loss: LossPlan;
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
  const kinds = blockKinds(job.model, job.batch.length, layout);
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
    context: layout.context,
    contextKind: layout.contextKind,
    contextHeads: headRanks(layout, headsOfRank(kinds, layout.tensor)),
    sequenceParallel: layout.sequenceParallel && layout.tensor > 1,
    ...(grid && { grid }),
    load: job.routing.imbalance ?? 1,
    keepGathered: layout.keepGathered,
    recompute: layout.recompute,
    backward: backwardOf(layout.schedule),
    lossChunks: layout.lossChunks,
    attention: job.kernels.attention,
    dropout: job.kernels.dropout,
    type: computeType(job.precision),
    kept: keptType(job),
    loss: job.precision === 'fp32' ? 'fp32' : (job.kernels.loss ?? eraOf(frameworks[job.framework]).loss.value),
  };
}

const narrowTypes: Readonly<Record<ProductRecipe, DType>> = {
  'fp8-delayed': 'fp8',
  'fp8-current': 'fp8',
  'fp8-by-row': 'fp8',
  mxfp8: 'mxfp8',
  nvfp4: 'nvfp4',
};

function keptType({ framework, kernels: { products }, precision }: Job): DType {
  const keeps = products !== undefined && frameworks[framework].keepsNarrowInputs.value;
  return keeps ? narrowTypes[products] : computeType(precision);
}

/** Heads of queries, and of keys and values, that a tensor rank has in each kind of layer. */
const headsOfRank = ({ kinds }: BlockKinds, tensor: number): readonly number[] =>
  kinds.flatMap(({ layer: { attention } }) => [attention.heads / tensor, attention.kvHeads / tensor]);

/** Zero-bubble schedules split every backward; DualPipe splits those that would leave others idle. */
export function backwardOf(schedule: Layout['schedule']): BlockContext['backward'] {
  if (!isSplit(schedule)) return 'whole';
  return schedule === 'dualpipe' || schedule === 'dualpipe-v' ? 'either' : 'split';
}

/** The context of the templates of one kind of layer. */
export const contextOfKind = (context: BlockContext, { layer, recompute }: BlockKind): BlockContext => ({
  ...context,
  layer,
  recompute,
  keepGathered: context.keepGathered || recompute === 'full',
});

/** A dim, cut by `axis` when that axis has more than one rank. */
export function dim(label: string, size: number, axis?: string, degree = 1, parts?: readonly number[]): Dim {
  return { label, size, ...(axis !== undefined && degree > 1 && { cut: [axis] }), ...(parts && { parts }) };
}

/** A dim with the axes that cut it, outer first; those of one rank are left out. */
export function cutDim(
  label: string,
  size: number,
  ways: readonly (readonly [axis: string, degree: number])[],
  more: Pick<Dim, 'parts' | 'zigzag'> = {},
): Dim {
  const cut = ways.filter(([, degree]) => degree > 1).map(([axis]) => axis);
  const { parts, zigzag } = more;
  return {
    label,
    size,
    ...(cut.length > 0 && { cut }),
    ...(parts && { parts }),
    ...(zigzag && cut.length > 0 && { zigzag }),
  };
}

/** Which context ranks swap heads, and around which keys and values go: the axis, or groups of it under `hybrid`. */
export const contextGroups = ({
  contextKind,
}: Pick<BlockContext, 'contextKind'>): { readonly swap: string; readonly ring: string } =>
  contextKind === 'hybrid' ? { swap: 'context.heads', ring: 'context.ring' } : { swap: 'context', ring: 'context' };

/** Dims that activations are made of. */
export interface ActivationDims {
  /** Cut over context, and over tensor where the sequence is sharded. */
  readonly s: Dim;
  /** As `s`, but whole over tensor. */
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

/** Whether a dim counts sequences of a micro-batch, or rows of their tokens. */
const followsMicroBatch = ({ label, routed }: Dim): boolean => label === 'b' || routed !== undefined;

/** Dims of a template under so many times the micro-batch; no other dim of {@link activationDims} follows it. */
export const timesMicroBatch = (dims: readonly Dim[], times: number): readonly Dim[] =>
  dims.some(followsMicroBatch)
    ? dims.map((each) => (followsMicroBatch(each) ? { ...each, size: each.size * times } : each))
    : dims;

/** Context ranks take zigzag pieces, of which tensor ranks take shards. */
const sequence = ({ context }: BlockContext, length: number, shards: number): Dim =>
  cutDim(
    's',
    length,
    [
      ['context', context],
      ['tensor', shards],
    ],
    { ...(context > 1 && { zigzag: true }) },
  );

export function activationDims(context: BlockContext): ActivationDims {
  const { model, layer, tensor } = context;
  const { heads, kvHeads, headSize } = layer.attention;
  const parts = [heads * headSize, kvHeads * headSize, kvHeads * headSize];
  const { width, gated } = layer.ffn;
  const fIn = gated ? dim('f', 2 * width, 'tensor', tensor, [width, width]) : dim('f', width, 'tensor', tensor);
  return {
    s: sequence(context, context.length, context.sequenceParallel ? tensor : 1),
    sWhole: sequence(context, context.length, 1),
    sPiece: sequence(context, context.length / context.lossChunks, 1),
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
