/** @file The outline of a step: what each stage holds and in which order it works, before lines are written.
 *
 * `lower.ts` writes the program from it; the planner prices it without writing lines. Both follow the same rules, and a
 * property holds them together.
 */
import type { Job } from '../job/index.ts';
import { expertsWithEffect, type Layout, shardRanksOf } from '../layout/index.ts';
import { chunksHeld, positionOf } from '../schedules/index.ts';
import { planBuckets } from './bucket-plans.ts';
import { type BlockContext, blockContext, microBatches } from './context.ts';
import { type BucketPlan, type ParameterCounts, parameterCounts } from './parameters.ts';

export interface ChunkOutline {
  /** Blocks in model order: embed is -1, head the number of layers. */
  readonly blocks: readonly number[];
  readonly firstLayer: number;
  readonly lastLayer: number;
  readonly embed: boolean;
  readonly head: boolean;
}

export interface StageOutline {
  readonly stage: number;
  readonly chunks: readonly ChunkOutline[];
  readonly buckets: readonly BucketPlan[];
}

export interface Outline {
  readonly job: Job;
  readonly layout: Layout;
  readonly context: BlockContext;
  readonly counts: ParameterCounts;
  readonly layers: number;
  readonly microBatches: number;
  readonly stages: readonly StageOutline[];
}

export function outlineOf(job: Job, given: Layout): Outline {
  // A set of one rank has nothing to cut, and what is not cut has no sets, whatever a layout that is not in normal form says.
  const whole = given.sharding === 0 || shardRanksOf(given) <= 1;
  const layout: Layout = {
    ...given,
    ...(whole && { sharding: 0 as const, replicate: 1 }),
    ...expertsWithEffect(job, given),
  };
  const counts = parameterCounts(job.model, layout);
  const layers = job.model.layers.length;
  const stages = Array.from({ length: layout.pipeline }, (_, stage): StageOutline => {
    const chunks = chunksOf(layout, layers, stage);
    const blocks = inModelOrder(chunks).map((chunk) => chunk.blocks);
    return { stage, chunks, buckets: planBuckets(blocks, counts, layers, layout) };
  });
  return {
    job,
    layout,
    context: blockContext(job, layout),
    counts,
    layers,
    microBatches: microBatches(job, layout),
    stages,
  };
}

/** Stages that hold the same chunks have the same buckets, whichever chunk comes first in their lists. */
const inModelOrder = (chunks: readonly ChunkOutline[]): readonly ChunkOutline[] =>
  [...chunks].sort((one, other) => (one.blocks[0] ?? 0) - (other.blocks[0] ?? 0));

/** The chunks of a stage; where each stands in the model says its schedule. */
export function chunksOf(layout: Layout, layers: number, stage: number): readonly ChunkOutline[] {
  const positions = layout.pipeline * layout.chunks;
  const starts: number[] = [];
  let start = 0;
  for (const count of layout.layersPerStage) {
    starts.push(start);
    start += count;
  }
  return Array.from({ length: chunksHeld(layout) }, (_, chunk): ChunkOutline => {
    const position = positionOf(layout, stage, chunk);
    const firstLayer = starts[position] ?? 0;
    const lastLayer = firstLayer + (layout.layersPerStage[position] ?? 0) - 1;
    const embed = position === 0;
    const head = position === positions - 1;
    const middle = Array.from({ length: lastLayer - firstLayer + 1 }, (__, index) => firstLayer + index);
    return {
      blocks: [...(embed ? [-1] : []), ...middle, ...(head ? [layers] : [])],
      firstLayer,
      lastLayer,
      embed,
      head,
    };
  });
}
