/** @file The norm, clipping and optimizer steps, over the rank's own range of flat buckets. Padding is never touched. */
import type { FloatArray } from './tensor.ts';

/** A row of neighbouring elements of one parameter inside a shard. */
export interface ShardRange {
  readonly from: number;
  readonly length: number;
  /** Weight decay applies. */
  readonly decay: boolean;
  /** The norm counts it on this rank. */
  readonly counted: boolean;
}

/** What a rank holds of one bucket: arrays of equal length, one place for each element of its own shard. */
export interface ShardState {
  readonly ranges: readonly ShardRange[];
  readonly gradient: FloatArray;
  /** Weights in their own type; written. */
  readonly weight: FloatArray;
  /** Weights in full precision; absent where `weight` itself is. */
  readonly master: FloatArray | undefined;
  readonly m: FloatArray;
  readonly v: FloatArray | undefined;
}

export interface StepInputs {
  /** Multiplies every gradient: the clip factor. */
  readonly factor: number;
  readonly learningRate: number;
  /** Counts from 1. */
  readonly step: number;
}

/** Sum of squares of the gradients that this rank counts. */
export function squareSum(shards: readonly Pick<ShardState, 'gradient' | 'ranges'>[]): number {
  let sum = 0;
  for (const { gradient, ranges } of shards) {
    for (const { from, length, counted } of ranges) {
      if (!counted) continue;
      for (let index = from; index < from + length; index++) sum += gradient[index]! ** 2;
    }
  }
  return sum;
}

/** min(1, limit / norm). */
export const clipFactor = (squares: number, limit: number): number => Math.min(1, limit / Math.sqrt(squares));

export interface AdamwConstants {
  readonly beta1: number;
  readonly beta2: number;
  readonly epsilon: number;
  readonly weightDecay: number;
}

/** AdamW with decoupled decay and bias correction, as PyTorch computes it. Source: Loshchilov and Hutter 2019. */
export function adamw(shard: ShardState, { factor, learningRate, step }: StepInputs, constants: AdamwConstants): void {
  const { beta1, beta2, epsilon, weightDecay } = constants;
  const { gradient, weight, m } = shard;
  const v = shard.v ?? m;
  const master = shard.master ?? weight;
  const correction1 = 1 - beta1 ** step;
  const correction2 = 1 - beta2 ** step;
  for (const { from, length, decay } of shard.ranges) {
    const keep = decay ? 1 - learningRate * weightDecay : 1;
    for (let index = from; index < from + length; index++) {
      const slope = factor * gradient[index]!;
      const first = beta1 * m[index]! + (1 - beta1) * slope;
      const second = beta2 * v[index]! + (1 - beta2) * slope * slope;
      const update = first / correction1 / (Math.sqrt(second / correction2) + epsilon);
      m[index] = first;
      v[index] = second;
      master[index] = master[index]! * keep - learningRate * update;
      weight[index] = master[index]!;
    }
  }
}

/** SGD with momentum; decay joins the gradient, as PyTorch computes it. */
export function sgd(
  shard: ShardState,
  { factor, learningRate }: StepInputs,
  constants: { readonly momentum: number; readonly weightDecay: number },
): void {
  const { momentum, weightDecay } = constants;
  const { gradient, weight, m } = shard;
  const master = shard.master ?? weight;
  for (const { from, length, decay } of shard.ranges) {
    for (let index = from; index < from + length; index++) {
      const slope = factor * gradient[index]! + (decay ? weightDecay * master[index]! : 0);
      m[index] = momentum * m[index]! + slope;
      master[index] = master[index]! - learningRate * m[index]!;
      weight[index] = master[index]!;
    }
  }
}
