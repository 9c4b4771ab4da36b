/** @file The learning rate of each step: constant, or a linear warm-up and then half a cosine. */

/** Rises linearly over `warmup` steps to `peak`, then falls as half a cosine to `floor` at `steps`. */
export interface CosineRate {
  readonly peak: number;
  readonly floor: number;
  readonly warmup: number;
  readonly steps: number;
}

export type LearningRate = number | CosineRate;

/** The learning rate of a step, counted from 1. */
export function rateAt(rate: LearningRate, step: number): number {
  if (typeof rate === 'number') return rate;
  const { peak, floor, warmup, steps } = rate;
  if (step <= warmup) return (peak * step) / warmup;
  const share = Math.min(1, (step - warmup) / Math.max(1, steps - warmup));
  return floor + 0.5 * (peak - floor) * (1 + Math.cos(Math.PI * share));
}

/** What small runs do well with: a tenth of the steps (at most 100) to warm up, down to a tenth of the peak. */
export const cosineRate = (peak: number, steps: number): CosineRate => ({
  peak,
  floor: peak / 10,
  warmup: Math.max(1, Math.min(100, Math.floor(steps / 10))),
  steps,
});
