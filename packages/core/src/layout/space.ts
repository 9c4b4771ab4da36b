/** @file The space of all legal layouts in normal form: every combination once, built legal instead of filtered, and
 * what was rejected on the way, by code. A grid fixes stages, chunks and micro-batches; its endings fix the rest.
 */
import type { Code, Issue } from '../errors/index.ts';
import { commonDivisors, divisorsOf } from '../mesh/index.ts';
import { checkValues } from './check-values.ts';
import { type Ending, type Endings, endingsFor } from './endings.ts';
import { expertCounts, hasExpertGrid } from './experts.ts';
import { gpusOf, type LayoutJob, profileOf } from './job.ts';
import { defaultChunks, defaultGradientType, microBatchesOf, orderWithEffect } from './normal.ts';
import { defaultOverlap } from './overlap.ts';
import { noOverrides } from './overrides.ts';
import { contextRules } from './rules/context.ts';
import { batchRules, degreeRules, orderRules } from './rules/degrees.ts';
import { expertRules } from './rules/experts.ts';
import { overrideRules } from './rules/overrides.ts';
import { layerRules, overlapRules, scheduleRules } from './rules/pipeline.ts';
import { firstBroken } from './rules/rule.ts';
import { lossRules, tensorRules } from './rules/tensor.ts';
import { balancedSplit, type SplitCosts } from './split.ts';
import type { Layout, LayoutRequest, ScheduleName } from './types.ts';

/** Largest micro-batch that is searched when none is given, in sequences. */
const LARGEST_MICRO_BATCH = 16;

/** Rejected layouts by the first rule that they break. */
export type RejectedLayouts = Readonly<Partial<Record<Code, number>>>;

/** All legal layouts of a job that keep what is given. */
export interface LayoutSpace {
  /** Legal and rejected ones together. */
  readonly considered: number;
  /** Legal ones. */
  readonly legal: number;
  readonly rejected: RejectedLayouts;
  /** The legal ones, distinct and in normal form, made as they are asked for; layouts that differ only in their ending
   * (recomputation, sequence, data axis) follow each other. */
  readonly layouts: () => Iterable<Layout>;
}

/** Degrees, micro-batch and schedule: what is chosen before the endings. */
type Grid = Pick<
  Layout,
  Degrees | Experts | 'contextKind' | 'microBatch' | 'chunks' | 'schedule' | 'layersPerStage' | 'gradientType' | 'order'
>;

type Degrees = 'tensor' | 'pipeline' | 'data' | 'context' | 'contextKind';
type Experts = 'expert' | 'expertTensor';

interface Choice {
  readonly grid: Grid;
  readonly endings: readonly Ending[];
}

/** The space over the keys that `request` leaves open.
 *
 * Degrees: all divisors of the GPUs; context ranks where each keeps 8,192 tokens of a sequence. Micro-batches: all divisors up to 16 sequences. Chunks: all that the layers allow.
 * Buckets 25 and 100 MB, prefetch 0 to 2, weights freed after use, the loss in one. `gradientType`, `gradientReduction` and `order` are the defaults unless
 * given, `layersPerStage` is {@link balancedSplit}. A given value that breaks a rule rejects, it is never changed.
 *
 * `check` says what the job's framework refuses beyond that; without it nothing is refused for a framework's sake. */
export function layoutSpaceOf(
  job: LayoutJob,
  request: LayoutRequest,
  costs: SplitCosts,
  check?: (layout: Layout) => readonly Issue[],
): LayoutSpace {
  const rejected: Partial<Record<Code, number>> = {};
  const choices: Choice[] = [];
  let legal = 0;
  let considered = 0;
  const reject = (code: Code, count: number): void => {
    if (count === 0) return;
    rejected[code] = (rejected[code] ?? 0) + count;
    considered += count;
  };
  const [unusable] = checkValues(request);
  const endingsOf = endingsFor(job, request);
  if (unusable) reject(unusable.code, 1);
  for (const { grid, broken } of unusable ? [] : gridsOf(job, request, costs)) {
    const endings: Endings = endingsOf(grid, microBatchesOf(job, grid));
    if (broken !== undefined) {
      reject(broken, endings.count);
      continue;
    }
    for (const [code, count] of endings.rejected) reject(code, count);
    const allowed = endings.legal.filter((ending) => {
      const refused = check?.(layoutOf(grid, ending))[0]?.code;
      if (refused !== undefined) reject(refused, 1);
      return refused === undefined;
    });
    if (allowed.length > 0) choices.push({ grid, endings: allowed });
    legal += allowed.length;
    considered += allowed.length;
  }
  return { considered, legal, rejected, layouts: () => layoutsOf(choices) };
}

function* layoutsOf(choices: readonly Choice[]): Generator<Layout> {
  for (const { grid, endings } of choices) {
    for (const ending of endings) {
      yield layoutOf(grid, ending);
    }
  }
}

function layoutOf(grid: Grid, ending: Ending): Layout {
  // One literal, so that all layouts have one hidden class; not frozen, which would cost more than building it.
  return {
    tensor: grid.tensor,
    pipeline: grid.pipeline,
    data: grid.data,
    replicate: ending.replicate,
    offload: ending.offload,
    context: grid.context,
    contextKind: grid.contextKind,
    expert: grid.expert,
    expertTensor: grid.expertTensor,
    sharding: ending.sharding,
    prefetch: ending.prefetch,
    reshard: ending.reshard,
    bucketMB: ending.bucketMB,
    gradientType: grid.gradientType,
    gradientReduction: ending.gradientReduction,
    overlap: ending.overlap,
    microBatch: grid.microBatch,
    chunks: grid.chunks,
    layersPerStage: grid.layersPerStage,
    schedule: grid.schedule,
    recompute: ending.recompute,
    layers: ending.layers,
    lossChunks: ending.lossChunks,
    sequenceParallel: ending.sequenceParallel,
    keepGathered: ending.keepGathered,
    order: grid.order,
  };
}

interface CheckedGrid {
  readonly grid: Grid;
  /** The first rule that it breaks whatever its ending is. */
  readonly broken: Code | undefined;
}

function* gridsOf(job: LayoutJob, request: LayoutRequest, costs: SplitCosts): Generator<CheckedGrid> {
  const splits = splitsOf(job, request, costs);
  const usual = profileOf(job).order.value;
  const gradientType = request.gradientType ?? defaultGradientType(job);
  for (const degrees of withExperts(job, degreesOf(job, request), request)) {
    const { pipeline, data } = degrees;
    const requested = { ...degrees, order: request.order ?? usual };
    const brokenDegrees =
      firstBroken(degreeRules, job, degrees) ??
      firstBroken(contextRules, job, degrees) ??
      firstBroken(tensorRules, job, degrees) ??
      firstBroken(lossRules, job, { context: degrees.context, lossChunks: request.lossChunks ?? 1 }) ??
      firstBroken(overrideRules, job, { layers: request.layers ?? noOverrides }) ??
      firstBroken(overlapRules, job, { pipeline, overlap: request.overlap ?? defaultOverlap(job, 0) }) ??
      firstBroken(orderRules, job, requested) ??
      firstBroken(expertRules, job, requested);
    const order = orderWithEffect(requested, usual);
    for (const microBatch of microBatchesFor(job.batch.sequences / data, request)) {
      const brokenBatch = brokenDegrees ?? firstBroken(batchRules, job, { data, microBatch });
      const one = microBatchesOf(job, { data, microBatch }) === 1;
      for (const { chunks, schedule } of schedulesFor(pipeline, job, one, request)) {
        const layersPerStage = splits(pipeline, chunks);
        const grid = { ...degrees, microBatch, chunks, schedule, layersPerStage, gradientType, order };
        const broken = brokenBatch ?? firstBroken(layerRules, job, grid) ?? firstBroken(scheduleRules, job, grid);
        yield { grid, broken };
      }
    }
  }
}

/** Degrees: given ones as they are, the others divisors; data is what they leave unless it is given too. */
function* degreesOf(job: LayoutJob, request: LayoutRequest): Generator<Pick<Layout, Degrees>> {
  const gpus = gpusOf(job);
  const tensors = request.tensor === undefined ? divisorsOf(gpus) : [request.tensor];
  for (const tensor of tensors) {
    const rest = gpus % tensor === 0 ? gpus / tensor : gpus;
    const pipelines = request.pipeline === undefined ? divisorsOf(rest) : [request.pipeline];
    for (const pipeline of pipelines) {
      for (const { context, contextKind } of contextsFor(job, rest / pipeline, request)) {
        const left = gpus / (tensor * pipeline * context);
        const data = request.data ?? Math.max(1, Math.floor(left));
        // With a free degree, a product that misses the GPUs is no candidate; with none, it is what the user must hear.
        const free = request.tensor === undefined || request.pipeline === undefined;
        const fits = tensor * pipeline * data * context === gpus;
        if (fits || !free || isOnlyWay(gpus, request)) yield { tensor, pipeline, data, context, contextKind };
      }
    }
  }
}

/** Degrees with the places of experts: given ones as they are, else all that divide the ranks of a stage. An expert is
 * whole, or cut as tensor cuts everything.
 */
function* withExperts(
  job: LayoutJob,
  all: Iterable<Pick<Layout, Degrees>>,
  request: LayoutRequest,
): Generator<Pick<Layout, Degrees | Experts>> {
  const counts = expertCounts(job);
  if (counts.length === 0) {
    // A given expert degree is refused, not dropped; one inside experts has no effect.
    for (const degrees of all) yield { ...degrees, expert: request.expert ?? 1, expertTensor: degrees.tensor };
    return;
  }
  const experts = request.expert === undefined ? commonDivisors(counts) : [request.expert];
  for (const degrees of all) {
    const { tensor, context, data } = degrees;
    const inside = request.expertTensor === undefined ? [...new Set([1, tensor])] : [request.expertTensor];
    const given = experts.length * inside.length === 1;
    for (const expert of experts) {
      for (const expertTensor of inside) {
        const own = hasExpertGrid({ tensor, expert, expertTensor });
        const fits = !own || (tensor * context * data) % (expert * expertTensor) === 0;
        if (fits || given) yield { ...degrees, expert, expertTensor };
      }
    }
  }
}

/** Context ranks that are worth a look when nobody asks: each keeps at least so many tokens of a sequence. Llama 3 was
 * trained so on 131,072 tokens over 16 ranks; shorter pieces are for who asks for them.
 */
export const TOKENS_OF_CONTEXT_RANK = 8192;

const contextKinds: readonly Layout['contextKind'][] = ['ring', 'all-to-all', 'all-gather', 'hybrid'];

/** Context degrees and kinds: given ones as they are, else those that cut long sequences into long pieces. */
function contextsFor(
  { batch }: LayoutJob,
  ranks: number,
  request: LayoutRequest,
): readonly Pick<Layout, 'context' | 'contextKind'>[] {
  const most = Math.floor(batch.length / TOKENS_OF_CONTEXT_RANK);
  const open =
    most < 2 || !Number.isInteger(ranks) ? [1] : divisorsOf(ranks).filter((each) => each === 1 || each <= most);
  const degrees = request.context === undefined ? open : [request.context];
  const kinds = request.contextKind === undefined ? contextKinds : [request.contextKind];
  return degrees.flatMap((context): readonly Pick<Layout, 'context' | 'contextKind'>[] =>
    context === 1 ? [{ context, contextKind: 'ring' }] : kinds.map((contextKind) => ({ context, contextKind })),
  );
}

/** No choice of the open degrees multiplies to the GPUs: their rejection must be counted. */
const isOnlyWay = (gpus: number, { tensor = 1, pipeline = 1, data = 1, context = 1 }: LayoutRequest): boolean =>
  gpus % (tensor * pipeline * data * context) !== 0;

function microBatchesFor(perRank: number, request: LayoutRequest): readonly number[] {
  if (request.microBatch !== undefined) return [request.microBatch];
  return Number.isInteger(perRank) ? divisorsOf(perRank).filter((each) => each <= LARGEST_MICRO_BATCH) : [1];
}

type Interleaving = Pick<Layout, 'chunks' | 'schedule'>;

/** Schedules and chunks: given ones as they are, else those that never split backward and those that the framework has beside
 * them. Where stages fold, there are two chunks. */
function schedulesFor(pipeline: number, job: LayoutJob, one: boolean, request: LayoutRequest): readonly Interleaving[] {
  const flat: readonly ScheduleName[] = one ? ['1f1b'] : ['naive', 'gpipe', '1f1b'];
  const { schedule } = request;
  if (pipeline === 1) return [{ chunks: request.chunks ?? 1, schedule: schedule ?? 'none' }];
  // All flat schedules are one list for one micro-batch; a given one is counted under its normal form.
  const given = schedule !== undefined && one && flatNames.includes(schedule) ? '1f1b' : schedule;
  const most = Math.floor(job.model.layers.length / pipeline);
  const several = Array.from({ length: Math.max(0, most - 1) }, (_, index) => index + 2);
  const interleaved = given === undefined || given === 'interleaved-1f1b';
  if (request.chunks !== undefined) {
    const names = given !== undefined ? [given] : request.chunks > 1 ? (['interleaved-1f1b'] as const) : flat;
    return names.map((name) => ({ chunks: request.chunks ?? 1, schedule: name }));
  }
  if (given === 'interleaved-1f1b' && several.length === 0) return [{ chunks: 1, schedule: given }];
  return [
    ...(given === undefined ? flat : given === 'interleaved-1f1b' ? [] : [given]).map((name) => ({
      chunks: defaultChunks(pipeline, name),
      schedule: name,
    })),
    ...(given === undefined && most >= 2 ? profileOf(job).splitSchedules.value : []).map((name) => ({
      chunks: 2,
      schedule: name,
    })),
    ...(interleaved ? several : []).map((chunks) => ({ chunks, schedule: 'interleaved-1f1b' as const })),
  ];
}

const flatNames: readonly ScheduleName[] = ['naive', 'gpipe', '1f1b'];

/** Splits by stages and chunks, each made once and shared by all layouts that have it. */
function splitsOf(
  job: LayoutJob,
  request: LayoutRequest,
  costs: SplitCosts,
): (pipeline: number, chunks: number) => readonly number[] {
  const { layersPerStage } = request;
  if (layersPerStage !== undefined) return () => layersPerStage;
  const layers = job.model.layers.length;
  const whole = Object.freeze([layers]);
  const known = new Map<string, readonly number[]>();
  return (pipeline, chunks) => {
    const name = `${pipeline}x${chunks}`;
    const found = known.get(name);
    if (found) return found;
    const split = pipeline * chunks <= layers ? balancedSplit(costs, pipeline, chunks) : whole;
    known.set(name, split);
    return split;
  };
}
