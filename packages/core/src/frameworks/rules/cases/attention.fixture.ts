/** @file Cases of the rules in ../attention.ts; numbers of users' own reports where there are some. */
import type { RuleCase } from './rule-case.fixture.ts';

export const attentionCases: readonly RuleCase[] = [
  {
    // vLLM, issue 596: 40 heads on 3 GPUs.
    code: 'HEADS_NOT_DIVISIBLE',
    framework: 'torchtitan',
    breaks: { heads: 40, tensor: 3 },
    passes: { tensor: 5 },
    says: 'layout.tensor: 40 query heads cannot be split over 3 ranks. Use 1, 2, 4, 5, 8 or 10.',
  },
  {
    code: 'KV_HEADS_NOT_DIVISIBLE',
    framework: 'megatron',
    breaks: { heads: 48, kvHeads: 6, tensor: 4 },
    passes: { tensor: 12 },
    says: 'layout.tensor: 6 key and value heads and tensor 4 do not divide one another. Use 1, 2, 3, 6, 12 or 24.',
  },
  {
    // Issue 932: Llama 3 8B with tensor 16.
    code: 'KV_HEADS_NOT_DIVISIBLE',
    framework: 'torchtitan',
    breaks: { heads: 32, kvHeads: 8, tensor: 16 },
    passes: { tensor: 8 },
    says: 'layout.tensor: 8 key and value heads cannot be split over 16 ranks. Use 1, 2, 4 or 8.',
  },
  {
    // transformers, issue 48307: Qwen3-VL-30B with tensor 8.
    code: 'KV_HEADS_NOT_DIVISIBLE',
    framework: 'fsdp',
    breaks: { heads: 32, kvHeads: 4, tensor: 8 },
    passes: { tensor: 4 },
    says: 'layout.tensor: 4 key and value heads cannot be split over 8 ranks. Use 1, 2 or 4.',
  },
  {
    // DeepSpeed, issue 7259: Qwen2.5 3B with tensor 4.
    code: 'KV_HEADS_NOT_DIVISIBLE',
    framework: 'deepspeed',
    breaks: { heads: 16, kvHeads: 2, tensor: 4 },
    passes: { tensor: 2 },
    says: 'layout.tensor: 2 key and value heads cannot be split over 4 ranks. Use 1 or 2.',
  },
  {
    code: 'KV_HEADS_NOT_DIVISIBLE',
    framework: 'nanotron',
    breaks: { heads: 40, kvHeads: 10, tensor: 4 },
    passes: { tensor: 2 },
    says: 'layout.tensor: 10 key and value heads cannot be split over 4 ranks. Use 1, 2, 5 or 10.',
  },
  {
    code: 'HEADS_NOT_OVER_CONTEXT',
    framework: 'deepspeed',
    breaks: { heads: 40, kvHeads: 8, context: 5 },
    passes: { context: 4 },
    says: 'layout.context: 40 query heads with 8 of keys and values cannot be dealt out to 5 sequence ranks. Use 1, 2, 4, 8 or 40.',
  },
  {
    code: 'LINEAR_HEADS_NOT_DIVISIBLE',
    framework: 'megatron',
    breaks: { linearKeyHeads: 16, linearValueHeads: 32, tensor: 8, context: 4 },
    passes: { tensor: 4 },
    says: 'layout.tensor: 16 key and 32 value heads of linear attention cannot be split over 32 ranks. Use tensor 1, 2 or 4.',
  },
  {
    code: 'HIDDEN_NOT_HEADS',
    framework: 'megatron',
    breaks: { hidden: 2880, heads: 64 * 7 },
    passes: { headSize: 64 },
    says: 'model.heads: a model of width 2880 has no whole head size with 448 heads. Give the size of a head, or use 240, 288, 320, 360, 480 or 576 heads.',
  },
  {
    code: 'LENGTH_NOT_OVER_CONTEXT',
    framework: 'megatron',
    breaks: { length: 4100, context: 4 },
    passes: { length: 4104 },
    says: 'batch.length: sequences of 4100 tokens are no multiple of 8, two pieces for each of 4 context ranks. Use a length of 4096 or 4104.',
  },
  {
    code: 'LENGTH_NOT_OVER_CONTEXT',
    framework: 'torchtitan',
    breaks: { length: 4104, context: 4, tensor: 2 },
    passes: { length: 4112 },
    says: 'batch.length: sequences of 4104 tokens are no multiple of 16, two pieces for each of 4 context ranks. Use a length of 4096 or 4112.',
  },
  {
    code: 'SEQUENCE_NOT_DIVISIBLE',
    framework: 'torchtitan',
    breaks: { length: 4098, tensor: 4, sequenceParallel: true },
    passes: { length: 4100 },
    says: 'batch.length: sequences of 4098 tokens cannot be split over 4 ranks. Turn sequence parallelism off, or use a length of 4096 or 4100.',
  },
  {
    code: 'SEQUENCE_PARALLEL_NEEDS_TENSOR',
    framework: 'megatron',
    breaks: { tensor: 1, sequenceParallel: true },
    passes: { sequenceParallel: false },
    says: 'layout.sequenceParallel: sequence parallelism is on and tensor is 1. Turn it off, or use tensor 2 or more.',
  },
  {
    code: 'CONTEXT_LEVELS_NOT_CONTEXT',
    framework: 'megatron',
    breaks: { context: 4, switches: { contextLevels: [2, 4] } },
    passes: { switches: { contextLevels: [2, 2] } },
    says: 'framework.contextLevels: levels of 2 x 4 are 8 and not the 4 context ranks. Use levels whose product is 4.',
  },
];
