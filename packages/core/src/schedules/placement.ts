/** @file Where the chunks of a stage stand in the model, and whose results they read. */
import {
  chunkOf,
  isBackward,
  kindOf,
  type ScheduleName,
  type ScheduleShape,
  type SplitScheduleName,
} from './invocation.ts';

/** `line`: chunk c of stage i stands at c * stages + i. `fold`: two chunks, down the stages and back up. `mirror`: two
 * copies of the model in opposite order, each with half of the micro-batches.
 */
export type Placement = 'line' | 'fold' | 'mirror';

/** The placement of a schedule. */
export function placementOf(schedule: ScheduleName): Placement {
  switch (schedule) {
    case 'zero-bubble-v':
    case 'dualpipe-v':
      return 'fold';
    case 'dualpipe':
      return 'mirror';
    default:
      return 'line';
  }
}

const splits: Readonly<Record<SplitScheduleName, true>> = {
  'zero-bubble-h1': true,
  'zero-bubble-h2': true,
  'zero-bubble-v': true,
  dualpipe: true,
  'dualpipe-v': true,
};

/** Whether a schedule takes backward in two parts. */
export const isSplit = (schedule: ScheduleName): schedule is SplitScheduleName => schedule in splits;

/** The keys of a layout that place its layers. */
export interface Placed {
  readonly schedule: ScheduleName;
  readonly pipeline: number;
  readonly chunks: number;
}

/** Chunks that a stage holds: those of the layout, and under `mirror` the copy of another stage's. */
export const chunksHeld = ({ schedule, chunks }: Omit<Placed, 'pipeline'>): number =>
  placementOf(schedule) === 'mirror' ? 2 : chunks;

/** The shape of a layout's schedule. */
export const shapeOf = (layout: Placed, microBatches: number): ScheduleShape => ({
  schedule: layout.schedule,
  stages: layout.pipeline,
  chunks: chunksHeld(layout),
  microBatches,
});

/** Where a chunk stands in the model, of `pipeline * chunks` positions. */
export function positionOf({ schedule, pipeline }: Omit<Placed, 'chunks'>, stage: number, chunk: number): number {
  switch (placementOf(schedule)) {
    case 'line':
      return chunk * pipeline + stage;
    case 'fold':
      return chunk === 0 ? stage : 2 * pipeline - 1 - stage;
    case 'mirror':
      return chunk === 0 ? stage : pipeline - 1 - stage;
  }
}

/** A chunk of a stage. */
export interface ChunkPlace {
  readonly stage: number;
  readonly chunk: number;
}

/** The neighbour of a chunk in the model, `step` 1 towards the loss, -1 away; undefined at the ends. */
export function neighbourOf(
  shape: Omit<ScheduleShape, 'microBatches'>,
  stage: number,
  chunk: number,
  step: 1 | -1,
): ChunkPlace | undefined {
  const { schedule, stages, chunks } = shape;
  const placement = placementOf(schedule);
  const last = (placement === 'mirror' ? stages : stages * chunks) - 1;
  const next = positionOf({ schedule, pipeline: stages }, stage, chunk) + step;
  if (next < 0 || next > last) return undefined;
  switch (placement) {
    case 'line':
      return { stage: next % stages, chunk: Math.floor(next / stages) };
    case 'fold':
      return next < stages ? { stage: next, chunk: 0 } : { stage: 2 * stages - 1 - next, chunk: 1 };
    case 'mirror':
      return { stage: chunk === 0 ? next : stages - 1 - next, chunk };
  }
}

/** The chunk whose result `code` on `stage` reads, on the same stage where two of its chunks follow each other; undefined at
 * the ends of the model and for weight parts, which read what their input part left.
 */
export function producerOf(
  shape: Omit<ScheduleShape, 'microBatches'>,
  stage: number,
  code: number,
): ChunkPlace | undefined {
  if (kindOf(code) === 'W') return undefined;
  return neighbourOf(shape, stage, chunkOf(code), isBackward(code) ? 1 : -1);
}
