/** @file Closed forms of idle time, for equal stages, free transfers and a backward of any length. */
import { assertInvariant } from '../errors/index.ts';
import type { ScheduleShape } from './invocation.ts';
import { assertShape } from './lists.ts';
import { isSplit } from './placement.ts';
import { splitSchedules } from './split/schedules.ts';

/** Idle over whole step. naive (p-1)/p; gpipe and 1f1b (p-1)/(m+p-1); interleaved (p-1)/(v m+p-1). Exact. */
export function bubbleShare(shape: ScheduleShape): number {
  const ratio = bubbleRatio(shape);
  return ratio / (1 + ratio);
}

/** Idle over busy time of a stage. naive p-1; gpipe and 1f1b (p-1)/m; interleaved (p-1)/(v m). Exact; split schedules for
 * forward, input and weight part of equal length, by the forms of `splitSchedules`. */
export function bubbleRatio(shape: ScheduleShape): number {
  assertShape(shape);
  const { schedule, stages, chunks, microBatches } = shape;
  if (schedule === 'naive') return stages - 1;
  if (isSplit(schedule)) {
    const passes = schedule === 'dualpipe' ? microBatches : chunks * microBatches;
    return splitSchedules[schedule].bubble(shape, { forward: 1, input: 1, weight: 1 }) / (3 * passes);
  }
  return (stages - 1) / (chunks * microBatches);
}

/** Micro-batches for which 1f1b's bubble share does not exceed `share`. */
export function microBatchesForShare(stages: number, chunks: number, share: number): number {
  assertInvariant(share > 0 && share < 1, () => `a bubble share of ${share} is not between 0 and 1`);
  return Math.max(1, Math.ceil(((stages - 1) * (1 - share)) / (share * chunks) - 1e-9));
}
