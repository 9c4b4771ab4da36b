/** @file From what a user gives to a complete layout: defaults, and what is wrong with the result. */
import { type Issue, issue } from '../errors/index.ts';
import { gpusOf, type LayoutJob, profileOf } from './job.ts';
import { checkLayout } from './legality.ts';
import {
  defaultChunks,
  defaultExpertTensor,
  defaultGradientType,
  defaultReduction,
  defaultReshard,
  defaultSchedule,
  normalizeLayout,
} from './normal.ts';
import { balancedSplit, type SplitCosts } from './split.ts';
import type { Layout, LayoutRequest } from './types.ts';

/** A complete layout; legal and in normal form when no issue is an error. */
export interface CompletedLayout {
  readonly layout: Layout;
  /** All violations, and a note for each given key that has no effect. */
  readonly issues: readonly Issue[];
  /** Keys that were not given. */
  readonly defaulted: readonly (keyof Layout)[];
}

/** The layout of a request with the defaults of the contract; `data` takes the GPUs that the other degrees leave. */
export function completeLayout(request: LayoutRequest, job: LayoutJob, costs: SplitCosts): CompletedLayout {
  const given = withDefaults(request, job, costs);
  const issues = checkLayout(job, given);
  const defaulted = (Object.keys(given) as (keyof Layout)[]).filter((key) => request[key] === undefined);
  if (issues.some((each) => each.severity === 'error')) return { layout: Object.freeze(given), issues, defaulted };
  const layout = Object.freeze(normalizeLayout(job, given));
  return { layout, issues: [...issues, ...withoutEffect(request, layout)], defaulted };
}

function withDefaults(request: LayoutRequest, job: LayoutJob, costs: SplitCosts): Layout {
  const profile = profileOf(job);
  const { tensor = 1, pipeline = 1, context = 1, sharding = 0 } = request;
  const chunks = request.chunks ?? defaultChunks(pipeline, request.schedule);
  return {
    tensor,
    pipeline,
    data: request.data ?? dataLeft(gpusOf(job), tensor * pipeline * context),
    context,
    contextKind: request.contextKind ?? 'ring',
    expert: request.expert ?? 1,
    expertTensor: request.expertTensor ?? defaultExpertTensor(job, tensor, request.expert ?? 1),
    sharding,
    prefetch: request.prefetch ?? profile.prefetch.value,
    reshard: request.reshard ?? defaultReshard(job, sharding, pipeline),
    bucketMB: request.bucketMB ?? profile.bucketMB.value,
    gradientType: request.gradientType ?? defaultGradientType(job),
    gradientReduction: request.gradientReduction ?? defaultReduction(sharding),
    microBatch: request.microBatch ?? 1,
    chunks,
    layersPerStage: request.layersPerStage ?? splitOrWhole(costs, pipeline, chunks),
    schedule: request.schedule ?? defaultSchedule(pipeline, chunks),
    recompute: request.recompute ?? 'none',
    lossChunks: request.lossChunks ?? 1,
    sequenceParallel: request.sequenceParallel ?? tensor > 1,
    keepGathered: request.keepGathered ?? false,
    order: request.order ?? profile.order.value,
  };
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

function withoutEffect(request: LayoutRequest, layout: Layout): readonly Issue[] {
  const scalars = Object.keys(request) as (keyof Layout)[];
  return scalars.flatMap((key) => {
    const given = request[key];
    if (given === undefined || typeof given === 'object' || given === layout[key]) return [];
    const message = `${key} ${shown(given)} has no effect in this layout and reads as ${shown(layout[key])}.`;
    return [
      { ...issue('LAYOUT_KEY_WITHOUT_EFFECT', `layout.${key}`, message, 'Leave the key out.'), severity: 'note' },
    ];
  });
}

const shown = (value: unknown): string => (typeof value === 'boolean' ? (value ? 'on' : 'off') : String(value));
