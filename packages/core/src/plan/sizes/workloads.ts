/** @file The smallest cluster of a job beside that of the same job under other workloads: training, full fine-tuning, adapters. */
import { createJob, type Job, type Workload } from '../../job/index.ts';
import { type AdapterSpec, ALL_LINEAR, checkAdapters, countParameters } from '../../model/index.ts';
import type { SearchOptions } from '../search.ts';
import type { PlannedSize } from './size.ts';
import { type Smallest, smallestCluster } from './smallest.ts';

export interface WorkloadSize {
  readonly workload: Workload;
  /** Parameters that have gradients and optimizer state; absent where the workload is not modelled. */
  readonly trainedParameters?: number;
  /** The smallest cluster that fits, and its fastest layout; absent where there is none. */
  readonly size?: PlannedSize;
  /** Why there is none. */
  readonly why?: string;
}

/** Adapters that a job is asked about when it has none: rank 16 beside every linear layer of the blocks. */
export const usualAdapters: AdapterSpec = Object.freeze({ rank: 16, alpha: 16, targets: Object.freeze([ALL_LINEAR]) });

/** Training, fine-tuning of all weights, and adapters, each on its smallest cluster; `own` is the answer for the job's own
 * workload. Pre-training, packed or not, and full fine-tuning differ in their samples only: one search answers them. */
export function workloadSizes(job: Job, own: Smallest, options: SearchOptions): readonly WorkloadSize[] {
  if (typeof job.workload === 'object') {
    const whole = createJob({ ...job, workload: 'sft' });
    const found = smallestCluster(whole, options);
    return [row(whole, 'pretrain', found), row(whole, 'sft', found), row(job, job.workload, own)];
  }
  const first = job.workload === 'packed' ? 'packed' : 'pretrain';
  return [row(job, first, own), row(job, 'sft', own), adapted(job, options)];
}

function adapted(job: Job, options: SearchOptions): WorkloadSize {
  const workload: Workload = { lora: usualAdapters };
  const [refusal] = checkAdapters(job.model, usualAdapters, 'workload.lora');
  if (refusal) return { workload, why: refusal.message };
  const mine = createJob({ ...job, workload });
  return row(mine, workload, smallestCluster(mine, options));
}

function row({ model }: Job, workload: Workload, { found, sizes, never }: Smallest): WorkloadSize {
  const size = found && sizes.at(-1);
  const trainedParameters = countParameters(model).trainable;
  if (size) return { workload, trainedParameters, size };
  return { workload, trainedParameters, why: never?.words ?? 'no layout fits on any size.' };
}
