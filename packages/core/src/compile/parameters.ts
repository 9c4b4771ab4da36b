/** @file Parameters of a stage: how tensor parallelism cuts them, and how they lie in buckets. */
import { expertDataOf, hasExpertGrid, type Layout, replicasOf } from '../layout/index.ts';
import type { LayerSpec, ModelSpec, ParameterSpec } from '../model/index.ts';
import { isRoutedExpert, parameterBook } from '../model/index.ts';
import type { Bucket, Group, View } from '../program/index.ts';
import { placementOf } from '../schedules/index.ts';
import { type Degrees, type Dim, localElements } from '../tensor/index.ts';
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

/** The half of an adapter that tensor ranks do not cut meets the half that they do. */
const isAdapter = ({ name }: ParameterSpec): boolean => /\.[AB]$/.test(name);

/** Whole, and complete on each rank whatever the sequence is: each knows all of what comes out of every expert. */
const neverSummed: readonly string[] = ['router.c', 'experts.fc2.b'];

/** The gradient is partial over tensor: the parameter is whole, but each rank sees a part of what it is used for. */
export function isSummed(spec: ParameterSpec, choice: TensorChoice): boolean {
  if (choice.tensor === 1 || isApart(spec, choice) || spec.dims.some((each) => each.tensor)) return false;
  if (spec.frozen || (neverSummed.includes(spec.name) && !hasGrid(choice))) return false;
  return choice.sequenceParallel || alwaysSummed.includes(spec.name) || isAdapter(spec);
}

/** Elements of one rank by block: what `summed` slices and buckets are made of. */
export interface BlockCount {
  readonly summed: number;
  readonly rest: number;
  /** Of experts over a grid of their own, which are in neither of the others. */
  readonly experts?: number;
  /** Of what is not trained, which is in none of the others; and of such experts over a grid of their own. */
  readonly frozen?: number;
  readonly frozenExperts?: number;
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
    let frozen = 0;
    let frozenExperts = 0;
    for (const spec of specs) {
      const size = localElements(parameterDims(spec, choice), degrees);
      if (isApart(spec, choice)) spec.frozen ? (frozenExperts += size) : (experts += size);
      else if (spec.frozen) frozen += size;
      else if (isSummed(spec, choice)) summed += size;
      else rest += size;
    }
    return {
      summed,
      rest,
      ...(experts > 0 && { experts }),
      ...(frozen > 0 && { frozen }),
      ...(frozenExperts > 0 && { frozenExperts }),
    };
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
  /** Its parameters are not trained. */
  readonly frozen?: true;
  /** Its blocks have a trained bucket beside it. */
  readonly beside?: true;
  readonly elements: number;
  readonly summed: number;
  /** The block whose backward completes the bucket's gradients: the lowest one that contributes on this stage. */
  readonly readyBlock: number;
  /** The block whose forward reads it first. */
  readonly firstBlock: number;
}

/** Elements of the rank that are trained, experts over a grid of their own left out. */
export const total = (count: BlockCount): number => count.summed + count.rest;

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
  const own = named.flatMap(([name, block, count]): readonly BucketPlan[] => {
    const { experts = 0, frozen = 0, frozenExperts = 0 } = count;
    const plain = { blocks: [block], tied: false, summed: 0, ...at(block) };
    const beside = total(count) > 0;
    return [
      { ...plain, name, ...sizes(count) },
      { ...plain, name: beside ? `${name}.frozen` : name, frozen: true, elements: frozen },
      { ...plain, name: `${name}.experts`, experts: true, elements: experts },
      { ...plain, name: `${name}.experts`, experts: true, frozen: true, elements: frozenExperts },
    ];
  });
  const tied = counts.tied
    ? [
        {
          name: 'tied',
          blocks: [],
          tied: true,
          ...(counts.tied.frozen && { frozen: true as const }),
          ...sizes(counts.tied),
          elements: counts.tied.frozen ?? total(counts.tied),
          ...at(-1),
        } satisfies BucketPlan,
      ]
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
  bucket: Pick<BucketPlan, 'elements' | 'summed' | 'experts' | 'frozen'>,
  layout: BucketReplicas & Pick<Layout, 'sharding'>,
): readonly number[] {
  const shard = layout.sharding > (bucket.frozen ? 2 : 0) ? shardsOfBucket(bucket, layout) : 1;
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
      (spec) =>
        (model.tied && spec.name === 'wte') === plan.tied &&
        isApart(spec, layout) === (plan.experts ?? false) &&
        (spec.frozen ?? false) === (plan.frozen ?? false),
    );
  const copies = plan.frozen ? undefined : copiesOf(plan, layout, stage);
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
      counted: plan.frozen ? [] : countedOn(spec, plan, layout, copies),
    };
  });
  return {
    name: plan.name,
    elements: plan.elements,
    summed: summedEnd,
    views: [...views].sort((a, b) => a.offset - b.offset),
    ...(plan.frozen && { frozen: true as const }),
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
