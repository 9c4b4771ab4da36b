/** @file Rules of the GPU count, the batch, the data axis and the order of axes. */
import { divisorsOf, listed, multiplesAround, nearest } from '../divisors.ts';
import { gpusOf } from '../job.ts';
import type { Finding, LayoutRule } from './rule.ts';

/** Rules of the GPU count. */
export const degreeRules: readonly LayoutRule<'tensor' | 'pipeline' | 'data'>[] = [
  {
    code: 'DEGREES_NOT_GPUS',
    key: 'data',
    reads: ['tensor', 'pipeline', 'data'],
    source: 'Megatron-LM, training/arguments.py; torchtitan, parallel_dims.py',
    find: (job, { tensor, pipeline, data }) => {
      const gpus = gpusOf(job);
      const product = tensor * pipeline * data;
      if (product === gpus) return undefined;
      return {
        ...fittingDegree(gpus, tensor, pipeline, data),
        message: `tensor ${tensor} x pipeline ${pipeline} x data ${data} = ${product} is not the ${gpus} GPUs.`,
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
export const reductionRules: readonly LayoutRule<'data' | 'sharding' | 'gradientReduction'>[] = [
  {
    code: 'REDUCTION_NEEDS_SHARDING',
    key: 'gradientReduction',
    reads: ['data', 'sharding', 'gradientReduction'],
    source: 'DDP and the distributed optimizer add up whole gradients and reduce them once per step',
    find: (_job, { data, sharding, gradientReduction }) => {
      if (gradientReduction === 'per-step' || sharding >= 2 || data === 1) return undefined;
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

/** The degree that can be mended alone: data, else pipeline, else tensor; else data with all degrees to rethink. */
function fittingDegree(gpus: number, tensor: number, pipeline: number, data: number): Omit<Finding, 'message'> {
  const values = { tensor, pipeline, data, gpus };
  const mended = (
    [
      ['data', tensor * pipeline],
      ['pipeline', tensor * data],
      ['tensor', pipeline * data],
    ] as const
  ).find(([, others]) => gpus % others === 0);
  if (mended) {
    const [key, others] = mended;
    return { key, hint: `Use ${key} ${gpus / others}.`, values: { ...values, fits: [gpus / others] } };
  }
  const tensors = nearest(divisorsOf(gpus), tensor);
  return {
    key: 'tensor',
    hint: `Use degrees that divide ${gpus}, for example tensor ${listed(tensors)}, pipeline 1, and leave data out.`,
    values,
  };
}
