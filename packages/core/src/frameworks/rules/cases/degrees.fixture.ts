/** @file Cases of the rules in ../degrees.ts; numbers of users' own reports where there are some. */
import type { RuleCase } from './rule-case.fixture.ts';

const grid = { gpus: 16, tensor: 2, pipeline: 2, data: 4 } as const;

export const degreesCases: readonly RuleCase[] = [
  {
    code: 'WORLD_NOT_DIVISIBLE',
    framework: 'megatron',
    breaks: { gpus: 8, tensor: 8, pipeline: 16 },
    passes: { pipeline: 1 },
    says: 'layout.pipeline: tensor 8 x pipeline 16 = 128 does not divide the 8 GPUs. Use pipeline 1.',
  },
  {
    code: 'DEGREES_NOT_GPUS',
    framework: 'nemo',
    breaks: { ...grid, context: 2 },
    passes: { data: 2 },
    says: 'layout.data: tensor 2 x pipeline 2 x context 2 x data 4 = 32 is not the 16 GPUs. Use data 2.',
  },
  {
    // Issue 1184: shard 8 and context 8 on 8 GPUs do not overlap.
    code: 'DEGREES_NOT_GPUS',
    framework: 'torchtitan',
    breaks: { gpus: 8, tensor: 1, pipeline: 1, context: 8, data: 8 },
    passes: { data: 1 },
    says: 'layout.data: context 8 x data 8 = 64 is not the 8 GPUs. Use data 1.',
  },
  {
    code: 'DEGREES_NOT_GPUS',
    framework: 'deepspeed',
    breaks: { gpus: 8, tensor: 2, pipeline: 1, data: 8 },
    passes: { data: 4 },
    says: 'layout.data: tensor 2 x data 8 = 16 is not the 8 GPUs. Use data 4.',
  },
  {
    code: 'DEGREES_NOT_GPUS',
    framework: 'fsdp',
    breaks: { gpus: 8, tensor: 2, pipeline: 1, data: 2 },
    passes: { data: 4 },
    says: 'layout.data: tensor 2 x data 2 = 4 is not the 8 GPUs. Use data 4.',
  },
  {
    code: 'DEGREES_NOT_GPUS',
    framework: 'nanotron',
    breaks: { gpus: 8, tensor: 2, pipeline: 3, data: 1 },
    passes: { pipeline: 2, data: 2 },
    says: 'layout.pipeline: tensor 2 x pipeline 3 = 6 is not the 8 GPUs. Use pipeline 4.',
  },
  {
    code: 'DEGREE_NOT_OFFERED',
    framework: 'fsdp',
    breaks: { pipeline: 2 },
    passes: { pipeline: 1 },
    says: 'layout.pipeline: pipeline 2 is above 1 and fsdp has no pipeline. Use pipeline 1, or another framework.',
  },
  {
    // The defaults of Mixtral 8x7B in Megatron-LM's examples, on one node.
    code: 'EXPERT_GRID_NOT_RANKS',
    framework: 'megatron',
    breaks: { gpus: 8, tensor: 1, pipeline: 4, expert: 8, experts: 8 },
    passes: { gpus: 32 },
    says: 'layout.expert: expert 8 x pipeline 4 = 32 does not divide the 8 GPUs (expertTensor is that of tensor unless given). Use expert 1 or 2.',
  },
  {
    code: 'EXPERT_GRID_NOT_RANKS',
    framework: 'torchtitan',
    breaks: { tensor: 2, data: 12, dataShard: 6, expert: 8 },
    passes: { expert: 4 },
    says: 'layout.expert: expert 8 does not divide the 12 ranks of dataShard 6 x tensor 2 = 12. Use expert 1, 2, 3, 4, 6 or 12.',
  },
  {
    code: 'EXPERT_GRID_NOT_RANKS',
    framework: 'deepspeed',
    breaks: { data: 4, expert: 8 },
    passes: { expert: 4 },
    says: 'layout.expert: expert 8 does not divide the 4 data ranks. Use expert 1, 2 or 4.',
  },
  {
    code: 'EXPERT_TENSOR_NOT_OFFERED',
    framework: 'torchtitan',
    breaks: { tensor: 8, expert: 4, expertTensor: 2 },
    passes: { expertTensor: 8 },
    says: 'layout.expertTensor: expertTensor 2 is neither 1 nor the tensor 8. Use 1 or 8.',
  },
  {
    code: 'EXPERT_GRID_MOVES_PIPELINE',
    framework: 'megatron',
    breaks: { pipelineBeforeData: true, tensor: 2, pipeline: 2, data: 4, expert: 2, experts: 8 },
    passes: { pipelineBeforeData: false },
    says: 'layout.expert: with pipeline before data the expert grid needs data 4 and has 2. Put pipeline last in the order of ranks.',
  },
  {
    code: 'OPTIMIZER_INSTANCES_NOT_DIVISIBLE',
    framework: 'megatron',
    breaks: { data: 8, tensor: 1, expert: 4, experts: 8, switches: { optimizerInstances: 4 } },
    passes: { expert: 2 },
    says: 'framework.optimizerInstances: 4 instances of the optimizer do not divide 8 and 2 data ranks. Use 1 or 2.',
  },
];
