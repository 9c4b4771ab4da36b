/** @file One invocation of a schedule as one integer: kind in bits 0 and 1, whether it runs together with the next one in
 * bit 2, chunk in bits 3 to 11, micro-batch above. So lists are Int32Arrays, 512 chunks and 524,288 micro-batches at most.
 */
import { assertInvariant } from '../errors/index.ts';

const KIND_MASK = 3;
const TOGETHER = 4;
const CHUNK_SHIFT = 3;
const CHUNK_BITS = 9;
const CHUNK_MASK = 2 ** CHUNK_BITS - 1;
const MICRO_BATCH_SHIFT = CHUNK_SHIFT + CHUNK_BITS;

/** Most chunks of a stage and most micro-batches that a code can name. */
export const scheduleLimits: { readonly chunks: number; readonly microBatches: number } = {
  chunks: 2 ** CHUNK_BITS,
  microBatches: 2 ** (31 - MICRO_BATCH_SHIFT),
};

/** `F` forward; `B` backward, input and weight parts in one block; `I` its input part, `W` its weight part. */
export type InvocationKind = 'F' | 'B' | 'W' | 'I';

/** In the order of their numbers: bit 0 says that the gradient of the input comes out. */
const kinds: readonly InvocationKind[] = ['F', 'B', 'W', 'I'];

/** A chunk computes one micro-batch in one direction, or a part of it. */
export interface Invocation {
  readonly kind: InvocationKind;
  /** Chunk of the stage; where it stands in the model says {@link positionOf}. */
  readonly chunk: number;
  readonly microBatch: number;
  /** Runs together with the next one of its list: their operations take turns. */
  readonly together: boolean;
}

/** The code of an invocation. */
export const invocationCode = (kind: InvocationKind, chunk: number, microBatch: number, together = false): number =>
  (microBatch << MICRO_BATCH_SHIFT) | (chunk << CHUNK_SHIFT) | (together ? TOGETHER : 0) | kinds.indexOf(kind);

export const forwardCode = (chunk: number, microBatch: number): number => invocationCode('F', chunk, microBatch);

export const backwardCode = (chunk: number, microBatch: number): number => invocationCode('B', chunk, microBatch);

/** The number of a kind, 0 to 3: what tables by kind are indexed with. */
export const kindNumber = (code: number): number => code & KIND_MASK;
export const kindOf = (code: number): InvocationKind => kinds[code & KIND_MASK] as InvocationKind;

/** The gradient of the input comes out of it: a backward in one block, or the input part of one. */
export const isBackward = (code: number): boolean => (code & 1) === 1;

/** It completes the gradients of weights: a backward in one block, or the weight part of one. */
export const endsBackward = (code: number): boolean => (code & KIND_MASK) === 1 || (code & KIND_MASK) === 2;

export const isTogether = (code: number): boolean => (code & TOGETHER) !== 0;

export const chunkOf = (code: number): number => (code >> CHUNK_SHIFT) & CHUNK_MASK;

export const microBatchOf = (code: number): number => code >> MICRO_BATCH_SHIFT;

/** The readable form of a code. */
export const decodeInvocation = (code: number): Invocation => ({
  kind: kindOf(code),
  chunk: chunkOf(code),
  microBatch: microBatchOf(code),
  together: isTogether(code),
});

/** A list as people write it: `F0 F1 B0 B1`; with `chunks` > 1 `F0.1` is micro-batch 0 of chunk 1. What runs together is
 * joined by `+`.
 */
export function formatInvocations(codes: Iterable<number>, chunks: number): string {
  let text = '';
  let before = '';
  for (const code of codes) {
    text += `${before}${kindOf(code)}${microBatchOf(code)}${chunks > 1 ? `.${chunkOf(code)}` : ''}`;
    before = isTogether(code) ? '+' : ' ';
  }
  return text;
}

/** Degrees of a schedule. */
export interface ScheduleShape {
  readonly schedule: ScheduleName;
  readonly stages: number;
  /** Chunks per stage, copies of other stages' chunks included. */
  readonly chunks: number;
  /** Micro-batches of a step. */
  readonly microBatches: number;
}

/** Schedules that can be compiled; the same names as `layout.schedule`. */
export type ScheduleName = 'none' | 'naive' | 'gpipe' | '1f1b' | 'interleaved-1f1b' | SplitScheduleName;

/** Schedules that take backward in two parts, at least now and then. */
export type SplitScheduleName = 'zero-bubble-h1' | 'zero-bubble-h2' | 'zero-bubble-v' | 'dualpipe' | 'dualpipe-v';

/** Throws an internal error when a shape has more than codes can number or no chunks that its schedule needs; users get
 * issues from `checkLayout` before.
 */
export function assertCounts({ schedule, stages, chunks, microBatches }: ScheduleShape): void {
  const legal =
    stages >= 1 &&
    chunks >= 1 &&
    microBatches >= 1 &&
    chunks <= scheduleLimits.chunks &&
    microBatches <= scheduleLimits.microBatches &&
    (schedule === 'none') === (stages === 1);
  assertInvariant(
    legal,
    () => `schedule ${schedule} cannot have ${stages} stages, ${chunks} chunks, ${microBatches} micro-batches`,
  );
}
