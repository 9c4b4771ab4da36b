/** @file The buffers of a stage's buckets: weights, gradients, their shards and the optimizer's state. */

import type { Job } from '../../job/index.ts';
import { type Layout, mostReplicasOf } from '../../layout/index.ts';
import type { BufferDeclaration } from '../../program/index.ts';
import type { Dim, DType } from '../../tensor/index.ts';
import { type BucketPlan, endsApart, paddedParts, shardsOfBucket } from '../parameters.ts';
import { shardGroup } from '../replicas.ts';

/** A bucket as far as its replicas go; the dense trained ones when absent. */
type Replicated = Pick<BucketPlan, 'experts' | 'frozen'>;

/** State is cut over the ranks that hold the same: there are some to share it with, and the layout does. What is not
 * trained has weights only, which sharding 3 alone cuts. */
export const isSharded = (layout: Layout, bucket: Replicated = {}): boolean =>
  layout.sharding > (bucket.frozen ? 2 : 0) && shardsOfBucket(bucket, layout) > 1;

/** Sets of shards repeat each other: the sum over them is left after the one inside a set. */
export const sumsOverSets = (layout: Layout, bucket: Replicated = {}): boolean =>
  layout.replicate > 1 && !bucket.frozen && isSharded(layout, bucket);

/** Gradients are reduced while the micro-batch that made them is the only one in the buffer. */
export const reducesEachMicroBatch = (layout: Layout, bucket: Replicated = {}): boolean =>
  layout.sharding >= 2 && layout.gradientReduction === 'per-micro-batch' && !bucket.frozen && isSharded(layout, bucket);

/** Reductions over data hold up what comes next instead of running beside it. */
export const reductionsBlock = (layout: Layout): boolean =>
  !layout.overlap.includes('data') && mostReplicasOf(layout) > 1;

/** Updated weights are all gathered before the first forward begins. */
export const gathersBlock = (layout: Layout): boolean =>
  !layout.overlap.includes('parameters') && (layout.sharding === 1 || layout.sharding === 2);

/** Whole gradients of the tied matrix wait for the other end before they are reduced over data. In the tail: the last
 * stage has them early, and waiting in its reduction lane would hold up every other bucket.
 */
export const sumsOverEnds = (bucket: Pick<BucketPlan, 'tied' | 'frozen'>, layout: Layout): boolean =>
  bucket.tied && !bucket.frozen && endsApart(layout) && layout.sharding < 2;

/** State tensors of the optimizer besides what the weights themselves are: the master exists under 16-bit weights only. */
export function optimizerTensors(job: Job): readonly string[] {
  const moments = job.optimizer === 'adamw' ? ['m', 'v'] : ['momentum'];
  return job.precision === 'fp32' ? moments : ['master', ...moments];
}

/** Declarations of one bucket: `W` weights, `P` their shard, `G` gradients, `S` their shard, `O` optimizer; on the host `H` gradients
 * and `M` new weights. */
export function containers(plan: BucketPlan, job: Job, layout: Layout, type: DType): readonly BufferDeclaration[] {
  const parts = paddedParts(plan, layout);
  const size = parts.reduce((sum, part) => sum + part, 0);
  const fused = parts.length > 1 ? { parts } : {};
  const whole: readonly Dim[] = [{ label: 'n', size, ...fused }];
  const sharded = isSharded(layout, plan);
  const shard: readonly Dim[] = sharded
    ? [{ label: 'n', size, cut: [shardGroup(plan, layout).over], ...fused }]
    : whole;
  const bucket = plan.name;
  const declare = (
    prefix: string,
    role: BufferDeclaration['role'],
    dtype: DType,
    dims: readonly Dim[],
    more: Partial<BufferDeclaration> = {},
  ): BufferDeclaration => ({ name: `${prefix}.${bucket}`, role, dtype, dims, scope: 'period', bucket, ...more });
  const resident = { resident: true as const };

  if (plan.frozen) {
    const weights = declare('W', 'weight', type, whole, sharded ? {} : resident);
    return sharded ? [declare('P', 'weight', type, shard, resident), weights] : [weights];
  }
  const gradient = layout.gradientType;
  const offloads = layout.offload === 'optimizer';
  const onHost = { ...resident, place: 'host' as const };
  const optimizer = [
    ...optimizerTensors(job).map((tensor) => ({
      ...declare('O', 'optimizer', 'fp32', shard, offloads ? onHost : resident),
      name: `O.${bucket}.${tensor}`,
    })),
    ...(offloads
      ? [declare('H', 'gradient', gradient, shard, onHost), declare('M', 'weight', type, shard, onHost)]
      : []),
  ];
  if (!sharded) {
    return [
      declare('W', 'weight', type, whole, resident),
      declare('G', 'gradient', gradient, whole, resident),
      ...optimizer,
    ];
  }
  if (layout.sharding === 1) {
    return [
      declare('W', 'weight', type, whole, resident),
      declare('G', 'gradient', gradient, whole, resident),
      declare('S', 'gradient', gradient, shard, { ...resident, shardOf: `G.${bucket}` }),
      ...optimizer,
    ];
  }
  const each = reducesEachMicroBatch(layout, plan) ? { scope: 'micro' as const } : resident;
  return [
    ...(layout.sharding === 3
      ? [declare('P', 'weight', type, shard, resident), declare('W', 'weight', type, whole)]
      : [declare('W', 'weight', type, whole, resident)]),
    declare('G', 'gradient', gradient, whole, each),
    declare('S', 'gradient', gradient, shard, resident),
    ...optimizer,
  ];
}
