/** @file Parameters of a stage: how tensor parallelism cuts them, and how they lie in buckets. */
import { expertDataOf, hasExpertGrid, type Layout, mostReplicasOf, replicasOf } from '../layout/index.ts';
import type { LayerSpec, ModelSpec, ParameterSpec } from '../model/index.ts';
import { isRoutedExpert, parameterBook } from '../model/index.ts';
import type { Bucket, Group, View } from '../program/index.ts';
import { placementOf } from '../schedules/index.ts';
import { bytesOf, type Degrees, type Dim, localElements } from '../tensor/index.ts';
import { type BlockContext, dim } from './context.ts';

/** Blocks by number: embed is -1, layers 0 .. L-1, head L. */
export const blockNumber = (spec: ParameterSpec, layers: number): number =>
  spec.block === 'embed' ? -1 : spec.block === 'head' ? layers : spec.block;

/** What decides how parameters are cut; with degrees of an expert grid, experts are cut by those. */
export interface TensorChoice {
  readonly tensor: number;
  readonly sequenceParallel: boolean;
  /** Absent: experts lie as tensor cuts everything. */
  readonly expert?: number;
  readonly expertTensor?: number;
}

const hasGrid = ({ tensor, expert = 1, expertTensor = tensor }: TensorChoice): boolean =>
  hasExpertGrid({ tensor, expert, expertTensor });

/** The parameter lies over the expert grid, not over the dense one. */
const isApart = (spec: ParameterSpec, choice: TensorChoice): boolean => hasGrid(choice) && isRoutedExpert(spec);

/** Global dims of a parameter with the cuts of its grid. */
function parameterDims(spec: ParameterSpec, choice: TensorChoice): readonly Dim[] {
  if (!isApart(spec, choice)) {
    return spec.dims.map((each) => dim(each.label, each.size, each.tensor && 'tensor', choice.tensor, each.parts));
  }
  return spec.dims.map((each, index) =>
    index === 0
      ? dim(each.label, each.size, 'expert', choice.expert ?? 1)
      : dim(each.label, each.size, each.tensor && 'expertTensor', choice.expertTensor ?? 1, each.parts),
  );
}

/** Whole, and in part on each rank whatever the sequence is: the router by experts' slices, these norms by heads. */
const alwaysSummed: readonly string[] = ['router.w', 'router.b', 'shared.gate.w', 'qn.w', 'kn.w'];

/** Whole, and complete on each rank whatever the sequence is: each knows all of what comes out of every expert. */
const neverSummed: readonly string[] = ['router.c', 'experts.fc2.b'];

/** The gradient is partial over tensor: the parameter is whole, but each rank sees a part of what it is used for. */
export function isSummed(spec: ParameterSpec, choice: TensorChoice): boolean {
  if (choice.tensor === 1 || isApart(spec, choice) || spec.dims.some((each) => each.tensor)) return false;
  if (neverSummed.includes(spec.name) && !hasGrid(choice)) return false;
  return choice.sequenceParallel || alwaysSummed.includes(spec.name);
}

/** Elements of one rank by block: what `summed` slices and buckets are made of. */
export interface BlockCount {
  readonly summed: number;
  readonly rest: number;
  /** Of experts over a grid of their own, which are in neither of the others. */
  readonly experts?: number;
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

const degreesOfChoice =
  (choice: TensorChoice): Degrees =>
  (axis) =>
    axis === 'tensor' || axis === 'expert' || axis === 'expertTensor' ? (choice[axis] ?? 1) : 1;

/** The parameters of each block of a model. */
type BlockParameters = ReturnType<typeof parameterBook>;

/** Counts by block for one tensor choice. `parameters` serves all choices of a model. */
export function parameterCounts(
  model: ModelSpec,
  choice: TensorChoice,
  parameters: BlockParameters = parameterBook(model),
): ParameterCounts {
  const degrees = degreesOfChoice(choice);
  const count = (specs: readonly ParameterSpec[]): BlockCount => {
    let summed = 0;
    let rest = 0;
    let experts = 0;
    for (const spec of specs) {
      const size = localElements(parameterDims(spec, choice), degrees);
      if (isApart(spec, choice)) experts += size;
      else if (isSummed(spec, choice)) summed += size;
      else rest += size;
    }
    return { summed, rest, ...(experts > 0 && { experts }) };
  };
  const isTied = (spec: ParameterSpec): boolean => model.tied && spec.name === 'wte';
  const ends = (['embed', 'head'] as const).flatMap(parameters);
  const known = new Map<LayerSpec, BlockCount>();
  const layers = model.layers.map((layer, index) => {
    const found = known.get(layer) ?? count(parameters(index));
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
  /** Holds experts over a grid of their own: its replicas are the expert data ranks. */
  readonly experts?: true;
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
 * nothing to reduce in pieces: one bucket. The tied matrix is always by itself, so that both ends cut it alike, and so
 * are experts over a grid of their own, in buckets by the same rule: they have other replicas.
 */
export function planBuckets(
  chunks: readonly ChunkBlocks[],
  counts: ParameterCounts,
  layers: number,
  layout: Layout,
): readonly BucketPlan[] {
  const countOf = (block: number): BlockCount => (block < 0 ? counts.embed : (counts.layers[block] ?? counts.head));
  const alone = mostReplicasOf(layout) === 1;
  const plansOf = (sizeOf: (block: number) => number, experts: boolean): readonly BucketPlan[] => {
    const kept = chunks.map((blocks) => (experts ? blocks.filter((block) => sizeOf(block) > 0) : blocks));
    const groups = alone ? [kept.flat()] : kept.flatMap((blocks) => groupBlocks(blocks, sizeOf, layout));
    const named = (blocks: readonly number[], index: number): string => {
      if (layout.sharding !== 3 || alone) return `b${index}`;
      const [block = 0] = blocks;
      return block < 0 ? 'embed' : block >= layers ? 'head' : `L${block}`;
    };
    return groups
      .map((blocks) => blocks.filter((block) => sizeOf(block) > 0))
      .filter((blocks) => blocks.length > 0)
      .map(
        (blocks, index): BucketPlan => ({
          name: experts ? `${named(blocks, index)}.experts` : named(blocks, index),
          blocks,
          tied: false,
          ...(experts && { experts }),
          elements: blocks.reduce((sum, block) => sum + sizeOf(block), 0),
          summed: experts ? 0 : blocks.reduce((sum, block) => sum + countOf(block).summed, 0),
          readyBlock: Math.min(...blocks),
          firstBlock: Math.min(...blocks),
        }),
      );
  };
  const dense = plansOf((block) => total(countOf(block)), false);
  return [...tiedBucket(chunks, counts, layers), ...dense, ...plansOf((block) => countOf(block).experts ?? 0, true)];
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
  sizeOf: (block: number) => number,
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
    size += sizeOf(block) * bytesOf(layout.gradientType);
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
export function sampleBuckets(
  context: BlockContext,
  parameters: BlockParameters = parameterBook(context.model),
): readonly Bucket[] {
  const { model, tensor, sequenceParallel, grid } = context;
  const choice = { tensor, sequenceParallel, expert: grid?.expert ?? 1, expertTensor: grid?.expertTensor ?? tensor };
  const counts = parameterCounts(model, choice, parameters);
  const named: readonly (readonly [string, number, BlockCount])[] = [
    ['embed', -1, counts.embed],
    ...counts.layers.map((count, index) => [`L${index}`, index, count] as const),
    ['head', counts.layers.length, counts.head],
  ];
  const own = named.flatMap(([name, block, count]): readonly BucketPlan[] => [
    { name, blocks: [block], tied: false, ...sizes(count), ...at(block) },
    {
      name: `${name}.experts`,
      blocks: [block],
      tied: false,
      experts: true,
      elements: count.experts ?? 0,
      summed: 0,
      ...at(block),
    },
  ]);
  const tied = counts.tied
    ? [{ name: 'tied', blocks: [], tied: true, ...sizes(counts.tied), ...at(-1) } satisfies BucketPlan]
    : [];
  const alone = { context: 1, sharding: 0, data: 1, replicate: 1, pipeline: 1, schedule: 'none' } as const;
  const whole = { ...choice, ...alone };
  return [...tied, ...own]
    .filter(({ elements }) => elements > 0)
    .map((plan) => writeBucket(plan, model, whole, 0, parameters));
}

const sizes = (count: BlockCount) => ({ elements: total(count), summed: count.summed });
const at = (block: number) => ({ readyBlock: block, firstBlock: block });

/** Keys of a layout that say which ranks hold the same; all but data matter to experts over their own grid only. */
type ReplicaKeys = Pick<Layout, 'tensor' | 'context' | 'data' | 'replicate' | 'expert' | 'expertTensor'>;
type BucketReplicas = Pick<Layout, 'data'> & Partial<ReplicaKeys>;
type BucketKind = Pick<BucketPlan, 'experts'>;

/** The embedding and the head stand on different stages: where these fold, both are on the first one. */
export const endsApart = ({ pipeline, schedule }: Pick<Layout, 'pipeline' | 'schedule'>): boolean =>
  pipeline > 1 && placementOf(schedule) === 'line';

/** The stages that hold the same bucket as `stage`, where there are several: the ends share a tied matrix; where two copies
 * of the model run against each other, stage i holds all that stage p - 1 - i holds.
 */
export function copiesOf(
  { tied }: Pick<BucketPlan, 'tied'>,
  { pipeline, schedule }: Pick<Layout, 'pipeline' | 'schedule'>,
  stage: number,
): Group | undefined {
  const along = 'pipeline';
  if (isMirrored({ pipeline, schedule })) {
    const near = Math.min(stage, pipeline - 1 - stage);
    return { name: `copies${near}`, along, coordinates: [near, pipeline - 1 - near] };
  }
  return tied && endsApart({ pipeline, schedule })
    ? { name: 'ends', along, coordinates: [0, pipeline - 1] }
    : undefined;
}

/** Two copies of the model in opposite order. */
export const isMirrored = ({ pipeline, schedule }: Pick<Layout, 'pipeline' | 'schedule'>): boolean =>
  pipeline > 1 && placementOf(schedule) === 'mirror';

/** Ranks that hold the same bucket: those of data and context, or of the expert grid's own axis. */
export function replicasOfBucket({ experts }: BucketKind, layout: BucketReplicas): number {
  // Field by field: a search asks some million times, and a copy of the layout for each is most of its garbage.
  const { data, context = 1, tensor = 1, expert = 1, expertTensor = tensor } = layout;
  return experts ? expertDataOf({ data, context, tensor, expert, expertTensor }) : replicasOf({ data, context });
}

/** Ranks that one set of shards of a bucket is cut over; all its replicas where nothing is repeated. */
export const shardsOfBucket = (bucket: BucketKind, layout: BucketReplicas): number =>
  replicasOfBucket(bucket, layout) / (layout.replicate ?? 1);

/** Elements with the padding that an even cut over data needs; the summed prefix is padded by itself when it is cut. */
export function paddedParts(
  bucket: Pick<BucketPlan, 'elements' | 'summed' | 'experts'>,
  layout: BucketReplicas & Pick<Layout, 'sharding'>,
): readonly number[] {
  const shard = layout.sharding > 0 ? shardsOfBucket(bucket, layout) : 1;
  const pad = (count: number): number => Math.ceil(count / shard) * shard;
  const apart = layout.sharding >= 2 && bucket.summed > 0 && bucket.summed < bucket.elements;
  return apart ? [pad(bucket.summed), pad(bucket.elements - bucket.summed)] : [pad(bucket.elements)];
}

/** The keys of a layout that decide how a bucket lies. */
export type BucketLayout = ReplicaKeys & Pick<Layout, 'sequenceParallel' | 'sharding' | 'pipeline' | 'schedule'>;

/** Writes a bucket's views out as `stage` holds them: parameters to be summed over tensor first, each kind in model order. */
export function writeBucket(
  plan: BucketPlan,
  model: ModelSpec,
  layout: BucketLayout,
  stage: number,
  parameters: BlockParameters = parameterBook(model),
): Bucket {
  const layers = model.layers.length;
  const degrees = degreesOfChoice(layout);
  const mine = (plan.tied ? [-1] : plan.blocks)
    .flatMap((block) => parameters(block < 0 ? 'embed' : block >= layers ? 'head' : block))
    .filter(
      (spec) => (model.tied && spec.name === 'wte') === plan.tied && isApart(spec, layout) === (plan.experts ?? false),
    );
  const copies = copiesOf(plan, layout, stage);
  const parts = paddedParts(plan, layout);
  const summedEnd = parts.length > 1 ? (parts[0] ?? 0) : plan.summed;
  let summedOffset = 0;
  let restOffset = summedEnd;
  const views = mine.map((spec): View => {
    const dims = parameterDims(spec, layout);
    const size = localElements(dims, degrees);
    const summed = isSummed(spec, layout);
    const offset = summed ? summedOffset : restOffset;
    if (summed) summedOffset += size;
    else restOffset += size;
    return {
      name: spec.name,
      block: blockNumber(spec, layers),
      offset,
      dims,
      tensors: spec.tensors,
      decay: spec.decay,
      counted: countedOn(spec, plan, layout, copies),
    };
  });
  return {
    name: plan.name,
    elements: plan.elements,
    summed: summedEnd,
    views: [...views].sort((a, b) => a.offset - b.offset),
    ...(copies && { copies: copies.name }),
  };
}

/** Where the norm counts a parameter: once among ranks that hold the same. With an expert grid the norm is summed over all
 * ranks of a stage, so replicas count too: who is not sharded counts on the first of them.
 */
function countedOn(
  spec: ParameterSpec,
  plan: BucketPlan,
  layout: BucketLayout,
  copies: Group | undefined,
): View['counted'] {
  const first = (axis: View['counted'][number]['axis'], when: boolean): View['counted'] =>
    when ? [{ axis, coordinate: 0 }] : [];
  const uncut = !spec.dims.some((each) => each.tensor);
  const whole = layout.tensor > 1 && !plan.experts && uncut;
  const repeated = hasExpertGrid(layout) && layout.sharding === 0 && replicasOfBucket(plan, layout) > 1;
  return [
    ...first('tensor', whole),
    ...first('expertTensor', plan.experts === true && layout.expertTensor > 1 && uncut),
    ...first('expertData', repeated && plan.experts === true),
    ...first('data', repeated && !plan.experts && layout.data > 1),
    ...first('context', repeated && !plan.experts && layout.context > 1),
    ...(copies ? [{ axis: copies.along, coordinate: copies.coordinates[0] as number }] : []),
  ];
}
