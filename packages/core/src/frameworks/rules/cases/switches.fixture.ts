/** @file Cases of the rules in ../switches.ts; numbers of users' own reports where there are some. */
import type { RuleCase } from './rule-case.fixture.ts';

export const switchesCases: readonly RuleCase[] = [
  {
    code: 'TORCH_FSDP2_CONFLICT',
    framework: 'megatron',
    breaks: { pipeline: 2, switches: { torchFsdp2: true } },
    passes: { pipeline: 1 },
    says: "layout.pipeline: PyTorch's FSDP2 in Megatron-LM cannot run with pipeline 2. Use pipeline 1.",
  },
  {
    code: 'OWN_FSDP_CONFLICT',
    framework: 'megatron',
    breaks: { pipelineBeforeData: true, switches: { ownFsdp: true } },
    passes: { pipelineBeforeData: false },
    says: 'layout.order: Megatron-FSDP cannot run with pipeline before data in the order of ranks. Use the order tp-cp-ep-dp-pp.',
  },
  {
    code: 'GATHER_OVERLAP_NEEDS_SHARDING',
    framework: 'megatron',
    breaks: { sharding: 0, switches: { overlapsGathers: true } },
    passes: { sharding: 1 },
    says: 'framework.overlapsGathers: gathers of parameters are to overlap and nothing is sharded. Use sharding 1, or turn the overlap off.',
  },
  {
    code: 'STEP_OVERLAP_NEEDS_INTERLEAVED',
    framework: 'megatron',
    breaks: { chunks: 1, switches: { overlapsStep: true } },
    passes: { chunks: 2 },
    says: 'framework.overlapsStep: gathers are to overlap with the optimizer and stages have 1 chunk. Use chunks 2 or more, or turn the overlap off.',
  },
  {
    code: 'TENSOR_OVERLAP_NEEDS_SEQUENCE',
    framework: 'megatron',
    breaks: { sequenceParallel: false, switches: { overlapsTensor: true } },
    passes: { sequenceParallel: true, tensor: 2 },
    says: 'framework.overlapsTensor: exchanges of tensor are to overlap and sequence parallelism is off. Turn sequence parallelism on, or the overlap off.',
  },
  {
    code: 'PIPELINE_TYPE_MISSING',
    framework: 'megatron',
    breaks: { pipeline: 2, switches: { pipelineType: 'none' } },
    passes: { switches: { pipelineType: 'bf16' } },
    says: 'framework.pipelineType: pipeline is 2 and the type of what stages send is not set. Use the type of the activations.',
  },
  {
    code: 'DEFERRAL_NEEDS_PIPELINE',
    framework: 'megatron',
    breaks: { pipeline: 1, switches: { defersWeightGradient: true, fusesAccumulation: true } },
    passes: { pipeline: 2 },
    says: 'framework.defersWeightGradient: weight gradients of the head are deferred with pipeline 1. Use pipeline 2 or more with fused accumulation, or do not defer.',
  },
  {
    code: 'ELASTIC_NOT_WITH_PIPELINE',
    framework: 'deepspeed',
    breaks: { pipeline: 2, switches: { elastic: true } },
    passes: { pipeline: 1 },
    says: 'framework.elastic: elastic batches cannot run with pipeline 2. Turn elasticity off, or use pipeline 1.',
  },
  {
    code: 'SEQUENCE_RANKS_EXCLUDE_MODEL_RANKS',
    framework: 'deepspeed',
    breaks: { context: 4, tensor: 2, pipeline: 1 },
    passes: { tensor: 1 },
    says: 'layout.context: 4 sequence ranks cannot run with tensor 2 and pipeline 1. Use context 1, or tensor 1 and pipeline 1.',
  },
  {
    code: 'AUTO_EXPERTS_CONFLICT',
    framework: 'deepspeed',
    breaks: { sharding: 3, switches: { autoExperts: true, secondaryShards: 8 } },
    passes: { switches: { autoExperts: true } },
    says: 'framework.secondaryShards: AutoEP under sharding 3 cannot run with secondary shards over 8 ranks. Leave it out, or use sharding 0 to 2.',
  },
];
