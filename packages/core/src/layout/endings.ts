/** @file The endings of a layout: the choices that stages and micro-batches do not depend on. */
import type { Code } from '../errors/index.ts';
import { bucketWithEffect } from './buckets.ts';
import { type LayoutJob, profileOf } from './job.ts';
import {
  defaultGradientType,
  defaultReduction,
  mostReplicasOf,
  reductionWithEffect,
  replicasOf,
  shardRanksOf,
} from './normal.ts';
import { defaultOverlap, overlapWithEffect, prefetchWithEffect } from './overlap.ts';
import { formatOverrides, keepsSome, noOverrides, overridesWithEffect, recomputeWithEffect } from './overrides.ts';
import { reductionRules } from './rules/degrees.ts';
import { expertSequenceRules } from './rules/experts.ts';
import { firstBroken } from './rules/rule.ts';
import { shardRules } from './rules/shards.ts';
import { sequenceRules } from './rules/tensor.ts';
import type { Layout, LayoutRequest, Recompute, Sharding } from './types.ts';

/** Sequence, recomputation and data axis of a layout. */
export type Ending = Pick<
  Layout,
  | 'sharding'
  | 'replicate'
  | 'prefetch'
  | 'reshard'
  | 'bucketMB'
  | 'gradientReduction'
  | 'overlap'
  | 'offload'
  | 'recompute'
  | 'layers'
  | 'lossChunks'
  | 'sequenceParallel'
  | 'keepGathered'
>;

/** All endings of one shape. */
export interface Endings {
  readonly legal: readonly Ending[];
  readonly rejected: ReadonlyMap<Code, number>;
  /** Legal and rejected ones. */
  readonly count: number;
}

const shardings: readonly Sharding[] = [0, 1, 2, 3];

/** What endings see of the degrees. */
type EndingDegrees = Pick<Layout, 'tensor' | 'pipeline' | 'data' | 'context' | 'expert' | 'expertTensor' | 'order'>;

/** The endings for degrees and a number of micro-batches; equal ones are made once. */
export function endingsFor(
  job: LayoutJob,
  request: LayoutRequest,
): (degrees: EndingDegrees, microBatches: number) => Endings {
  const known = new Map<string, Endings>();
  return (degrees, microBatches) => {
    const { tensor, context, expert, expertTensor } = degrees;
    const held = `${replicasOf(degrees) > 1} ${mostReplicasOf(degrees) > 1}`;
    const sets = replicateChoices(job, request, degrees);
    const name = `${tensor} ${context} ${expert} ${expertTensor} ${held} ${microBatches > 1}${isOne(sets) ? '' : ` ${degrees.data} ${sets}`}`;
    const found = known.get(name);
    if (found) return found;
    const made = makeEndings(job, request, degrees, microBatches, sets);
    known.set(name, made);
    return made;
  };
}

function makeEndings(
  job: LayoutJob,
  request: LayoutRequest,
  degrees: EndingDegrees,
  microBatches: number,
  sets: readonly number[],
): Endings {
  const { tensor, context, expert, expertTensor } = degrees;
  const replicas = mostReplicasOf(degrees);
  const legal: Ending[] = [];
  const rejected = new Map<Code, number>();
  let count = 0;
  for (const block of blockEndings(job, request, tensor)) {
    for (const exchange of dataEndings(job, request, degrees, replicas, sets)) {
      count += 1;
      const broken =
        firstBroken(sequenceRules, job, { tensor, context, ...block }) ??
        firstBroken(expertSequenceRules, job, { tensor, expert, expertTensor, ...block }) ??
        firstBroken(reductionRules, job, { data: replicas, context: 1, ...exchange }) ??
        firstBroken(shardRules, job, { ...degrees, ...exchange });
      if (broken) rejected.set(broken, (rejected.get(broken) ?? 0) + 1);
      else {
        const gradientReduction = reductionWithEffect(exchange.sharding, microBatches, exchange.gradientReduction);
        legal.push({ ...exchange, gradientReduction, offload: request.offload ?? 'none', ...block });
      }
    }
  }
  return { legal, rejected, count };
}

type BlockEnding = Pick<Layout, 'recompute' | 'layers' | 'lossChunks' | 'sequenceParallel' | 'keepGathered'>;

function blockEndings(job: LayoutJob, request: LayoutRequest, tensor: number): readonly BlockEnding[] {
  const kinds: readonly Recompute[] =
    recomputeWithEffect(job, 'selective') === 'selective' ? ['none', 'selective', 'full'] : ['none', 'full'];
  const given = request.recompute === undefined ? kinds : [request.recompute];
  const recomputations = distinct(
    given.map((recompute) => overridesWithEffect(job, { recompute, layers: request.layers ?? noOverrides })),
  );
  // Pieces cost time and save logits: only who asks for them gets them.
  const { lossChunks = 1 } = request;
  const sequences = options(request.sequenceParallel, tensor > 1 ? [true, false] : [false]);
  return sequences.flatMap((sequenceParallel) =>
    recomputations.flatMap((recomputation) => {
      const chooses = sequenceParallel && keepsSome(recomputation);
      const keeps = chooses ? options(request.keepGathered, [false, true]) : [false];
      return keeps.map((keepGathered) => ({ ...recomputation, lossChunks, sequenceParallel, keepGathered }));
    }),
  );
}

/** Where overrides leave no layer to the layout, all its values are one. */
const distinct = (all: readonly Pick<Layout, 'recompute' | 'layers'>[]): typeof all => {
  const texts = all.map(({ recompute, layers }) => `${recompute} ${formatOverrides(layers)}`);
  return all.filter((_, index) => texts.indexOf(texts[index] ?? '') === index);
};

type DataEnding = Pick<
  Layout,
  'sharding' | 'replicate' | 'prefetch' | 'reshard' | 'bucketMB' | 'gradientReduction' | 'overlap'
>;

function dataEndings(
  job: LayoutJob,
  request: LayoutRequest,
  degrees: EndingDegrees,
  replicas: number,
  sets: readonly number[],
): readonly DataEnding[] {
  const { prefetch, bucketMB } = profileOf(job);
  if (replicas === 1) {
    return [
      {
        sharding: 0,
        replicate: 1,
        prefetch: prefetch.value,
        reshard: true,
        bucketMB: bucketMB.value,
        gradientReduction: 'per-step',
        overlap: defaultOverlap(job, 0),
      },
    ];
  }
  const gradientType = request.gradientType ?? defaultGradientType(job);
  const asked = options(request.bucketMB, [25, 100]);
  const sizes = [...new Set(asked.map((size) => bucketWithEffect(job, degrees, gradientType, size)))];
  const whole = sets.every((replicate) => shardRanksOf({ ...degrees, replicate }) === 1);
  const levels = whole ? [0 as const] : options(request.sharding, shardings);
  return levels.flatMap((sharding) => {
    const gradientReduction = request.gradientReduction ?? defaultReduction(sharding);
    const asks = request.overlap ?? defaultOverlap(job, sharding);
    // Whether stages send beside compute is a rule of its own.
    const overlap = overlapWithEffect(job, replicas, { sharding, pipeline: 1, overlap: asks });
    const ahead = sharding === 3 ? unitsAhead(request, asks) : [prefetch.value];
    // Kept weights hold what sharding 2 holds and more: only who asks for them gets them.
    const reshard = sharding < 3 || (request.reshard ?? true);
    const buckets = sharding < 3 ? sizes : [bucketMB.value];
    // Sets of shards save what is exchanged for each micro-batch: gathers, or sums of cut gradients.
    const repeated = sharding === 0 ? [1] : sharding === 1 && !isGiven(request) ? [1] : sets;
    return repeated.flatMap((replicate) =>
      ahead.flatMap((units) =>
        buckets.map((size) => ({
          sharding,
          replicate,
          prefetch: units,
          reshard,
          bucketMB: size,
          gradientReduction,
          overlap,
        })),
      ),
    );
  });
}

/** Units gathered ahead under sharding 3: the given number or a few, none where gathers hold up what comes next. */
const unitsAhead = ({ prefetch }: LayoutRequest, overlap: Layout['overlap']): readonly number[] => [
  ...new Set(options(prefetch, [0, 1, 2]).map((units) => prefetchWithEffect({ prefetch: units, overlap }))),
];

const isOne = (sets: readonly number[]): boolean => sets.length === 1 && sets[0] === 1;

const isGiven = ({ shard, replicate }: LayoutRequest): boolean => shard !== undefined || replicate !== undefined;

/** Numbers of sets of shards: the given one, else one, and as many as make the ranks of a set those of a link domain or a
 * node: what is exchanged most then stays on the faster links. Where a set would be one rank, nothing is cut.
 */
function replicateChoices(job: LayoutJob, request: LayoutRequest, degrees: EndingDegrees): readonly number[] {
  const { data, context } = degrees;
  if (request.replicate !== undefined) return [request.replicate];
  if (request.shard !== undefined) return [data / request.shard];
  const { intra, gpusPerNode } = job.cluster;
  const stride = dataStride(degrees);
  const fitting = [intra.gpus, gpusPerNode]
    .map((ranks) => ranks / stride)
    .filter((shard) => Number.isInteger(shard) && shard < data && data % shard === 0 && shard * context > 1)
    .map((shard) => data / shard);
  return [...new Set([1, ...fitting])];
}

/** Ranks between neighbours of the data axis. */
function dataStride(degrees: EndingDegrees): number {
  const inner = degrees.order.slice(0, degrees.order.indexOf('data'));
  return inner.reduce((stride, axis) => stride * (axis === 'expert' ? 1 : degrees[axis]), 1);
}

/** The given value alone, else all of `open`. */
const options = <Value>(given: Value | undefined, open: readonly Value[]): readonly Value[] =>
  given === undefined ? open : [given];
