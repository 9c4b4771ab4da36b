/** @file One job on clusters of one kind and several sizes. */
import { clusterSizes, gpuCount, resizeCluster } from '../../cluster/index.ts';
import type { Job } from '../../job/index.ts';
import { formatLayout } from '../../layout/index.ts';
import type { SearchResult } from '../search.ts';
import type { Verdict } from '../verdict.ts';
import { type Amounts, amountsOf } from './amounts.ts';

/** What came of one size. */
export interface PlannedSize {
  readonly gpus: number;
  readonly cluster: string;
  /** Of the best layout; `illegal` when no layout of this size is legal. */
  readonly verdict: Verdict | 'illegal';
  /** Short form of the best layout; of that with the least memory where none fits. */
  readonly layout?: string;
  /** Seconds of a step of the best layout that fits. */
  readonly seconds?: number;
  /** Bytes of the fullest GPU of `layout`; a lower bound where none fits. */
  readonly deviceBytes?: number;
  readonly amounts?: Amounts;
}

/** The same job on `gpus` devices of its kind; undefined where these are no whole nodes. */
export function jobOnGpus(job: Job, gpus: number): Job | undefined {
  const cluster = resizeCluster(job.cluster, gpus);
  return cluster && Object.freeze({ ...job, cluster });
}

/** The answer of a search in a line. */
export function plannedSize(job: Job, found: SearchResult, pricePerGpuHour: number | undefined): PlannedSize {
  const gpus = gpuCount(job.cluster);
  const size = { gpus, cluster: job.cluster.name };
  const best = found.best[0] ?? found.atRisk[0];
  if (best === undefined) {
    if (found.leastMemory === undefined) return { ...size, verdict: 'illegal' };
    const { layout, peakBytes } = found.leastMemory;
    return { ...size, verdict: 'does-not-fit', layout: formatLayout(layout), deviceBytes: Math.round(peakBytes) };
  }
  const { seconds } = best.evaluation;
  return {
    ...size,
    verdict: best.verdict,
    layout: formatLayout(best.layout),
    seconds,
    deviceBytes: best.deviceBytes,
    amounts: amountsOf(job, gpus, seconds, pricePerGpuHour),
  };
}

/** Sizes up to that of the job's cluster that are compared with each other: the divisors of a node, then doublings and
 * divisors of its nodes, and itself. */
export function comparedSizes({ cluster }: Job): readonly number[] {
  const all = gpuCount(cluster);
  const { gpusPerNode, nodes } = cluster;
  const isCompared = (gpus: number): boolean => {
    const count = gpus / gpusPerNode;
    return count < 1 || nodes % count === 0 || Number.isInteger(Math.log2(count));
  };
  return [...clusterSizes(cluster, 1, all)].filter(isCompared);
}
