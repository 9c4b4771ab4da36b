/** @file A job cut down to fewer micro-batches. */
import type { Job } from '../job/index.ts';
import type { Layout } from '../layout/index.ts';

/** The same job with as many sequences as these micro-batches take under a layout. */
export const shortenedJob = (job: Job, layout: Layout, microBatches: number): Job => ({
  ...job,
  batch: { ...job.batch, sequences: microBatches * layout.data * layout.microBatch },
});
