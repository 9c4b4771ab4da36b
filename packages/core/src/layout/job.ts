import { type ClusterSpec, gpuCount } from '../cluster/index.ts';
import { type FrameworkProfile, frameworks } from '../frameworks/index.ts';
import type { ModelSpec } from '../model/index.ts';

/** What layouts depend on; every `Job` is one. (A job holds a layout request, so this room cannot import it.) */
export interface LayoutJob {
  readonly model: ModelSpec;
  readonly cluster: ClusterSpec;
  /** Sequences of the global batch, tokens of one sequence. */
  readonly batch: { readonly sequences: number; readonly length: number };
  readonly precision: 'fp32' | 'bf16' | 'fp16';
  readonly kernels: { readonly attention: 'flash' | 'unfused' };
  readonly framework: keyof typeof frameworks;
}

/** GPUs of the job's cluster: what the degrees multiply to. */
export const gpusOf = (job: LayoutJob): number => gpuCount(job.cluster);

/** The habits of the job's framework. */
export const profileOf = (job: LayoutJob): FrameworkProfile => frameworks[job.framework];
