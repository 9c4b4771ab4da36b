/** @file Buckets in numbers: what their exchanges take and what they hold, by the rules of compile/lower/containers.ts. */
import {
  type BucketPlan,
  endsApart,
  isMirrored,
  isSharded,
  optimizerTensors,
  type ParameterCounts,
  paddedParts,
  type Replicas,
  reducesEachMicroBatch,
  replicaGroup,
  replicasOfBucket,
  setsGroup,
  shardGroup,
  shardsOfBucket,
  sumsOverEnds,
  sumsOverSets,
} from '../../compile/index.ts';
import type { Prices } from '../../cost/index.ts';
import type { Job } from '../../job/index.ts';
import type { Layout } from '../../layout/index.ts';
import { kernels, type LocalOperand } from '../../program/index.ts';
import { bytesOf, type DType } from '../../tensor/index.ts';
import type { BlockPrices } from '../blocks.ts';
import type { LayerRow } from '../rows.ts';

/** A bucket by its size: where its blocks lie does not matter to its exchanges. */
export type BucketSize = Pick<BucketPlan, 'elements' | 'summed' | 'tied' | 'experts' | 'frozen'>;

/** What a step is worked out from. */
export interface SpecInput {
  readonly job: Job;
  readonly layout: Layout;
  readonly counts: ParameterCounts;
  readonly blocks: BlockPrices;
  /** What each chunk holds, by position in model order. */
  readonly rows: readonly LayerRow[];
  readonly prices: Prices;
  readonly weightType: DType;
}

export interface BucketSpec {
  /** What it holds, without padding. */
  readonly plan: BucketSize;
  readonly gatherSeconds: number;
  /** All-reduce or reduce-scatter over data. */
  readonly reduceSeconds: number;
  /** Sum of the shard over sets of shards, once a step; 0 where nothing is repeated. */
  readonly setsSeconds: number;
  /** Sum over tensor of the leading slice, whole or shard; 0 where there is none. */
  readonly sumSeconds: number;
  /** Sum over both ends, whole or shard. */
  readonly endsSeconds: number;
  /** Its gradients are reduced over its replicas, after every micro-batch or once; its weights are gathered. */
  readonly reduces: boolean;
  readonly reducesEach: boolean;
  readonly gathers: boolean;
  /** Of a gathered copy. */
  readonly weightBytes: number;
  readonly gradientBytes: number;
  /** Waits for the other end, so it is reduced in the tail. */
  readonly inTail: boolean;
  /** Elements with padding, and those of them that one rank's optimizer updates; 0 where they are not trained. */
  readonly elements: number;
  readonly shardElements: number;
  /** Weights, gradients and optimizer state that are there throughout. */
  readonly residentBytes: number;
  /** Where the host updates it: its bytes there, and the seconds of its copies and of its update. */
  readonly host: HostWork | undefined;
}

/** A bucket whose optimizer state lies in host memory. */
export interface HostWork {
  readonly bytes: number;
  readonly outSeconds: number;
  readonly updateSeconds: number;
  readonly inSeconds: number;
}

/** Specs of buckets under one layout; those of equal size share one. */
export function bucketSpecs(input: SpecInput): (size: BucketSize) => BucketSpec {
  const known: BucketSpec[] = [];
  return (size) => {
    for (const spec of known) {
      const { elements, summed, tied, experts, frozen } = spec.plan;
      const same = elements === size.elements && summed === size.summed && tied === size.tied;
      if (same && experts === size.experts && frozen === size.frozen) return spec;
    }
    const spec = bucketSpec(size, input);
    known.push(spec);
    return spec;
  };
}

/** What is not trained: weights, whole or as shards that are gathered. */
function frozenSpec(size: BucketSize, input: SpecInput): BucketSpec {
  const { layout, weightType, prices } = input;
  const elements = paddedParts(size, layout).reduce((sum, part) => sum + part, 0);
  const sharded = isSharded(layout, size);
  const bytes = elements * bytesOf(weightType);
  const { axes, part } = shardGroup(size, layout);
  const kind = 'all-gather';
  return {
    plan: size,
    gatherSeconds: sharded ? prices.exchange({ kind, algorithm: 'ring', bytes, axes, ...(part && { part }) }) : 0,
    reduceSeconds: 0,
    setsSeconds: 0,
    sumSeconds: 0,
    endsSeconds: 0,
    reduces: false,
    reducesEach: false,
    gathers: sharded,
    weightBytes: sharded ? bytes : 0,
    gradientBytes: 0,
    inTail: false,
    elements: 0,
    shardElements: 0,
    residentBytes: sharded ? bytes / shardsOfBucket(size, layout) : bytes,
    host: undefined,
  };
}

function bucketSpec(size: BucketSize, input: SpecInput): BucketSpec {
  if (size.frozen) return frozenSpec(size, input);
  const { job, layout, weightType } = input;
  const parts = paddedParts(size, layout);
  const elements = parts.reduce((sum, part) => sum + part, 0);
  const sharded = isSharded(layout, size);
  const shardElements = sharded ? elements / shardsOfBucket(size, layout) : elements;
  const gradient = bytesOf(layout.gradientType);
  const weight = bytesOf(weightType);
  const { heldWeights, heldGradients } = heldElements(size, elements, shardElements, layout);
  return {
    plan: size,
    ...exchangeSeconds(size, parts, elements, input),
    reduces: replicasOfBucket(size, layout) > 1,
    reducesEach: reducesEachMicroBatch(layout, size),
    gathers: sharded,
    weightBytes: sharded ? elements * weight : 0,
    gradientBytes: elements * gradient,
    inTail: sumsOverEnds(size, layout),
    elements,
    shardElements,
    residentBytes:
      heldWeights * weight +
      heldGradients * gradient +
      (layout.offload === 'optimizer' ? 0 : shardElements * bytesOf('fp32') * optimizerTensors(job).length),
    host: layout.offload === 'optimizer' ? hostWork(input, shardElements) : undefined,
  };
}

/** Gradients go out, state is read and written where it lies, new weights come back. */
function hostWork(input: SpecInput, elements: number): HostWork {
  const { job, layout, prices, weightType } = input;
  const gradients = elements * bytesOf(layout.gradientType);
  const weights = elements * bytesOf(weightType);
  return {
    bytes: gradients + weights + elements * bytesOf('fp32') * optimizerTensors(job).length,
    outSeconds: prices.hostCopy(gradients),
    updateSeconds: optimizerSeconds(input, elements, elements).update,
    inSeconds: prices.hostCopy(weights),
  };
}

function exchangeSeconds(size: BucketSize, parts: readonly number[], elements: number, input: SpecInput) {
  const { layout, prices, weightType } = input;
  const gradient = bytesOf(layout.gradientType);
  const sharded = isSharded(layout, size);
  const shards = sharded ? shardsOfBucket(size, layout) : 1;
  const over = (group: Replicas, kind: 'all-gather' | 'all-reduce' | 'reduce-scatter', bytes: number): number =>
    prices.exchange({ kind, algorithm: 'ring', bytes, axes: group.axes, ...(group.part && { part: group.part }) });
  const sum = (count: number, axes: ['tensor'] | ['pipeline'], members: 'all' | 'ends'): number => {
    const bytes = padded(count, members === 'ends' ? 2 : layout.tensor) * gradient;
    return prices.exchange({ kind: 'all-reduce', algorithm: 'ring', bytes, axes, members });
  };
  // Both ends sum whole gradients before the data axis takes them, mirrored stages what it leaves of them.
  const sumsCopies = isMirrored(layout) || (size.tied && endsApart(layout));
  const summedAsShards = isMirrored(layout) || layout.sharding >= 2;
  const slice = parts.length > 1 ? (parts[0] ?? 0) : size.summed;
  const summed = reducesEachMicroBatch(layout, size) ? Math.ceil(slice / shards) : slice;
  return {
    gatherSeconds: sharded ? over(shardGroup(size, layout), 'all-gather', elements * bytesOf(weightType)) : 0,
    reduceSeconds: sharded
      ? over(shardGroup(size, layout), 'reduce-scatter', elements * gradient)
      : replicasOfBucket(size, layout) > 1
        ? over(replicaGroup(size, layout), 'all-reduce', padded(elements, replicasOfBucket(size, layout)) * gradient)
        : 0,
    setsSeconds: sumsOverSets(layout, size)
      ? over(setsGroup(size, layout), 'all-reduce', padded(elements / shards, layout.replicate) * gradient)
      : 0,
    sumSeconds: size.summed > 0 ? sum(summed, ['tensor'], 'all') : 0,
    endsSeconds: sumsCopies ? sum(summedAsShards ? elements / shards : elements, ['pipeline'], 'ends') : 0,
  };
}

/** Every rank of an exchange has an equal share. */
const padded = (count: number, ranks: number): number => Math.ceil(count / ranks) * ranks;

/** Elements of weights and gradients that are there throughout. */
function heldElements(size: BucketSize, elements: number, shard: number, layout: Layout) {
  if (!isSharded(layout, size)) return { heldWeights: elements, heldGradients: elements };
  const { sharding } = layout;
  // Sharding 1 reduces in place: its shard is a part of the whole gradients.
  const whole = reducesEachMicroBatch(layout, size) ? 0 : elements;
  return {
    heldWeights: sharding === 3 ? shard : elements,
    heldGradients: sharding >= 2 ? shard + whole : elements,
  };
}

/** Seconds of the sum of squares of the gradients, and of the update. */
export interface OptimizerSeconds {
  readonly norm: number;
  readonly update: number;
}

/** What norm and update take on a rank that holds `elements` and updates `shardElements`. */
export function optimizerSeconds(
  { job, layout, prices, weightType }: SpecInput,
  elements: number,
  shardElements: number,
): OptimizerSeconds {
  const local = (dtype: DType, count: number): LocalOperand => ({ dims: [count], dtype, accumulate: false });
  // Of a whole buffer only the part that the gradient covers is written.
  const gradients = local(layout.gradientType, shardElements);
  const weights = local(weightType, elements);
  const state = local('fp32', shardElements * optimizerTensors(job).length);
  const scalar: LocalOperand = { dims: [], dtype: 'fp32', accumulate: false };
  const norm = kernels['square-sum'].work({ reads: [gradients], writes: [scalar], attributes: {} });
  const update = kernels[job.optimizer].work({
    reads: [gradients, scalar, scalar],
    writes: [weights, state],
    attributes: {},
  });
  const seconds =
    layout.offload === 'optimizer'
      ? prices.hostPass(update.bytesRead + update.bytesWritten)
      : prices.compute(update, job.optimizer);
  return { norm: prices.compute(norm, 'square-sum'), update: seconds };
}
