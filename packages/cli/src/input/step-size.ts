/** @file How large a step this process can hold operation by operation. */
import { getHeapStatistics } from 'node:v8';
import { InputError, issue } from '@meshwright/core/errors';
import { whole } from '../output/numbers.ts';

/** Bytes of heap that one operation takes while it is simulated or drawn, and while it is also written; measured with
 * 0.7 M and 3.5 M operations. */
const HEAP_BYTES = { simulated: 1000, written: 1500 } as const;

/** Refuses a step that would not fit this process; `shorten` says how it can be made shorter. */
export function checkStepSize(
  operations: number,
  microBatches: number,
  use: keyof typeof HEAP_BYTES,
  shorten: string,
): void {
  const most = getHeapStatistics().heap_size_limit / HEAP_BYTES[use];
  if (operations <= most) return;
  const what = `the step has ${whole(operations)} operations of ${whole(microBatches)} micro-batches, this process holds about ${whole(most)}.`;
  const hint = `${shorten}, or set NODE_OPTIONS=--max-old-space-size to more megabytes.`;
  throw new InputError([issue('STEP_TOO_LARGE', '', what, hint)]);
}
