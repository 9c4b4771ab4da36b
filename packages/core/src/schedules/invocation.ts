/** @file One invocation of a schedule as one integer: direction in bit 0 (0 forward, 1 backward), chunk in bits 1 to 11,
 * micro-batch above. So lists are Int32Arrays, 2048 chunks and 524,288 micro-batches at most.
 */
import { assertInvariant } from '../errors/index.ts';

const CHUNK_BITS = 11;
const MICRO_BATCH_SHIFT = CHUNK_BITS + 1;
const CHUNK_MASK = 2 ** CHUNK_BITS - 1;

/** Most chunks of a stage and most micro-batches that a code can name. */
export const scheduleLimits: { readonly chunks: number; readonly microBatches: number } = {
  chunks: 2 ** CHUNK_BITS,
  microBatches: 2 ** (31 - MICRO_BATCH_SHIFT),
};

/** `F` forward, `B` backward: input and weight parts in one block. */
export type InvocationDirection = 'F' | 'B';

/** A chunk computes one micro-batch in one direction. */
export interface Invocation {
  readonly direction: InvocationDirection;
  /** Chunk of the stage: chunk c of stage i stands at c * stages + i of the model. */
  readonly chunk: number;
  readonly microBatch: number;
}

export const forwardCode = (chunk: number, microBatch: number): number =>
  (microBatch << MICRO_BATCH_SHIFT) | (chunk << 1);

export const backwardCode = (chunk: number, microBatch: number): number => forwardCode(chunk, microBatch) | 1;

export const isBackward = (code: number): boolean => (code & 1) === 1;

export const chunkOf = (code: number): number => (code >> 1) & CHUNK_MASK;

export const microBatchOf = (code: number): number => code >> MICRO_BATCH_SHIFT;

/** The readable form of a code. */
export const decodeInvocation = (code: number): Invocation => ({
  direction: isBackward(code) ? 'B' : 'F',
  chunk: chunkOf(code),
  microBatch: microBatchOf(code),
});

/** A list as people write it: `F0 F1 B0 B1`; with `chunks` > 1 `F0.1` is micro-batch 0 of chunk 1. */
export function formatInvocations(codes: Iterable<number>, chunks: number): string {
  const words: string[] = [];
  for (const code of codes) {
    const suffix = chunks > 1 ? `.${chunkOf(code)}` : '';
    words.push(`${isBackward(code) ? 'B' : 'F'}${microBatchOf(code)}${suffix}`);
  }
  return words.join(' ');
}

/** Degrees of a schedule. */
export interface ScheduleShape {
  readonly schedule: ScheduleName;
  readonly stages: number;
  /** Chunks per stage. */
  readonly chunks: number;
  /** Micro-batches of a step. */
  readonly microBatches: number;
}

/** Schedules that can be compiled; the same names as `layout.schedule`. */
export type ScheduleName = 'none' | 'naive' | 'gpipe' | '1f1b' | 'interleaved-1f1b';

/** Invocations of one stage: every chunk and micro-batch once forward and once backward. */
export const invocationCount = (shape: ScheduleShape): number => 2 * shape.chunks * shape.microBatches;

/** Throws an internal error when a schedule cannot have this shape; users get issues from `checkLayout` before. */
export function assertShape(shape: ScheduleShape): void {
  const { schedule, stages, chunks, microBatches } = shape;
  const interleaved = schedule === 'interleaved-1f1b';
  const legal =
    stages >= 1 &&
    chunks >= 1 &&
    microBatches >= 1 &&
    chunks <= scheduleLimits.chunks &&
    microBatches <= scheduleLimits.microBatches &&
    (schedule === 'none') === (stages === 1) &&
    interleaved === chunks > 1 &&
    (!interleaved || microBatches % stages === 0);
  assertInvariant(
    legal,
    () => `schedule ${schedule} cannot have ${stages} stages, ${chunks} chunks, ${microBatches} micro-batches`,
  );
}
