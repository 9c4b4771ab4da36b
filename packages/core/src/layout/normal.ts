/** @file Normal form: of layouts that compute, keep and send the same, one stands for all. */
import { type DenseAxis, defaultOrder } from '../mesh/index.ts';
import { bucketWithEffect } from './buckets.ts';
import { type ExpertKeys, expertCounts, expertDataOf, hasExpertGrid } from './experts.ts';
import { type LayoutJob, profileOf } from './job.ts';
import { overlapWithEffect, prefetchWithEffect } from './overlap.ts';
import { keepsSome, overridesWithEffect } from './overrides.ts';
import { isFolded, isSplitSchedule } from './placement.ts';
import type { GradientReduction, Layout, ScheduleName, Sharding } from './types.ts';

/** Most micro-batches of a step: what schedules can number. */
export const MOST_MICRO_BATCHES: number = 2 ** 19;

/** Micro-batches of a step; a whole number for a legal layout. */
export const microBatchesOf = (job: LayoutJob, layout: Pick<Layout, 'data' | 'microBatch'>): number =>
  job.batch.sequences / (layout.data * layout.microBatch);

/** Ranks that hold the same dense parameters: they take different sequences, or different parts of one. */
export const replicasOf = ({ data, context }: Pick<Layout, 'data' | 'context'>): number => data * context;

/** Ranks that one set of shards is cut over, of parameters that lie as the dense grid does. */
export const shardRanksOf = ({ data, replicate, context }: Pick<Layout, 'data' | 'replicate' | 'context'>): number =>
  (data / replicate) * context;

/** The most ranks that hold the same parameters, be they dense or experts': what sharding and reductions are about. */
export const mostReplicasOf = (layout: ExpertKeys): number =>
  hasExpertGrid(layout) ? Math.max(replicasOf(layout), expertDataOf(layout)) : replicasOf(layout);

/** Without experts there is nothing to deal out, and nothing that is cut otherwise than by tensor. */
export const expertsWithEffect = (
  job: LayoutJob,
  { tensor, expert, expertTensor }: Pick<Layout, 'tensor' | 'expert' | 'expertTensor'>,
): Pick<Layout, 'expert' | 'expertTensor'> =>
  expertCounts(job).length === 0 ? { expert: 1, expertTensor: tensor } : { expert, expertTensor };

/** The degree inside an expert when nobody chooses. */
export const defaultExpertTensor = (job: LayoutJob, tensor: number, expert: number): number =>
  expert > 1 && profileOf(job).expertTensor.value === 'one' ? 1 : tensor;

/** The element type of gradients when nobody chooses. */
export const defaultGradientType = (job: LayoutJob): Layout['gradientType'] =>
  job.precision === 'bf16' ? profileOf(job).gradientType.value : 'fp32';

/** The layout with every key that has no effect at its default.
 *
 * Without data or context ranks nothing is sharded or reduced; one stage has no schedule and no chunks; one tensor rank has no
 * sequence shards; with one micro-batch all schedules that do not split backward are the same list and per-step is per micro-batch; blockwise
 * attention never writes the scores that selective recomputation drops; buckets hold whole blocks. Idempotent. */
export function normalizeLayout(job: LayoutJob, layout: Layout): Layout {
  const profile = profileOf(job);
  const { tensor, pipeline, data, context } = layout;
  const { expert, expertTensor } = expertsWithEffect(job, layout);
  const replicas = mostReplicasOf({ tensor, data, context, expert, expertTensor });
  const sharding = shardRanksOf(layout) > 1 ? layout.sharding : 0;
  const chunks = pipeline > 1 ? layout.chunks : 1;
  const microBatches = microBatchesOf(job, layout);
  const { recompute, layers } = overridesWithEffect(job, layout);
  const sequenceParallel = tensor > 1 && layout.sequenceParallel;
  return {
    tensor,
    pipeline,
    data,
    replicate: sharding > 0 ? layout.replicate : 1,
    context,
    contextKind: context > 1 ? layout.contextKind : 'ring',
    expert,
    expertTensor,
    sharding,
    prefetch: sharding === 3 ? prefetchWithEffect(layout) : profile.prefetch.value,
    reshard: sharding === 3 ? layout.reshard : true,
    bucketMB:
      replicas > 1 && sharding < 3
        ? bucketWithEffect(job, { tensor, expert, expertTensor }, layout.gradientType, layout.bucketMB)
        : profile.bucketMB.value,
    gradientType: layout.gradientType,
    offload: layout.offload,
    gradientReduction: reductionWithEffect(sharding, microBatches, layout.gradientReduction),
    overlap: overlapWithEffect(job, replicas, { sharding, pipeline, overlap: layout.overlap }),
    microBatch: layout.microBatch,
    chunks,
    layersPerStage: layout.layersPerStage,
    schedule: scheduleWithEffect(pipeline, chunks, microBatches, layout.schedule),
    recompute,
    layers,
    lossChunks: layout.lossChunks,
    sequenceParallel,
    keepGathered: sequenceParallel && keepsSome(layout) && layout.keepGathered,
    order: orderWithEffect({ ...layout, expert, expertTensor }, profile.order.value),
  };
}

/** The reduction that a sharding takes when nobody chooses: sharded gradients cannot wait for the end of the step. */
export const defaultReduction = (sharding: Sharding): GradientReduction =>
  sharding >= 2 ? 'per-micro-batch' : 'per-step';

/** Whether gathered weights are freed after use when nobody chooses: some frameworks keep them where there are stages. */
export const defaultReshard = (job: LayoutJob, sharding: Sharding, pipeline: number): boolean =>
  !(sharding === 3 && pipeline > 1 && profileOf(job).keepsUnitsInPipelines.value);

/** The schedule of a number of stages and chunks when nobody chooses. */
export function defaultSchedule(pipeline: number, chunks: number): ScheduleName {
  if (pipeline === 1) return 'none';
  return chunks > 1 ? 'interleaved-1f1b' : '1f1b';
}

/** The chunks of a schedule when nobody chooses. */
export const defaultChunks = (pipeline: number, schedule: ScheduleName | undefined): number =>
  pipeline > 1 && schedule !== undefined && isFolded(schedule) ? 2 : 1;

/** The reduction that a layout has: a choice exists for sharded gradients of several micro-batches only. */
export function reductionWithEffect(
  sharding: Sharding,
  microBatches: number,
  reduction: GradientReduction,
): GradientReduction {
  return sharding >= 2 && microBatches > 1 ? reduction : defaultReduction(sharding);
}

function scheduleWithEffect(
  pipeline: number,
  chunks: number,
  microBatches: number,
  schedule: ScheduleName,
): ScheduleName {
  const same = microBatches === 1 && !isSplitSchedule(schedule);
  return pipeline === 1 || same ? defaultSchedule(pipeline, chunks) : schedule;
}

/** Axes of degree 1 do not matter: they stand where the default order has them when the others stand so, else last. */
export function orderWithEffect(
  layout: ExpertKeys & Pick<Layout, 'pipeline' | 'order'>,
  usual: readonly DenseAxis[],
): readonly DenseAxis[] {
  const own = hasExpertGrid(layout);
  const matters = (axis: DenseAxis): boolean => {
    if (layout[axis] > 1) return true;
    if (!own) return false;
    // The expert grid has its own axes in the places of these two.
    return axis === 'tensor' ? layout.expertTensor > 1 : axis === 'data' && expertDataOf(layout) > 1;
  };
  const complete = [...layout.order, ...defaultOrder.filter((axis) => !layout.order.includes(axis))];
  const wide = complete.filter(matters);
  const usualWide = usual.filter(matters);
  if (wide.every((axis, index) => axis === usualWide[index])) return usual;
  return Object.freeze([...wide, ...usual.filter((axis) => !matters(axis))]);
}
