/** @file The smallest cluster of a kind on which a job fits. */
import { capacityBytes, clusterSizes } from '../../cluster/index.ts';
import { frozenPerParameter, statePerParameter } from '../../compile/index.ts';
import type { Job } from '../../job/index.ts';
import { completeLayout } from '../../layout/index.ts';
import { countParameters } from '../../model/index.ts';
import { type SearchOptions, type SearchResult, searchLayouts } from '../search.ts';
import { splitCosts } from '../split-costs.ts';
import { type NeverFits, neverFits } from './never-fits.ts';
import { jobOnGpus, type PlannedSize, plannedSize } from './size.ts';

/** Most devices that are tried. */
export const MOST_GPUS = 65_536;

export interface Smallest {
  /** The job on the smallest cluster that fits, and its search; absent when none up to {@link MOST_GPUS} does. */
  readonly found?: { readonly job: Job; readonly result: SearchResult };
  /** Why no size was tried. */
  readonly never?: NeverFits;
  /** The largest size whose memory is less than the state, then those that were tried; the last one fits. */
  readonly sizes: readonly PlannedSize[];
}

/** Tries sizes in ascending order, from the fewest devices whose memory together holds one copy of the state.
 *
 * Fitting is not monotone in the size (degrees must divide it), so none is skipped between there and the first that fits.
 */
export function smallestCluster(
  job: Job,
  options: SearchOptions,
  onSize: (gpus: number) => void = () => undefined,
  pricePerGpuHour?: number,
): Smallest {
  const state = stateBytes(job);
  const never = neverFits(job);
  if (never) return { never, sizes: [] };
  const fewest = Math.max(1, Math.ceil(state / capacityBytes(job.cluster)));
  const sizes: PlannedSize[] = [...tooSmall(job, fewest, state)];
  for (const gpus of clusterSizes(job.cluster, fewest, MOST_GPUS)) {
    const sized = jobOnGpus(job, gpus);
    if (sized === undefined) continue;
    onSize(gpus);
    const result = searchLayouts(sized, options);
    sizes.push(plannedSize(sized, result, pricePerGpuHour));
    if (result.best.length > 0) return { found: { job: sized, result }, sizes };
  }
  return { sizes };
}

/** Bytes of weights, gradients and optimizer of the whole model, once. */
function stateBytes(job: Job): number {
  const alone = completeLayout({ ...job.layout, data: 1, sharding: 0 }, job, splitCosts(job)).layout;
  const { weights, gradients, optimizer } = statePerParameter(job, alone);
  const { total, trainable } = countParameters(job.model);
  return trainable * (weights + gradients + optimizer) + (total - trainable) * frozenPerParameter(job, alone);
}

/** The largest size whose memory together does not hold the state, where there is one. */
function tooSmall(job: Job, fewest: number, state: number): readonly PlannedSize[] {
  const gpus = [...clusterSizes(job.cluster, 1, fewest - 1)].at(-1);
  const cluster = gpus === undefined ? undefined : jobOnGpus(job, gpus)?.cluster;
  if (gpus === undefined || !cluster) return [];
  return [{ gpus, cluster: cluster.name, verdict: 'does-not-fit', deviceBytes: Math.ceil(state / gpus) }];
}
