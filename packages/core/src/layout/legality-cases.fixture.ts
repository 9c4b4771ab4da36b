import type { Code } from '../errors/index.ts';
import type { SampleSizes } from './sample.fixture.ts';
import type { Layout } from './types.ts';

/** Legal for the sample job on 8 GPUs. */
export const base: Layout = {
  tensor: 2,
  pipeline: 2,
  data: 2,
  context: 1,
  contextKind: 'ring',
  expert: 1,
  expertTensor: 2,
  sharding: 1,
  prefetch: 1,
  reshard: true,
  replicate: 1,
  layers: [],
  offload: 'none',
  lossChunks: 1,
  bucketMB: 25,
  gradientType: 'bf16',
  gradientReduction: 'per-step',
  overlap: ['data', 'parameters', 'pipeline'],
  microBatch: 1,
  chunks: 1,
  layersPerStage: [16, 16],
  schedule: '1f1b',
  recompute: 'none',
  sequenceParallel: true,
  keepGathered: false,
  order: ['tensor', 'context', 'expert', 'data', 'pipeline'],
};

const four = { tensor: 4, pipeline: 1, data: 2, schedule: 'none', layersPerStage: [32] } as const;
const one = { pipeline: 1, schedule: 'none', layersPerStage: [32] } as const;
const interleaved = { chunks: 2, layersPerStage: [8, 8, 8, 8], schedule: 'interleaved-1f1b' } as const;

interface Case {
  readonly code: Code;
  readonly sizes?: SampleSizes;
  /** Breaks the rule, with what it says. */
  readonly breaks: Partial<Layout>;
  readonly says: string;
  /** Just passes it, for the same job unless `passSizes` says otherwise. */
  readonly passes: Partial<Layout>;
  readonly passSizes?: SampleSizes;
}

/** A layout that breaks each rule, and one that just passes it. */
export const cases: readonly Case[] = [
  {
    code: 'VALUE_NOT_YET',
    breaks: { overlap: ['data'] },
    says: 'layout.overlap: sends between the 2 stages are to hold up compute, which is not priced yet. Use overlap data+pipeline, or pipeline 1.',
    passes: { overlap: ['pipeline'] },
  },
  {
    code: 'OVERRIDE_OUT_OF_RANGE',
    breaks: { layers: [{ from: 30, to: 32, recompute: 'full' }] },
    says: 'layout.layers: layers 30 to 32 are not a row of the 32 layers, which are counted from 0. Use from <= to, both from 0 to 31.',
    passes: { layers: [{ from: 30, to: 31, recompute: 'full' }] },
  },
  {
    code: 'OVERRIDES_OVERLAP',
    breaks: {
      layers: [
        { from: 8, to: 12, recompute: 'selective' },
        { from: 0, to: 8, recompute: 'full' },
      ],
    },
    says: 'layout.layers: layer 8 stands in two rows, 0 to 8 and 8 to 12. Give each layer one row.',
    passes: {
      layers: [
        { from: 9, to: 12, recompute: 'selective' },
        { from: 0, to: 8, recompute: 'full' },
      ],
    },
  },
  {
    code: 'DEGREES_NOT_GPUS',
    breaks: { data: 4 },
    says: 'layout.data: tensor 2 x pipeline 2 x data 4 = 16 is not the 8 GPUs. Use data 2.',
    passes: {},
  },
  {
    code: 'CONTEXT_SEQUENCE_NOT_DIVISIBLE',
    sizes: { length: 4098 },
    breaks: { ...one, data: 1, context: 2, tensor: 4, sequenceParallel: false },
    says: 'layout.context: sequences of 4098 tokens cannot be cut into 2 x 2 equal pieces. Use 1, 3, 683 or 2049, or a length of 4096 or 4100.',
    passes: { ...one, data: 1, context: 2, tensor: 4 },
    passSizes: { length: 4096 },
  },
  {
    code: 'CONTEXT_HEADS_NOT_DIVISIBLE',
    sizes: { kvHeads: 4 },
    breaks: { ...one, data: 1, context: 2, tensor: 4, contextKind: 'all-to-all' },
    says: 'layout.contextKind: the 1 heads of keys and values of a tensor rank cannot be shared out by 2 context ranks. Use cpkind ring or all-gather, or context 1.',
    passes: { ...one, data: 1, context: 4, tensor: 2, contextKind: 'hybrid' },
  },
  {
    code: 'CONTEXT_ATTENTION_NOT_SPLIT',
    sizes: { attention: 'unfused' },
    breaks: { ...one, data: 1, context: 2, tensor: 4 },
    says: 'layout.context: attention that writes its scores cannot be shared by 2 context ranks. Use kernels.attention flash, or context 1.',
    passes: { ...one, data: 1, context: 2, tensor: 4 },
    passSizes: {},
  },
  {
    code: 'EXPERT_NEEDS_EXPERTS',
    breaks: { expert: 2 },
    says: 'layout.expert: expert 2 is above 1 and sample has no experts. Leave expert out, or use 1.',
    passes: {},
  },
  {
    code: 'EXPERTS_NOT_DIVISIBLE',
    sizes: { experts: 6 },
    breaks: { expert: 4, expertTensor: 1 },
    says: 'layout.expert: 6 experts cannot be split over 4 ranks. Use 1, 2, 3 or 6.',
    passes: { expert: 2, expertTensor: 1 },
  },
  {
    code: 'EXPERT_WIDTH_NOT_DIVISIBLE',
    sizes: { experts: 8, ffn: 11_007 },
    breaks: {},
    says: 'layout.expertTensor: an expert of width 11007 cannot be split over 2 ranks. Use 1, 3, 9, 1223, 3669 or 11007.',
    passes: { tensor: 1, data: 4, expertTensor: 1, sequenceParallel: false },
  },
  {
    code: 'EXPERT_GRID_NOT_RANKS',
    sizes: { experts: 8 },
    breaks: { expert: 8, expertTensor: 1 },
    says: 'layout.expert: expertTensor 1 x expert 8 = 8 does not divide the 4 ranks of tensor 2 x context 1 x data 2. Use expert 1, 2 or 4.',
    passes: { expert: 4, expertTensor: 1 },
  },
  {
    code: 'EXPERT_GRID_MOVES_PIPELINE',
    sizes: { experts: 8 },
    breaks: { expert: 2, expertTensor: 2, order: ['tensor', 'context', 'expert', 'pipeline', 'data'] },
    says: 'layout.order: stages are 2 ranks apart in the dense grid and 4 in the expert grid of 1 expert data ranks. Put pipeline last in the order, or first.',
    passes: { expert: 2, expertTensor: 2, order: ['pipeline', 'tensor', 'context', 'expert', 'data'] },
  },
  {
    code: 'EXPERTS_NEED_SEQUENCE_PARALLEL',
    sizes: { experts: 8 },
    breaks: { expert: 2, expertTensor: 1, sequenceParallel: false },
    says: 'layout.sequenceParallel: sequence parallelism is off and experts lie over a grid of their own (expert 2, expertTensor 1) beside tensor 2. Turn it on: each tensor rank sends its own tokens. Or use expert 1 and expertTensor 2.',
    passes: { expert: 2, expertTensor: 1 },
  },
  {
    code: 'SHARD_NOT_DIVISOR',
    breaks: { ...one, tensor: 1, data: 8, replicate: 8 / 3, expertTensor: 1, sequenceParallel: false },
    says: 'layout.replicate: data 8 cannot be split into sets of 3 ranks. Use shard 1, 2, 4 or 8.',
    passes: { ...one, tensor: 1, data: 8, replicate: 2, expertTensor: 1, sequenceParallel: false },
  },
  {
    code: 'ADAPTERS_NOT_SHARDED',
    sizes: { adapters: ['down_proj'] },
    breaks: { sharding: 3 },
    says: 'layout.sharding: sharding 3 is not modelled where adapters stand beside the last products of a layer only (down_proj): the first layer gathers frozen weights that its backward does not read. Use sharding 0, 1 or 2.',
    passes: { sharding: 2 },
  },
  {
    code: 'ADAPTERS_NOT_SHARDED',
    sizes: { adapters: ['q_proj'], experts: 8 },
    breaks: { ...one, data: 4, expert: 8, expertTensor: 1, sharding: 3 },
    says: 'layout.sharding: sharding 3 of adapters, frozen weights and experts over a grid of their own (expert 8, expertTensor 1) is not modelled. Use sharding 0, 1 or 2.',
    passes: { ...one, data: 4, expert: 8, expertTensor: 1, sharding: 2 },
  },
  {
    code: 'SHARDS_NOT_WITH_EXPERTS',
    sizes: { experts: 8 },
    breaks: { ...one, data: 4, replicate: 2, expert: 8, expertTensor: 1 },
    says: 'layout.replicate: a set of shards has 4 ranks (tensor 2 x context 1 x shard 2), which expert 8 x expertTensor 1 does not divide. Use shard 4.',
    passes: { ...one, data: 4, replicate: 2, expert: 4, expertTensor: 1 },
  },
  {
    code: 'BATCH_NOT_DIVISIBLE',
    sizes: { sequences: 24 },
    breaks: { microBatch: 8 },
    says: 'layout.microBatch: 24 sequences cannot be split over data 2 x micro-batch 8. Use a micro-batch of 1, 2, 3, 4, 6 or 12, or a batch of 16 or 32 sequences.',
    passes: { microBatch: 12 },
  },
  {
    code: 'REDUCTION_NEEDS_SHARDING',
    breaks: { gradientReduction: 'per-micro-batch' },
    says: 'layout.gradientReduction: gradients are whole under sharding 1 and cannot be reduced per micro-batch. Use per-step, or sharding 2 or 3.',
    passes: { gradientReduction: 'per-micro-batch', sharding: 2 },
  },
  {
    code: 'ORDER_AXIS_TWICE',
    breaks: { order: ['tensor', 'data', 'tensor'] },
    says: 'layout.order: the axis tensor stands twice in tensor-data-tensor. Name each axis once.',
    passes: { order: ['tensor', 'data', 'pipeline'] },
  },
  {
    code: 'HEADS_NOT_DIVISIBLE',
    breaks: { ...four, tensor: 6 },
    says: 'layout.tensor: 32 query heads cannot be split over 6 ranks. Use 1, 2, 4, 8, 16 or 32.',
    passes: four,
  },
  {
    code: 'KV_HEADS_NOT_DIVISIBLE',
    sizes: { kvHeads: 2 },
    breaks: four,
    says: 'layout.tensor: 2 key and value heads cannot be split over 4 ranks. Use 1 or 2.',
    passes: {},
  },
  {
    code: 'QUERY_KEY_NORM_NOT_SPLIT',
    sizes: { normsAllHeads: true },
    breaks: {},
    says: 'layout.tensor: the norm over the queries of all heads cannot be split over 2 ranks. Use 1.',
    passes: { tensor: 1, data: 4, sequenceParallel: false },
  },
  {
    code: 'FFN_NOT_DIVISIBLE',
    sizes: { ffn: 11_006 },
    breaks: four,
    says: 'layout.tensor: a feed-forward of width 11006 cannot be split over 4 ranks. Use 1 or 2.',
    passes: {},
  },
  {
    code: 'HIDDEN_NOT_DIVISIBLE',
    sizes: { hidden: 4098 },
    breaks: four,
    says: 'layout.tensor: a model of width 4098 cannot be split over 4 ranks. Use 1 or 2.',
    passes: {},
  },
  {
    code: 'VOCABULARY_NOT_DIVISIBLE',
    sizes: { vocabulary: 50_257 },
    breaks: {},
    says: 'layout.tensor: a vocabulary of 50257 cannot be split over 2 ranks. Pad the vocabulary of the model to 50258, or use 1.',
    passes: {},
    passSizes: { vocabulary: 50_258 },
  },
  {
    code: 'SEQUENCE_PARALLEL_NEEDS_TENSOR',
    breaks: { tensor: 1, data: 4 },
    says: 'layout.sequenceParallel: sequence parallelism is on and tensor is 1. Turn it off, or use tensor 2 or more.',
    passes: { tensor: 1, data: 4, sequenceParallel: false },
  },
  {
    code: 'SEQUENCE_NOT_DIVISIBLE',
    sizes: { length: 4097 },
    breaks: {},
    says: 'layout.sequenceParallel: sequences of 4097 tokens cannot be split over 2 ranks. Turn sequence parallelism off, or use a length of 4096 or 4098.',
    passes: { sequenceParallel: false },
  },
  {
    code: 'LOSS_CHUNKS_NOT_DIVISIBLE',
    breaks: { lossChunks: 3 },
    says: 'layout.lossChunks: the 4096 tokens of a sequence on one rank cannot be split into 3 pieces. Use 1, 2, 4, 8, 16 or 32.',
    passes: { lossChunks: 4 },
  },
  {
    code: 'LOSS_CHUNKS_NOT_DIVISIBLE',
    sizes: { length: 4 },
    breaks: { ...one, data: 1, context: 2, tensor: 4, sequenceParallel: false, lossChunks: 2 },
    says: 'layout.lossChunks: the 1 tokens of each of the two rows of a sequence on one rank cannot be split into 2 pieces. Use 1.',
    passes: { ...one, data: 1, context: 2, tensor: 4, sequenceParallel: false, lossChunks: 2 },
    passSizes: { length: 8 },
  },
  {
    code: 'LAYERS_FEWER_THAN_CHUNKS',
    sizes: { layers: 7 },
    breaks: { ...interleaved, chunks: 4, layersPerStage: [7] },
    says: 'layout.chunks: 7 layers cannot fill 2 stages of 4 chunks. Use chunks 1 to 3.',
    passes: { ...interleaved, chunks: 3, layersPerStage: [1, 1, 1, 1, 1, 2] },
  },
  {
    code: 'LAYERS_PER_STAGE_LENGTH',
    breaks: { layersPerStage: [16, 8, 8] },
    says: 'layout.layersPerStage: 3 entries are not the 2 chunks of pipeline 2 x chunks 1. Give 2 entries, or leave the key out.',
    passes: { layersPerStage: [17, 15] },
  },
  {
    code: 'LAYERS_PER_STAGE_EMPTY',
    breaks: { layersPerStage: [32, 0] },
    says: 'layout.layersPerStage: chunk 0 of stage 1 has 0 layers. Give every chunk a whole number of layers, at least 1.',
    passes: { layersPerStage: [31, 1] },
  },
  {
    code: 'LAYERS_PER_STAGE_SUM',
    breaks: { layersPerStage: [16, 15] },
    says: 'layout.layersPerStage: 31 layers in the list are fewer than the 32 of the model. Add 1, or leave the key out.',
    passes: { layersPerStage: [16, 16] },
  },
  {
    code: 'CHUNKS_NEED_PIPELINE',
    breaks: { ...four, chunks: 2, layersPerStage: [16, 16] },
    says: 'layout.chunks: 2 chunks per stage need more than one stage and pipeline is 1. Use chunks 1, or pipeline 2 or more.',
    passes: interleaved,
  },
  {
    code: 'CHUNKS_NEED_INTERLEAVED',
    breaks: { ...interleaved, schedule: 'gpipe' },
    says: 'layout.schedule: 2 chunks per stage cannot run under the schedule gpipe. Use interleaved-1f1b, or chunks 1.',
    passes: interleaved,
  },
  {
    code: 'INTERLEAVED_NEEDS_CHUNKS',
    breaks: { schedule: 'interleaved-1f1b' },
    says: 'layout.chunks: the schedule interleaved-1f1b cannot run with 1 chunk per stage. Use chunks 2 to 16, or the schedule 1f1b.',
    passes: interleaved,
  },
  {
    code: 'FOLD_NEEDS_TWO_CHUNKS',
    breaks: { schedule: 'zero-bubble-v' },
    says: 'layout.chunks: the schedule zero-bubble-v folds 2 chunks per stage and chunks is 1. Use chunks 2.',
    passes: { chunks: 2, layersPerStage: [8, 8, 8, 8], schedule: 'zero-bubble-v' },
  },
  {
    code: 'MICRO_BATCHES_TOO_FEW',
    breaks: { chunks: 2, layersPerStage: [8, 8, 8, 8], schedule: 'dualpipe-v', microBatch: 16 },
    says: 'layout.microBatch: 2 micro-batches are fewer than the 4 that dualpipe-v over 2 stages needs. Use micro-batches of 1, 2, 4 or 8, or fewer stages.',
    passes: { chunks: 2, layersPerStage: [8, 8, 8, 8], schedule: 'dualpipe-v', microBatch: 8 },
  },
  {
    code: 'MICRO_BATCHES_TOO_FEW',
    breaks: { schedule: 'dualpipe', microBatch: 16 },
    says: 'layout.microBatch: 2 micro-batches are fewer than the 4 that dualpipe over 2 stages needs. Use micro-batches of 1, 2, 4 or 8, or fewer stages.',
    passes: { schedule: 'dualpipe', microBatch: 8 },
  },
  {
    code: 'STAGES_NOT_EVEN',
    breaks: { pipeline: 3, layersPerStage: [10, 11, 11], schedule: 'dualpipe' },
    says: 'layout.pipeline: the schedule dualpipe pairs each stage with another one and pipeline is 3. Use pipeline 4, or dualpipe-v.',
    passes: { schedule: 'dualpipe' },
  },
  {
    code: 'SCHEDULE_NEEDS_STAGES',
    breaks: { ...four, schedule: '1f1b' },
    says: 'layout.schedule: the schedule 1f1b needs more than one stage and pipeline is 1. Use none, or pipeline 2 or more.',
    passes: four,
  },
  {
    code: 'STAGES_NEED_SCHEDULE',
    breaks: { schedule: 'none' },
    says: 'layout.schedule: 2 stages cannot run under the schedule none. Use 1f1b, gpipe or naive.',
    passes: { schedule: 'naive' },
  },
  {
    code: 'MICRO_BATCHES_NOT_MULTIPLE',
    sizes: { sequences: 24 },
    breaks: { ...interleaved, microBatch: 4 },
    says: 'layout.microBatch: 3 micro-batches are not a multiple of the 2 stages of interleaved-1f1b. Use micro-batches of 1, 2, 3 or 6, or chunks 1 under 1f1b.',
    passes: { ...interleaved, microBatch: 3 },
  },
  {
    code: 'MICRO_BATCHES_TOO_MANY',
    sizes: { sequences: 2 ** 21 },
    breaks: { microBatch: 1 },
    says: 'layout.microBatch: 1048576 micro-batches are more than 524288. Use larger micro-batches or more data ranks.',
    passes: { microBatch: 2 },
  },
];
