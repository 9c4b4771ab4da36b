/** @file From allocated bytes to a verdict: three numbers that are never mixed, and the margin to the capacity.
 *
 * allocated: tensors. reserved: allocated and what the allocator loses to fragments. device: reserved, communicators and
 * the context of the driver. The verdict compares device bytes with what the allocator of the device can see.
 */
import { capacityBytes } from '../cluster/index.ts';
import type { Assumption } from '../cost/index.ts';
import type { Job } from '../job/index.ts';
import type { Layout } from '../layout/index.ts';

export type Verdict = 'fits' | 'at-risk' | 'does-not-fit';

interface Range {
  readonly value: number;
  readonly low: number;
  readonly high: number;
}

/** Share of what comes and goes (activations, buffers) that an allocator with expandable segments loses. */
const FRAGMENTS: Range = { value: 0.03, low: 0.01, high: 0.08 };
/** Bytes of one communicator; an axis with more than one rank has one. */
const COMMUNICATOR: Range = { value: 0.5e9, low: 0.2e9, high: 0.8e9 };
/** Bytes of context, kernels and workspace of the matrix library. */
const CONTEXT: Range = { value: 0.75e9, low: 0.4e9, high: 1.2e9 };

export const memoryAssumptions: readonly Assumption[] = [
  { what: 'share of activations and buffers lost to fragments', ...FRAGMENTS, source: 'a guess with a range' },
  { what: 'bytes of a communicator', ...COMMUNICATOR, source: 'physics notes: about 0.5 GB each' },
  {
    what: 'bytes of context and workspace',
    ...CONTEXT,
    source: 'context 0.3 to 0.6 GB (physics notes), workspace of the matrix library 0.1 to 0.6 GB, a guess',
  },
];

export interface DeviceMemory {
  readonly allocatedBytes: number;
  readonly reservedBytes: number;
  readonly deviceBytes: number;
  /** Bytes on the device at the high end of what is assumed. */
  readonly mostBytes: number;
  readonly verdict: Verdict;
}

/** Device bytes and their high end against a capacity. */
export function verdictOf(deviceBytes: number, mostBytes: number, capacity: number): Verdict {
  if (deviceBytes > capacity) return 'does-not-fit';
  return mostBytes > capacity ? 'at-risk' : 'fits';
}

/** Axes with more than one rank: each has a communicator. */
const communicators = (layout: Layout): number =>
  (layout.tensor > 1 ? 1 : 0) +
  (layout.context > 1 ? 1 : 0) +
  (layout.data > 1 ? 1 : 0) +
  (layout.pipeline > 1 ? 1 : 0);

/** Bytes on a device that has allocated `peak` bytes of which `resident` never move, not rounded. */
export const expectedBytes = (layout: Layout, peak: number, resident: number): number =>
  peak + (peak - resident) * FRAGMENTS.value + communicators(layout) * COMMUNICATOR.value + CONTEXT.value;

/** Memory of a device that has allocated `peak` bytes of which `resident` never move. */
export function deviceMemory(job: Job, layout: Layout, peak: number, resident: number): DeviceMemory {
  const capacity = capacityBytes(job.cluster);
  const reserved = (share: number): number => peak + (peak - resident) * share;
  const expected = expectedBytes(layout, peak, resident);
  const most = reserved(FRAGMENTS.high) + communicators(layout) * COMMUNICATOR.high + CONTEXT.high;
  return {
    allocatedBytes: Math.round(peak),
    reservedBytes: Math.round(reserved(FRAGMENTS.value)),
    deviceBytes: Math.round(expected),
    mostBytes: Math.round(most),
    verdict: verdictOf(expected, most, capacity),
  };
}

/** The verdict of the fullest stage. */
export function worstVerdict(verdicts: readonly Verdict[]): Verdict {
  if (verdicts.includes('does-not-fit')) return 'does-not-fit';
  return verdicts.includes('at-risk') ? 'at-risk' : 'fits';
}
