import type { Job } from '../job/index.ts';

/** FLOP/s of the device at its best for a type; the job's own type when none is named. */
export function peakRate(job: Job, dtype: string = job.precision): number {
  const { gemm } = job.cluster.device;
  if (dtype === 'fp32') return gemm.fp32.peak.value;
  return dtype === 'fp16' ? gemm.fp16.peak.value : gemm.bf16.peak.value;
}
