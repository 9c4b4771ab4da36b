/** @file The tail of a period: sums that wait for sharded gradients, the global norm, clipping, the optimizer, the loss. */
import { assertUnreachable } from '../../errors/index.ts';
import { hasExpertGrid, type Layout, replicasOf } from '../../layout/index.ts';
import type { Collective, Compute } from '../../program/index.ts';
import type { Outline, StageOutline } from '../outline.ts';
import { type BucketPlan, copiesOf, isMirrored } from '../parameters.ts';
import { type Replicas, shardGroup } from '../replicas.ts';
import { isSharded, optimizerTensors, reducesEachMicroBatch, sumsOverSets } from './containers.ts';
import { overReplicas, overSets, sumInPlace, type Writer, write } from './writer.ts';

export function writeTail(outline: Outline, { buckets: all, ...content }: StageOutline, writer: Writer): void {
  const { layout } = outline;
  // What is not trained has no gradient, and stays as it is.
  const stage: StageOutline = { ...content, buckets: all.filter((bucket) => !bucket.frozen) };
  const gradientOf = (bucket: BucketPlan): string => `${isSharded(layout, bucket) ? 'S' : 'G'}.${bucket.name}`;
  for (const bucket of stage.buckets) {
    const each = reducesEachMicroBatch(layout, bucket);
    if (each && bucket.summed > 0) writer.operation(sumInPlace(`S.${bucket.name}.summed`, 'tensor', bucket.name));
    const copies = copiesOf(bucket, layout, stage.stage);
    if (copies?.name === 'ends') writeTiedSum(outline, bucket, writer);
    else if (copies) writer.operation(sumInPlace(gradientOf(bucket), copies.name, bucket.name));
  }
  const gradients = stage.buckets.map(gradientOf);
  const offloads = layout.offload === 'optimizer';
  if (offloads) {
    for (const bucket of stage.buckets)
      writer.operation(copy('copy-out', gradientOf(bucket), `H.${bucket.name}`, bucket));
  }
  writer.operation(compute('square-sum', gradients, ['q'], 'global-norm'));
  if (layout.tensor > 1) writer.operation(sumScalar('q', 'tensor', 'global-norm'));
  for (const axis of ['data', 'context'] as const) {
    if (sumsNormOver(layout, axis)) writer.operation(sumScalar('q', normGroup(layout, axis).over, 'global-norm'));
  }
  if (layout.pipeline > 1) writer.operation(sumScalar('q', 'pipeline', 'global-norm'));
  writer.operation(compute('clip', ['q'], ['k'], 'global-norm', { limit: 1 }));
  if (offloads) for (const bucket of stage.buckets) updateOnHost(outline, bucket, writer);
  else updateOnDevice(outline, stage, gradients, writer);
  const holdsLoss = stage.chunks.some((chunk) => chunk.head);
  for (const axis of ['data', 'context'] as const) {
    if (holdsLoss && layout[axis] > 1) writer.operation(sumScalar('loss', axis, 'mean-loss'));
  }
  // Either copy of the model has the loss of its own micro-batches, and the head stands on the outermost stages.
  if (holdsLoss && isMirrored(layout)) writer.operation(sumScalar('loss', 'copies0', 'mean-loss'));
}

const weightsOf = (bucket: BucketPlan, layout: Layout): string =>
  `${layout.sharding === 3 && isSharded(layout, bucket) ? 'P' : 'W'}.${bucket.name}`;

const statesOf = ({ name }: BucketPlan, job: Outline['job']): readonly string[] =>
  optimizerTensors(job).map((tensor) => `O.${name}.${tensor}`);

/** All buckets in one pass. */
function updateOnDevice(
  { job, layout }: Outline,
  { buckets }: StageOutline,
  gradients: readonly string[],
  writer: Writer,
): void {
  const writes = [
    ...buckets.map((bucket) => weightsOf(bucket, layout)),
    ...buckets.flatMap((each) => statesOf(each, job)),
  ];
  const reads = [...gradients, 'k', 'lr'];
  writer.operation(compute(job.optimizer, reads, writes, 'optimizer', hyperparameters(job.optimizer)));
}

/** Bucket by bucket: while one is updated, the new weights of the one before are copied. */
function updateOnHost({ job, layout }: Outline, bucket: BucketPlan, writer: Writer): void {
  const reads = [`H.${bucket.name}`, 'k', 'lr'];
  const writes = [`M.${bucket.name}`, ...statesOf(bucket, job)];
  const update = compute(job.optimizer, reads, writes, 'optimizer', hyperparameters(job.optimizer));
  writer.operation({ ...update, lane: 'host.update', why: { rule: 'optimizer', bucket: bucket.name } });
  writer.operation(copy('copy-in', `M.${bucket.name}`, weightsOf(bucket, layout), bucket));
}

/** A copy of a bucket, or of the rank's shard of it, between device and host. */
const copy = (kernel: 'copy-out' | 'copy-in', from: string, to: string, { name }: BucketPlan): Compute => ({
  ...compute(kernel, [from], [to], kernel),
  lane: kernel === 'copy-out' ? 'host.out' : 'host.in',
  why: { rule: kernel, bucket: name },
});

/** The norm is summed over data and context where they cut gradients; and where experts have a grid of their own, whose parts
 * lie all over the ranks of a stage. One set of shards holds everything once: the sum stays within it.
 */
export const sumsNormOver = (layout: Layout, axis: 'data' | 'context'): boolean =>
  (axis === 'data' ? layout.data / layout.replicate : layout.context) > 1 &&
  (isSharded(layout) || hasExpertGrid(layout));

/** The ranks of an axis that hold different parts of the norm. */
export const normGroup = (layout: Layout, axis: 'data' | 'context'): Replicas =>
  axis === 'context' ? { over: axis, axes: [axis] } : shardGroup({}, { ...layout, context: 1 });

/** Whole gradients are summed over both ends before the data axis, sharded ones after it. */
function writeTiedSum({ layout }: Outline, bucket: BucketPlan, writer: Writer): void {
  const { name } = bucket;
  if (layout.sharding >= 2) {
    writer.operation(sumInPlace(`S.${name}`, 'ends', name));
    return;
  }
  writer.operation(sumInPlace(`G.${name}`, 'ends', name));
  if (replicasOf(layout) === 1) return;
  const [collective, to] = isSharded(layout, bucket)
    ? (['reduce-scatter', `S.${name}`] as const)
    : (['all-reduce', `G.${name}`] as const);
  writer.operation(overReplicas(layout, collective, `G.${name}`, write(to), bucket));
  if (sumsOverSets(layout, bucket)) writer.operation(overSets(layout, bucket));
}

/** What large models are trained with (Llama 2 paper, section 2.2), unless a run says otherwise. */
function hyperparameters(optimizer: 'adamw' | 'sgd'): Readonly<Record<string, number>> {
  switch (optimizer) {
    case 'adamw':
      return { beta1: 0.9, beta2: 0.95, epsilon: 1e-5, weightDecay: 0.1 };
    case 'sgd':
      return { momentum: 0.9 };
    default:
      return assertUnreachable(optimizer);
  }
}

const compute = (
  kernel: Compute['kernel'],
  reads: readonly string[],
  writes: readonly string[],
  rule: Compute['why']['rule'],
  attributes?: Compute['attributes'],
): Compute => ({
  kind: 'compute',
  lane: 'compute',
  kernel,
  reads,
  writes: writes.map(write),
  ...(attributes && { attributes }),
  why: { rule },
});

/** Scalars go axis by axis with the direct algorithm, so that every byte has one axis. */
const sumScalar = (buffer: string, axis: string, rule: Collective['why']['rule']): Collective => ({
  kind: 'collective',
  lane: 'control',
  collective: 'all-reduce',
  axis,
  reduce: 'sum',
  factor: 1,
  algorithm: 'direct',
  reads: [buffer],
  writes: [write(buffer)],
  why: { rule, axis },
});
