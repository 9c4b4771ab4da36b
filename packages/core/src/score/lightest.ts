/** @file What a run gave up to fit, where nobody says: the least that this tool needs for the run to fit.
 *
 * The run ran. Where its row leaves open what is recomputed, nothing more than `layout` says is assumed as long as that
 * fits; else the smallest share of the layers, in eighths, whose activations are made again or, where the framework's
 * recipes do so, copied to the host and back. Of two ways that fit, the one that costs less time.
 */
import { capacityBytes } from '../cluster/index.ts';
import { frameworks } from '../frameworks/index.ts';
import type { Job } from '../job/index.ts';
import { type Layout, microBatchesOf } from '../layout/index.ts';

/** What is asked of one layout. */
export interface LayoutPrice {
  readonly seconds: number;
  readonly allocatedBytes: number;
  readonly deviceBytes: number;
}

/** A share of the layers that keeps nothing on the device, and how. */
export interface GivenUp {
  readonly share: number;
  readonly by: 'recompute' | 'offload';
  /** Seconds of copies that do not hide. */
  readonly waits: number;
  readonly assumed: string;
}

const PARTS = 8;
/** Of a step's compute that forward is: copies out run beside it, copies in beside backward. */
const FORWARD = 1 / 3;

/** The least that is given up; undefined where `kept` fits, or nothing helps. */
export function leastGivenUp(job: Job, layout: Layout, kept: LayoutPrice, full: LayoutPrice): GivenUp | undefined {
  const capacity = capacityBytes(job.cluster);
  if (kept.deviceBytes <= capacity) return undefined;
  const shares = Array.from({ length: PARTS }, (_, index) => (index + 1) / PARTS);
  const share = shares.find((each) => kept.deviceBytes + each * (full.deviceBytes - kept.deviceBytes) <= capacity);
  if (share === undefined) return undefined;
  const again: GivenUp = {
    share,
    by: 'recompute',
    waits: 0,
    assumed: `recomputation: not stated; the least that fits, ${percent(share)} of the layers`,
  };
  if (!frameworks[job.framework].offloadsActivations.value || layout.pipeline > 1) return again;
  const { copyBandwidth } = job.cluster.host;
  const moved = share * (kept.allocatedBytes - full.allocatedBytes) * microBatchesOf(job, layout);
  const waits = waitsFor(moved / copyBandwidth.value, kept.seconds);
  if (waits >= share * (full.seconds - kept.seconds)) return again;
  return {
    share,
    by: 'offload',
    waits,
    assumed: `recomputation: not stated; the least that fits, activations of ${percent(share)} of the layers on the host`,
  };
}

const waitsFor = (copies: number, seconds: number): number =>
  Math.max(0, copies - FORWARD * seconds) + Math.max(0, copies - (1 - FORWARD) * seconds);

const percent = (share: number): string => `${Math.round(100 * share)} %`;
