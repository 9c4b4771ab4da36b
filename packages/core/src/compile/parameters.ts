/** @file Parameters of a stage: how tensor parallelism cuts them, and how they lie in buckets. */
import type { Layout } from '../layout/index.ts';
import type { LayerSpec, ModelSpec, ParameterSpec } from '../model/index.ts';
import { blockParameters } from '../model/index.ts';
import type { Bucket, View } from '../program/index.ts';
import { bytesOf, type Degrees, type Dim, localElements } from '../tensor/index.ts';
import { type BlockContext, dim } from './context.ts';

/** Blocks by number: embed is -1, layers 0 .. L-1, head L. */
export const blockNumber = (spec: ParameterSpec, layers: number): number =>
  spec.block === 'embed' ? -1 : spec.block === 'head' ? layers : spec.block;

export interface TensorChoice {
  readonly tensor: number;
  readonly sequenceParallel: boolean;
}

/** Global dims of a parameter with the cuts of tensor parallelism. */
const parameterDims = (spec: ParameterSpec, tensor: number): readonly Dim[] =>
  spec.dims.map((each) => dim(each.label, each.size, each.tensor && 'tensor', tensor, each.parts));

/** Whole, and in part on each rank whatever the sequence is: the router by experts' slices, these norms by heads. */
const alwaysSummed: readonly string[] = ['router.w', 'qn.w', 'kn.w'];

/** The gradient is partial over tensor: the parameter is whole, but each rank sees a part of what it is used for. */
export function isSummed(spec: ParameterSpec, choice: TensorChoice): boolean {
  if (choice.tensor === 1 || spec.dims.some((each) => each.tensor)) return false;
  return choice.sequenceParallel || alwaysSummed.includes(spec.name);
}

/** Elements of one rank by block: what `summed` slices and buckets are made of. */
export interface BlockCount {
  readonly summed: number;
  readonly rest: number;
}

export interface ParameterCounts {
  /** Without the tied matrix. */
  readonly embed: BlockCount;
  /** Layer by layer; layers of one shape share one. */
  readonly layers: readonly BlockCount[];
  readonly head: BlockCount;
  /** The embedding matrix where the head shares it; it has a bucket of its own. */
  readonly tied: BlockCount | undefined;
}

const tensorDegrees =
  (tensor: number): Degrees =>
  (axis) =>
    axis === 'tensor' ? tensor : 1;

/** Counts by block for one tensor choice. */
export function parameterCounts(model: ModelSpec, choice: TensorChoice): ParameterCounts {
  const degrees = tensorDegrees(choice.tensor);
  const count = (specs: readonly ParameterSpec[]): BlockCount => {
    let summed = 0;
    let rest = 0;
    for (const spec of specs) {
      const size = localElements(parameterDims(spec, choice.tensor), degrees);
      if (isSummed(spec, choice)) summed += size;
      else rest += size;
    }
    return { summed, rest };
  };
  const isTied = (spec: ParameterSpec): boolean => model.tied && spec.name === 'wte';
  const ends = (['embed', 'head'] as const).flatMap((block) => blockParameters(model, block));
  const known = new Map<LayerSpec, BlockCount>();
  const layers = model.layers.map((layer, index) => {
    const found = known.get(layer) ?? count(blockParameters(model, index));
    known.set(layer, found);
    return found;
  });
  return {
    embed: count(ends.filter((spec) => spec.block === 'embed' && !isTied(spec))),
    layers,
    head: count(ends.filter((spec) => spec.block === 'head')),
    tied: model.tied ? count(ends.filter(isTied)) : undefined,
  };
}

/** A bucket before its views are written out: which blocks' parameters it holds. */
export interface BucketPlan {
  readonly name: string;
  /** Blocks in model order; empty for the tied matrix. */
  readonly blocks: readonly number[];
  readonly tied: boolean;
  readonly elements: number;
  readonly summed: number;
  /** The block whose backward completes the bucket's gradients: the lowest one that contributes on this stage. */
  readonly readyBlock: number;
  /** The block whose forward reads it first. */
  readonly firstBlock: number;
}

/** Blocks of one chunk in model order, embed and head included where they stand on it. */
export type ChunkBlocks = readonly number[];

/** The buckets of a stage.
 *
 * Sharding 3: one for each block. Else a bucket takes blocks in the order in which backward completes them until its
 * gradients reach `bucketMB`; it never reaches over a chunk, and a block is never split. Without a data axis there is
 * nothing to reduce in pieces: one bucket. The tied matrix is always by itself, so that both ends cut it alike.
 */
export function planBuckets(
  chunks: readonly ChunkBlocks[],
  counts: ParameterCounts,
  layers: number,
  layout: Layout,
): readonly BucketPlan[] {
  const countOf = (block: number): BlockCount => (block < 0 ? counts.embed : (counts.layers[block] ?? counts.head));
  const groups = layout.data === 1 ? [chunks.flat()] : chunks.flatMap((blocks) => groupBlocks(blocks, countOf, layout));
  const named = (blocks: readonly number[], index: number): string => {
    if (layout.sharding !== 3 || layout.data === 1) return `b${index}`;
    const [block = 0] = blocks;
    return block < 0 ? 'embed' : block >= layers ? 'head' : `L${block}`;
  };
  const plans = groups
    .map((blocks) => blocks.filter((block) => total(countOf(block)) > 0))
    .filter((blocks) => blocks.length > 0)
    .map((blocks, index): BucketPlan => {
      const parts = blocks.map(countOf);
      return {
        name: named(blocks, index),
        blocks,
        tied: false,
        elements: parts.reduce((sum, part) => sum + total(part), 0),
        summed: parts.reduce((sum, part) => sum + part.summed, 0),
        readyBlock: Math.min(...blocks),
        firstBlock: Math.min(...blocks),
      };
    });
  return [...tiedBucket(chunks, counts, layers), ...plans];
}

function tiedBucket(chunks: readonly ChunkBlocks[], counts: ParameterCounts, layers: number): readonly BucketPlan[] {
  if (counts.tied === undefined) return [];
  const ends = chunks.flat().filter((block) => block < 0 || block >= layers);
  if (ends.length === 0) return [];
  return [
    {
      name: 'tied',
      blocks: [],
      tied: true,
      elements: total(counts.tied),
      summed: counts.tied.summed,
      readyBlock: Math.min(...ends),
      firstBlock: Math.min(...ends),
    },
  ];
}

function groupBlocks(
  blocks: ChunkBlocks,
  countOf: (block: number) => BlockCount,
  layout: Layout,
): readonly (readonly number[])[] {
  if (layout.sharding === 3) return blocks.map((block) => [block]);
  const limit = layout.bucketMB * 1e6;
  const groups: number[][] = [];
  let current: number[] = [];
  let size = 0;
  for (let index = blocks.length - 1; index >= 0; index--) {
    const block = blocks[index] ?? 0;
    current.unshift(block);
    size += total(countOf(block)) * bytesOf(layout.gradientType);
    if (size >= limit) {
      groups.push(current);
      current = [];
      size = 0;
    }
  }
  if (current.length > 0) groups.push(current);
  return groups;
}

const total = (count: BlockCount): number => count.summed + count.rest;

/** The buckets of one embedding, a layer of each kind and one head, each by itself: what a sample of all templates reads. */
export function sampleBuckets(context: BlockContext): readonly Bucket[] {
  const { model, tensor, sequenceParallel } = context;
  const choice = { tensor, sequenceParallel };
  const counts = parameterCounts(model, choice);
  const named: readonly (readonly [string, number, BlockCount])[] = [
    ['embed', -1, counts.embed],
    ...counts.layers.map((count, index) => [`L${index}`, index, count] as const),
    ['head', counts.layers.length, counts.head],
  ];
  const own = named
    .filter(([, , count]) => total(count) > 0)
    .map(([name, block, count]): BucketPlan => ({ name, blocks: [block], tied: false, ...sizes(count), ...at(block) }));
  const tied = counts.tied
    ? [{ name: 'tied', blocks: [], tied: true, ...sizes(counts.tied), ...at(-1) } satisfies BucketPlan]
    : [];
  return [...tied, ...own].map((plan) => writeBucket(plan, model, { ...choice, sharding: 0, data: 1, pipeline: 1 }));
}

const sizes = (count: BlockCount) => ({ elements: total(count), summed: count.summed });
const at = (block: number) => ({ readyBlock: block, firstBlock: block });

/** Elements with the padding that an even cut over data needs; the summed prefix is padded by itself when it is cut. */
export function paddedParts(
  bucket: { elements: number; summed: number },
  layout: Pick<Layout, 'sharding' | 'data'>,
): readonly number[] {
  const shard = layout.sharding > 0 ? layout.data : 1;
  const pad = (count: number): number => Math.ceil(count / shard) * shard;
  const apart = layout.sharding >= 2 && bucket.summed > 0 && bucket.summed < bucket.elements;
  return apart ? [pad(bucket.summed), pad(bucket.elements - bucket.summed)] : [pad(bucket.elements)];
}

/** The keys of a layout that decide how a bucket lies. */
export type BucketLayout = Pick<Layout, 'tensor' | 'sequenceParallel' | 'sharding' | 'data' | 'pipeline'>;

/** Writes a bucket's views out: parameters to be summed over tensor first, each kind in model order. */
export function writeBucket(plan: BucketPlan, model: ModelSpec, layout: BucketLayout): Bucket {
  const choice = { tensor: layout.tensor, sequenceParallel: layout.sequenceParallel };
  const layers = model.layers.length;
  const degrees = tensorDegrees(layout.tensor);
  const mine = (plan.tied ? [-1] : plan.blocks)
    .flatMap((block) => blockParameters(model, block < 0 ? 'embed' : block >= layers ? 'head' : block))
    .filter((spec) => (model.tied && spec.name === 'wte') === plan.tied);
  const parts = paddedParts(plan, layout);
  const summedEnd = parts.length > 1 ? (parts[0] ?? 0) : plan.summed;
  let summedOffset = 0;
  let restOffset = summedEnd;
  const views = mine.map((spec): View => {
    const dims = parameterDims(spec, layout.tensor);
    const size = localElements(dims, degrees);
    const summed = isSummed(spec, choice);
    const offset = summed ? summedOffset : restOffset;
    if (summed) summedOffset += size;
    else restOffset += size;
    const whole = layout.tensor > 1 && !spec.dims.some((each) => each.tensor);
    return {
      name: spec.name,
      block: blockNumber(spec, layers),
      offset,
      dims,
      tensors: spec.tensors,
      decay: spec.decay,
      counted: [
        ...(whole ? [{ axis: 'tensor' as const, coordinate: 0 }] : []),
        ...(plan.tied && layout.pipeline > 1 ? [{ axis: 'pipeline' as const, coordinate: 0 }] : []),
      ],
    };
  });
  const copies = plan.tied && layout.pipeline > 1;
  return {
    name: plan.name,
    elements: plan.elements,
    summed: summedEnd,
    views: [...views].sort((a, b) => a.offset - b.offset),
    ...(copies && { copies: 'ends' }),
  };
}
