import { halfProducts } from '../cluster/index.ts';
import type { Job } from '../job/index.ts';

/** FLOP/s of the device at its best for a type; the job's own type when none is named. */
export function peakRate(job: Job, dtype: string = job.precision): number {
  const { device } = job.cluster;
  return (dtype === 'fp32' ? device.gemm.fp32 : halfProducts(device)).peak.value;
}
