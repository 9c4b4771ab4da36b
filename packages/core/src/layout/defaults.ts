/** @file Every key of a layout: what is given, else the default of the contract. Nothing is checked here. */
import { gpusOf, type LayoutJob, profileOf } from './job.ts';
import {
  defaultChunks,
  defaultExpertTensor,
  defaultGradientType,
  defaultReduction,
  defaultReshard,
  defaultSchedule,
} from './normal.ts';
import { defaultOverlap } from './overlap.ts';
import { noOverrides } from './overrides.ts';
import { balancedSplit, type SplitCosts } from './split.ts';
import type { Layout, LayoutRequest } from './types.ts';

/** The request with defaults for what it leaves open; legal or not. */
export function withDefaults(request: LayoutRequest, job: LayoutJob, costs: SplitCosts): Layout {
  const profile = profileOf(job);
  const { tensor = 1, pipeline = 1, context = 1, sharding = 0 } = request;
  const chunks = request.chunks ?? defaultChunks(pipeline, request.schedule);
  return {
    tensor,
    pipeline,
    data: request.data ?? dataLeft(gpusOf(job), tensor * pipeline * context),
    replicate: request.replicate ?? 1,
    context,
    contextKind: request.contextKind ?? 'ring',
    expert: request.expert ?? 1,
    expertTensor: request.expertTensor ?? defaultExpertTensor(job, tensor, request.expert ?? 1),
    sharding,
    prefetch: request.prefetch ?? profile.prefetch.value,
    reshard: request.reshard ?? defaultReshard(job, sharding, pipeline),
    bucketMB: request.bucketMB ?? profile.bucketMB.value,
    offload: request.offload ?? 'none',
    gradientType: request.gradientType ?? defaultGradientType(job),
    gradientReduction: request.gradientReduction ?? defaultReduction(sharding),
    overlap: request.overlap ?? defaultOverlap(job, sharding),
    microBatch: request.microBatch ?? 1,
    chunks,
    layersPerStage: request.layersPerStage ?? splitOrWhole(costs, pipeline, chunks),
    schedule: request.schedule ?? defaultSchedule(pipeline, chunks),
    recompute: request.recompute ?? 'none',
    layers: request.layers ?? noOverrides,
    lossChunks: request.lossChunks ?? 1,
    sequenceParallel: request.sequenceParallel ?? tensor > 1,
    keepGathered: request.keepGathered ?? false,
    order: request.order ?? profile.order.value,
  };
}

/** The request with `replicate` where it says `shard`. */
export function withReplicas({ shard, ...request }: LayoutRequest, job: LayoutJob): LayoutRequest {
  if (shard === undefined) return request;
  const { tensor = 1, pipeline = 1, context = 1 } = request;
  const data = request.data ?? dataLeft(gpusOf(job), tensor * pipeline * context);
  return { ...request, replicate: request.replicate ?? data / shard };
}

/** Data ranks that the other degrees leave; where they do not divide, legality says so. */
function dataLeft(gpus: number, others: number): number {
  const left = Math.floor(gpus / others);
  return Number.isFinite(left) ? Math.max(1, left) : 1;
}

/** The balanced split; where there is none, one chunk with all layers stands in, and legality says what is wrong. */
function splitOrWhole(costs: SplitCosts, pipeline: number, chunks: number): readonly number[] {
  const splits = [pipeline, chunks].every((count) => Number.isInteger(count) && count >= 1);
  if (splits && pipeline * chunks <= costs.layers.length) return balancedSplit(costs, pipeline, chunks);
  return Object.freeze([costs.layers.length]);
}
