/** @file Cases of the rules in ../batch.ts; numbers of users' own reports where there are some. */
import type { RuleCase } from './rule-case.fixture.ts';

export const batchCases: readonly RuleCase[] = [
  {
    code: 'BATCH_NOT_DIVISIBLE',
    framework: 'nemo',
    breaks: { sequences: 1, microBatch: 1, data: 24 },
    passes: { sequences: 24 },
    says: 'layout.microBatch: 1 sequences cannot be split over data 24 x micro-batch 1. Use a batch of 24 sequences.',
  },
  {
    // BigScience took data % 4 for ramps by 32.
    code: 'RAMP_NOT_DIVISIBLE',
    framework: 'megatron',
    breaks: { sequences: 2048, microBatch: 4, data: 12, switches: { rampStart: 192, rampIncrement: 32 } },
    passes: { microBatch: 2, data: 4 },
    says: 'framework.rampIncrement: a ramp by 32 cannot be split over data 12 x micro-batch 4. Use 48.',
  },
  {
    code: 'EVALUATION_BATCH_NOT_DIVISIBLE',
    framework: 'megatron',
    breaks: { microBatch: 2, data: 8, switches: { evaluationSequences: 40 } },
    passes: { microBatch: 1 },
    says: 'framework.evaluationSequences: 40 sequences of validation cannot be split over data 8 x micro-batch 2. Use 32 or 48.',
  },
  {
    // Issue 3982: 64 is not 4 x 8 x 1, because the world was read before there was one.
    code: 'BATCH_NOT_PRODUCT',
    framework: 'deepspeed',
    breaks: { sequences: 64, microBatch: 4, data: 1, switches: { accumulation: 8 } },
    passes: { data: 2 },
    says: 'framework.accumulation: micro-batch 4 x accumulation 8 x data 1 = 32 is not the batch of 64. Use an accumulation of 16, or a batch of 32.',
  },
  {
    code: 'LOCAL_BATCH_NOT_DIVISIBLE',
    framework: 'torchtitan',
    breaks: { pipeline: 2, microBatch: 4, switches: { localBatch: 6 } },
    passes: { microBatch: 3 },
    says: 'layout.microBatch: a local batch of 6 cannot be cut into micro-batches of 4. Use 1, 2, 3 or 6.',
  },
];
