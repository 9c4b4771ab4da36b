/** @file Rules of the GPU count, the batch, the data axis and the order of axes. */
import { divisorsOf, listed, multiplesAround, nearest } from '../../mesh/index.ts';
import { gpusOf } from '../job.ts';
import type { Finding, LayoutRule } from './rule.ts';

/** Rules of the GPU count. */
export const degreeRules: readonly LayoutRule<'tensor' | 'pipeline' | 'data' | 'context'>[] = [
  {
    code: 'DEGREES_NOT_GPUS',
    key: 'data',
    reads: ['tensor', 'pipeline', 'data', 'context'],
    source: 'Megatron-LM, training/arguments.py; torchtitan, parallel_dims.py',
    find: (job, degrees) => {
      const gpus = gpusOf(job);
      const { tensor, pipeline, data, context } = degrees;
      const product = tensor * pipeline * data * context;
      if (product === gpus) return undefined;
      const split = context > 1 ? ` x context ${context}` : '';
      return {
        ...fittingDegree(gpus, degrees),
        message: `tensor ${tensor} x pipeline ${pipeline} x data ${data}${split} = ${product} is not the ${gpus} GPUs.`,
      };
    },
  },
];

/** Rules of the batch. */
export const batchRules: readonly LayoutRule<'data' | 'microBatch'>[] = [
  {
    code: 'BATCH_NOT_DIVISIBLE',
    key: 'microBatch',
    reads: ['data', 'microBatch'],
    source: 'Megatron-LM, megatron/core/num_microbatches_calculator.py',
    find: (job, { data, microBatch }) => {
      const { sequences } = job.batch;
      if (sequences % (data * microBatch) === 0) return undefined;
      const fitting = sequences % data === 0 ? nearest(divisorsOf(sequences / data), microBatch) : [];
      const batches = multiplesAround(sequences, data * microBatch);
      const other = fitting.length > 0 ? `a micro-batch of ${listed(fitting)}, or ` : '';
      return {
        message: `${sequences} sequences cannot be split over data ${data} x micro-batch ${microBatch}.`,
        hint: `Use ${other}a batch of ${listed(batches)} sequences.`,
        values: { sequences, data, microBatch, batches, fits: fitting },
      };
    },
  },
];

/** Rules of the data axis. */
export const reductionRules: readonly LayoutRule<'data' | 'context' | 'sharding' | 'gradientReduction'>[] = [
  {
    code: 'REDUCTION_NEEDS_SHARDING',
    key: 'gradientReduction',
    reads: ['data', 'context', 'sharding', 'gradientReduction'],
    source: 'DDP and the distributed optimizer add up whole gradients and reduce them once per step',
    find: (_job, { data, context, sharding, gradientReduction }) => {
      if (gradientReduction === 'per-step' || sharding >= 2 || data * context === 1) return undefined;
      return {
        message: `gradients are whole under sharding ${sharding} and cannot be reduced per micro-batch.`,
        hint: 'Use per-step, or sharding 2 or 3.',
        values: { sharding, gradientReduction, fits: ['per-step'] },
      };
    },
  },
];

/** Rules of the mesh. */
export const orderRules: readonly LayoutRule<'order'>[] = [
  {
    code: 'ORDER_AXIS_TWICE',
    key: 'order',
    reads: ['order'],
    source: 'a mesh has each axis once',
    find: (_job, { order }) => {
      const twice = order.find((axis, index) => order.indexOf(axis) !== index);
      if (twice === undefined) return undefined;
      return {
        message: `the axis ${twice} stands twice in ${order.join('-')}.`,
        hint: 'Name each axis once.',
        values: { axis: twice, order },
      };
    },
  },
];

/** The degree that can be mended alone: data, else pipeline, else tensor, else context; else data with all to rethink. */
function fittingDegree(
  gpus: number,
  degrees: Readonly<Record<'tensor' | 'pipeline' | 'data' | 'context', number>>,
): Omit<Finding, 'message'> {
  const { tensor, pipeline, data, context } = degrees;
  const product = tensor * pipeline * data * context;
  const values = { tensor, pipeline, data, ...(context > 1 && { context }), gpus };
  const keys = ['data', 'pipeline', 'tensor', ...(context > 1 ? (['context'] as const) : [])] as const;
  const key = keys.find((each) => gpus % (product / degrees[each]) === 0);
  if (key) {
    const fits = gpus / (product / degrees[key]);
    return { key, hint: `Use ${key} ${fits}.`, values: { ...values, fits: [fits] } };
  }
  const tensors = nearest(divisorsOf(gpus), tensor);
  return {
    key: 'tensor',
    hint: `Use degrees that divide ${gpus}, for example tensor ${listed(tensors)}, pipeline 1, and leave data out.`,
    values,
  };
}
