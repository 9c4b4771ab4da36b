/** @file Exchanges during the walk: receives and sends between stages, gathers and reductions over data. Each takes the
 * host's time to issue it and its turn on its lane.
 */
import type { BucketSpec } from './buckets.ts';
import { BACKWARD, LOCAL_IN, LOCAL_OUT, OTHER_SIDE, POSTS } from './order.ts';
import {
  ACTIVATION_IN,
  BORDER,
  BYTES,
  COMPUTE,
  ENDED,
  GATHER,
  GRADIENT_IN,
  HELD,
  HOST,
  OTHER_ACTIVATION_IN,
  OTHER_GRADIENT_IN,
  POSTED,
  REDUCE,
  SETS,
  see,
  TENSOR,
  type Walk,
  WIDTH,
} from './state.ts';

/** Posts the receive of the next invocation and takes the input of this one. A receive is posted before the invocation
 * that precedes its own, at the end of the one before that; its buffer is there from then on.
 */
export function arrive(walk: Walk, index: number, base: number): void {
  const { state, step } = walk;
  const { from, bits } = walk.order.visits;
  const posted = state[base + POSTED] as number;
  if (((bits[index] as number) & POSTS) !== 0) postReceive(walk, base);
  const transfer = from[index] as number;
  if (transfer < 0) {
    state[base + BORDER] = Number.NEGATIVE_INFINITY;
    return;
  }
  if (((bits[index] as number) & LOCAL_IN) !== 0) {
    state[base + BORDER] = walk.sent[transfer] as number;
    return;
  }
  const lane = base + laneOf(bits[index] as number);
  const end = Math.max(walk.sent[transfer] as number, posted, state[lane] as number) + step.sendSeconds;
  state[lane] = end;
  state[base + BORDER] = end;
}

function laneOf(bits: number): number {
  if ((bits & OTHER_SIDE) === 0) return (bits & BACKWARD) === 0 ? ACTIVATION_IN : GRADIENT_IN;
  return (bits & BACKWARD) === 0 ? OTHER_ACTIVATION_IN : OTHER_GRADIENT_IN;
}

export function postReceive(walk: Walk, base: number): void {
  const { state, step } = walk;
  const host = (state[base + HOST] as number) + step.launchExchange;
  state[base + HOST] = host;
  state[base + POSTED] = Math.max(host, state[base + ENDED] as number);
  state[base + BYTES] = (state[base + BYTES] as number) + step.borderBytes;
  see(state, base);
}

/** Hands the output of an invocation to its lane. */
export function depart(walk: Walk, index: number, base: number): void {
  const transfer = walk.order.visits.to[index] as number;
  if (transfer < 0) return;
  const { state, step } = walk;
  if (((walk.order.visits.bits[index] as number) & LOCAL_OUT) !== 0) {
    walk.sent[transfer] = state[base + BORDER] as number;
    return;
  }
  const host = (state[base + HOST] as number) + step.launchExchange;
  state[base + HOST] = host;
  walk.sent[transfer] = Math.max(host, state[base + BORDER] as number);
  state[base + BYTES] = (state[base + BYTES] as number) - step.borderBytes;
}

/** Before the first invocation: sharded updates are gathered, in the order in which they are read. */
export function gatherUpdated(walk: Walk, stage: number): void {
  const { step } = walk;
  const base = stage * WIDTH;
  const first = step.stageBucket[stage] as number;
  for (const bucket of step.stages[stage]?.opening ?? []) {
    const { gathers, gatherSeconds } = step.buckets[first + bucket] as BucketSpec;
    if (gathers) gather(walk, base, gatherSeconds, walk.weightReady, first + bucket);
  }
  const { state } = walk;
  // The first call is a forward, which begins with compute.
  if (step.gathersBlock)
    state[base + COMPUTE] = Math.max(state[base + COMPUTE] as number, state[base + GATHER] as number);
}

/** Gathers once the invocation before has ended; `copies[at]` becomes the time when the copy is there. */
export function gather({ state, step }: Walk, base: number, seconds: number, copies: Float64Array, at: number): void {
  const host = (state[base + HOST] as number) + step.launchExchange;
  state[base + HOST] = host;
  const end = Math.max(host, state[base + GATHER] as number, state[base + ENDED] as number) + seconds;
  state[base + GATHER] = end;
  copies[at] = end;
}

/** A bucket's gradients of a micro-batch are complete: reduces it now, or behind the last call. */
export function reduceBucket(walk: Walk, stage: number, index: number, isLast: boolean): void {
  const bucket = walk.step.buckets[index];
  if (bucket === undefined || (!isLast && !bucket.reducesEach)) return;
  if (!walk.step.reductionsBlock || bucket.reducesEach) reduce(walk, stage * WIDTH, index, bucket, isLast);
  else (walk.late[stage] as number[]).push(index);
}

/** Reductions that waited for the end of the last call. */
export function reduceLate(walk: Walk, stage: number): void {
  const { state, step, gradientReady } = walk;
  const ended = state[stage * WIDTH + ENDED] as number;
  for (const index of walk.late[stage] as readonly number[]) {
    gradientReady[index] = Math.max(gradientReady[index] as number, ended);
    reduce(walk, stage * WIDTH, index, step.buckets[index] as BucketSpec, true);
  }
}

/** Calls behind a reduction that holds them up wait for its end, whatever they begin with. */
export function holdUp(state: Float64Array, base: number): void {
  const held = state[base + HELD] as number;
  state[base + COMPUTE] = Math.max(state[base + COMPUTE] as number, held);
  state[base + TENSOR] = Math.max(state[base + TENSOR] as number, held);
  state[base + BORDER] = Math.max(state[base + BORDER] as number, held);
}

/** Reduces one bucket over data: after the sum over tensor while gradients are whole. After the last micro-batch its shard
 * is summed over the sets of shards.
 */
function reduce(walk: Walk, base: number, index: number, bucket: BucketSpec, isLast: boolean): void {
  const { state, step, gradientReady } = walk;
  if (!bucket.reducesEach && bucket.sumSeconds > 0) sumOverTensor(walk, base, index, bucket.sumSeconds);
  if (bucket.reduces) {
    const host = (state[base + HOST] as number) + step.launchExchange;
    state[base + HOST] = host;
    const start = Math.max(host, state[base + REDUCE] as number, gradientReady[index] as number);
    const end = start + bucket.reduceSeconds;
    state[base + REDUCE] = end;
    gradientReady[index] = end;
    if (isLast && bucket.setsSeconds > 0) {
      const issued = host + step.launchExchange;
      state[base + HOST] = issued;
      sumOverSets(walk, base, index, issued);
    }
  }
  if (step.reductionsBlock) state[base + HELD] = Math.max(state[base + HELD] as number, gradientReady[index] as number);
  // Gradients of one micro-batch are not kept.
  if (bucket.reducesEach) state[base + BYTES] = (state[base + BYTES] as number) - bucket.gradientBytes;
}

/** Sums a shard over the sets of shards; `issued` by the host at a time. */
export function sumOverSets({ state, step, gradientReady }: Walk, base: number, index: number, issued: number): void {
  const { setsSeconds } = step.buckets[index] as BucketSpec;
  const end = Math.max(issued, state[base + SETS] as number, gradientReady[index] as number) + setsSeconds;
  state[base + SETS] = end;
  gradientReady[index] = end;
}

/** Sums the whole parameters' part of a bucket. */
export function sumOverTensor(
  { state, step, gradientReady }: Walk,
  base: number,
  index: number,
  seconds: number,
): void {
  const host = (state[base + HOST] as number) + step.launchExchange;
  state[base + HOST] = host;
  const end = Math.max(host, state[base + TENSOR] as number, gradientReady[index] as number) + seconds;
  state[base + TENSOR] = end;
  gradientReady[index] = end;
}
