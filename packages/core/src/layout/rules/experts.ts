/** @file Rules of the expert grid: experts over its ranks, its ranks out of tensor x context x data, one pipeline. */
import { commonDivisors, degreeOf, divisorsOf, listed, nearest, strideOf } from '../../mesh/index.ts';
import { expertCounts, expertWidths, hasExpertGrid, meshOf } from '../experts.ts';
import type { LayoutRule } from './rule.ts';

type ExpertRule = LayoutRule<'tensor' | 'context' | 'data' | 'pipeline' | 'expert' | 'expertTensor' | 'order'>;

const megatron = 'Megatron-LM, training/arguments.py and megatron/core/parallel_state.py';
const grid = ['tensor', 'context', 'data', 'expert', 'expertTensor'] as const;

/** Rules that read the model, the degrees and the order. */
export const expertRules: readonly ExpertRule[] = [
  {
    code: 'EXPERT_NEEDS_EXPERTS',
    key: 'expert',
    reads: ['expert'],
    source: `${megatron}: num_moe_experts must be set for expert parallelism`,
    find: (job, { expert }) => {
      if (expert === 1 || expertCounts(job).length > 0) return undefined;
      return {
        message: `expert ${expert} is above 1 and ${job.model.name} has no experts.`,
        hint: 'Leave expert out, or use 1.',
        values: { expert, fits: [1] },
      };
    },
  },
  {
    code: 'EXPERTS_NOT_DIVISIBLE',
    key: 'expert',
    reads: ['expert'],
    source: `${megatron}; DeepSpeed, deepspeed/moe/layer.py: num_experts % ep_size == 0`,
    find: (job, { expert }) => {
      const counts = expertCounts(job);
      const experts = counts.find((count) => count % expert !== 0);
      if (experts === undefined) return undefined;
      const fits = nearest(commonDivisors(counts), expert);
      return {
        message: `${experts} experts cannot be split over ${expert} ranks.`,
        hint: `Use ${listed(fits)}.`,
        values: { experts, expert, fits },
      };
    },
  },
  {
    code: 'EXPERT_WIDTH_NOT_DIVISIBLE',
    key: 'expertTensor',
    reads: ['expertTensor'],
    source: `${megatron}: expert_tensor_parallel_size divides the width of an expert`,
    find: (job, { expertTensor }) => {
      const widths = expertWidths(job);
      const width = widths.find((each) => each % expertTensor !== 0);
      if (width === undefined) return undefined;
      const fits = nearest(commonDivisors(widths), expertTensor);
      return {
        message: `an expert of width ${width} cannot be split over ${expertTensor} ranks.`,
        hint: `Use ${listed(fits)}.`,
        values: { width, expertTensor, fits },
      };
    },
  },
  {
    code: 'EXPERT_GRID_NOT_RANKS',
    key: 'expert',
    reads: grid,
    source: `${megatron}: world % (etp ep pp) == 0; torchtitan, parallel_dims.py: ep divides dp_shard x cp x tp`,
    find: (job, layout) => {
      const { tensor, context, data, expert, expertTensor } = layout;
      const ranks = tensor * context * data;
      if (expertCounts(job).length === 0 || !hasExpertGrid(layout) || ranks % (expert * expertTensor) === 0) {
        return undefined;
      }
      const tensorFits = ranks % expertTensor === 0;
      const own = tensorFits ? expert : expertTensor;
      const fits = nearest(
        divisorsOf(tensorFits ? ranks / expertTensor : ranks).filter((each) =>
          tensorFits ? expertCounts(job).every((count) => count % each === 0) : true,
        ),
        own,
      );
      return {
        ...(!tensorFits && { key: 'expertTensor' as const }),
        message: `expertTensor ${expertTensor} x expert ${expert} = ${expert * expertTensor} does not divide the ${ranks} ranks of tensor ${tensor} x context ${context} x data ${data}.`,
        hint: `Use ${tensorFits ? 'expert' : 'expertTensor'} ${listed(fits)}.`,
        values: { tensor, context, data, expert, expertTensor, ranks, fits },
      };
    },
  },
  {
    code: 'EXPERT_GRID_MOVES_PIPELINE',
    key: 'order',
    reads: [...grid, 'pipeline', 'order'],
    source: `${megatron}: dense and expert pipeline groups must be identical; other orders need data == expert data`,
    find: (job, layout) => {
      const { tensor, context, data, pipeline, expert, expertTensor } = layout;
      const ranks = tensor * context * data;
      if (expertCounts(job).length === 0 || pipeline === 1 || !hasExpertGrid(layout)) return undefined;
      if (ranks % (expert * expertTensor) !== 0) return undefined;
      const mesh = meshOf(layout);
      const dense = strideOf(mesh, 'pipeline');
      const own = strideOf({ axes: mesh.experts ?? [] }, 'pipeline');
      if (dense === own) return undefined;
      return {
        message: `stages are ${dense} ranks apart in the dense grid and ${own} in the expert grid of ${degreeOf(mesh, 'expertData')} expert data ranks.`,
        hint: 'Put pipeline last in the order, or first.',
        values: { dense, own },
      };
    },
  },
];

/** Rules of the expert grid that the sequence decides. */
export const expertSequenceRules: readonly LayoutRule<'tensor' | 'sequenceParallel' | 'expert' | 'expertTensor'>[] = [
  {
    code: 'EXPERTS_NEED_SEQUENCE_PARALLEL',
    key: 'sequenceParallel',
    reads: ['tensor', 'sequenceParallel', 'expert', 'expertTensor'],
    source: 'Megatron-LM, megatron/core/transformer/moe/moe_layer.py: training with attention tensor > 1 needs it',
    find: (job, layout) => {
      const { tensor, sequenceParallel, expert, expertTensor } = layout;
      if (tensor === 1 || sequenceParallel || !hasExpertGrid(layout) || expertCounts(job).length === 0)
        return undefined;
      return {
        message: `sequence parallelism is off and experts lie over a grid of their own (expert ${expert}, expertTensor ${expertTensor}) beside tensor ${tensor}.`,
        hint: `Turn it on: each tensor rank sends its own tokens. Or use expert 1 and expertTensor ${tensor}.`,
        values: { tensor, expert, expertTensor },
      };
    },
  },
];
