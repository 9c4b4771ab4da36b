/** @file Batches: what the global batch is dealt out to, step by step and in every phase. */
import { divisorsOf, listed, multiplesAround, nearest } from '../../mesh/index.ts';
import { type FrameworkRule, megatrons, rule } from './rule.ts';

const calculator = 'Megatron-LM, megatron/core/num_microbatches_calculator.py';

/** Rules of batches. */
export const batchRules: readonly FrameworkRule[] = [
  rule(
    'BATCH_NOT_DIVISIBLE',
    [...megatrons, 'torchtitan', 'deepspeed', 'fsdp', 'nanotron'],
    `${calculator}; torchtitan, torchtitan/train.py: global_batch_size % (local_batch_size x dp); DeepSpeed and nanotron: whole micro-batches`,
    ['sequences', 'microBatch', 'data'],
    ({ sequences, microBatch, data }) => {
      if (sequences % (microBatch * data) === 0) return undefined;
      const fits = sequences % data === 0 ? nearest(divisorsOf(sequences / data), microBatch) : [];
      const batches = multiplesAround(sequences, data * microBatch);
      const other = fits.length > 0 ? `a micro-batch of ${listed(fits)}, or ` : '';
      return {
        key: 'microBatch',
        message: `${sequences} sequences cannot be split over data ${data} x micro-batch ${microBatch}.`,
        hint: `Use ${other}a batch of ${listed(batches)} sequences.`,
        values: { sequences, data, microBatch, batches, fits },
      };
    },
  ),
  rule(
    'RAMP_NOT_DIVISIBLE',
    megatrons,
    `${calculator}, RampupBatchsizeNumMicroBatchesCalculator: every batch of the ramp; BigScience chose data for steps of 32`,
    ['rampStart', 'rampIncrement', 'sequences', 'microBatch', 'data'],
    ({ rampStart, rampIncrement, sequences, microBatch, data }) => {
      const each = microBatch * data;
      const key = rampStart % each !== 0 ? 'rampStart' : 'rampIncrement';
      const value = key === 'rampStart' ? rampStart : rampIncrement;
      if (value % each !== 0) {
        const near = multiplesAround(value, each);
        return {
          key,
          message: `a ramp by ${value} cannot be split over data ${data} x micro-batch ${microBatch}.`,
          hint: `Use ${listed(near)}.`,
          values: { value, data, microBatch, near },
        };
      }
      if ((sequences - rampStart) % rampIncrement === 0) return undefined;
      const fits = divisorsOf(Math.max(each, sequences - rampStart)).filter((step) => step % each === 0);
      return {
        key: 'rampIncrement',
        message: `steps of ${rampIncrement} from ${rampStart} do not end at ${sequences}.`,
        hint: `Use ${listed(nearest(fits, rampIncrement))}.`,
        values: { rampStart, rampIncrement, sequences, fits: nearest(fits, rampIncrement) },
      };
    },
  ),
  rule(
    'EVALUATION_BATCH_NOT_DIVISIBLE',
    megatrons,
    `${calculator}; megatron/training/arguments.py: the validation batch as well`,
    ['evaluationSequences', 'microBatch', 'data'],
    ({ evaluationSequences, microBatch, data }) => {
      if (evaluationSequences % (microBatch * data) === 0) return undefined;
      const fits = multiplesAround(evaluationSequences, microBatch * data);
      return {
        key: 'evaluationSequences',
        message: `${evaluationSequences} sequences of validation cannot be split over data ${data} x micro-batch ${microBatch}.`,
        hint: `Use ${listed(fits)}.`,
        values: { evaluationSequences, microBatch, data, fits },
      };
    },
  ),
  rule(
    'BATCH_NOT_PRODUCT',
    ['deepspeed'],
    'DeepSpeed, deepspeed/runtime/config.py, _batch_assertion: train_batch = micro_batch x accumulation x world; issues 3982, 6914',
    ['sequences', 'microBatch', 'accumulation', 'data'],
    ({ sequences, microBatch, accumulation, data }) => {
      const whole = microBatch * accumulation * data;
      if (whole === sequences) return undefined;
      const fits = sequences % (microBatch * data) === 0 ? [sequences / (microBatch * data)] : [];
      const other = fits.length > 0 ? `an accumulation of ${fits[0]}, or ` : '';
      return {
        key: 'accumulation',
        message: `micro-batch ${microBatch} x accumulation ${accumulation} x data ${data} = ${whole} is not the batch of ${sequences}.`,
        hint: `Use ${other}a batch of ${whole}.`,
        values: { sequences, microBatch, accumulation, data, fits },
      };
    },
  ),
  rule(
    'LOCAL_BATCH_NOT_DIVISIBLE',
    ['torchtitan'],
    'torchtitan, pull request 947: the local batch is cut into micro-batches of the pipeline',
    ['localBatch', 'microBatch', 'pipeline'],
    ({ localBatch, microBatch, pipeline }) => {
      if (pipeline === 1 || localBatch % microBatch === 0) return undefined;
      const fits = nearest(divisorsOf(localBatch), microBatch);
      return {
        key: 'microBatch',
        message: `a local batch of ${localBatch} cannot be cut into micro-batches of ${microBatch}.`,
        hint: `Use ${listed(fits)}.`,
        values: { localBatch, microBatch, fits },
      };
    },
  ),
];
