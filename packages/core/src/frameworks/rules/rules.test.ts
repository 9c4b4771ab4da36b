import { describe, expect, it } from 'vitest';
import type { Code } from '../../errors/index.ts';
import type { FrameworkName } from '../types.ts';
import { checkSetup, type FrameworkSetup, frameworkRules, rulesByFramework } from './index.ts';

interface Case {
  readonly code: Code;
  readonly framework: FrameworkName;
  readonly breaks: FrameworkSetup;
  /** Changes that just mend it. */
  readonly passes: FrameworkSetup;
  readonly says: string;
}

const grid = { gpus: 16, tensor: 2, pipeline: 2, data: 4 } as const;
const batch = { sequences: 64, microBatch: 1 } as const;
const stages = { layers: 32, pipeline: 4 } as const;
const deepseek = { experts: 256, heads: 128 } as const;

/** One row for each row of the table, in its order; numbers of users' own reports where there are some. */
const cases: readonly Case[] = [
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
  {
    code: 'EXPERT_NEEDS_EXPERTS',
    framework: 'megatron',
    breaks: { expert: 2, experts: 0 },
    passes: { expert: 1 },
    says: 'layout.expert: expert 2 is above 1 and the model has no experts. Use expert 1.',
  },
  {
    // vLLM, issue 52435: 256 experts over 3.
    code: 'EXPERTS_NOT_DIVISIBLE',
    framework: 'deepspeed',
    breaks: { ...deepseek, expert: 3 },
    passes: { expert: 4 },
    says: 'layout.expert: 256 experts cannot be split over 3 ranks. Use 1, 2, 4, 8, 16 or 32.',
  },
  {
    code: 'EXPERTS_NEED_SEQUENCE_PARALLEL',
    framework: 'megatron',
    breaks: { ...deepseek, tensor: 2, sequenceParallel: false },
    passes: { sequenceParallel: true },
    says: 'layout.sequenceParallel: 256 experts are trained with tensor 2 and sequence parallelism is off. Turn sequence parallelism on, or use tensor 1.',
  },
  {
    code: 'ROUTING_GROUPS_WRONG',
    framework: 'megatron',
    breaks: { ...deepseek, switches: { routingGroups: 8, routingTopGroups: 8 } },
    passes: { switches: { routingGroups: 8, routingTopGroups: 7 } },
    says: 'framework.routingTopGroups: a token may choose 8 of 8 groups. Use 1 to 7.',
  },
  {
    code: 'DISPATCHER_NEEDS_RANKS',
    framework: 'megatron',
    breaks: { tensor: 1, expert: 1, switches: { dispatcher: 'flex' } },
    passes: { expert: 2 },
    says: 'framework.dispatcher: the flex dispatcher has one rank to send to: tensor 1 x expert 1. Use all-to-all, or expert 2 or more.',
  },
  {
    // ms-swift, issue 5737: GLM-4.5-Air.
    code: 'LAYERS_NOT_DIVISIBLE',
    framework: 'megatron',
    breaks: { layers: 46, pipeline: 4 },
    passes: { pipeline: 2 },
    says: 'layout.pipeline: 46 layers cannot be split evenly over 4 stages. Use 1, 2, 23 or 46, or write the layers of each stage out.',
  },
  {
    // Issue 468: 80 layers over 16 stages of 2 chunks.
    code: 'CHUNKS_NOT_DIVISIBLE',
    framework: 'megatron',
    breaks: { layers: 80, pipeline: 16, chunks: 2 },
    passes: { chunks: 5 },
    says: 'layout.chunks: 5 layers of a stage cannot be split evenly over 2 chunks. Use 1 or 5, or write the layers of each stage out.',
  },
  {
    code: 'UNEVEN_STAGES_NEED_PIPELINE',
    framework: 'megatron',
    breaks: { layers: 8, pipeline: 1, switches: { lastStageLayers: 2 } },
    passes: { pipeline: 4 },
    says: 'framework.lastStageLayers: the last stage has 2 layers of its own and pipeline is 1. Leave it out, or use pipeline 2 or more.',
  },
  {
    code: 'UNEVEN_STAGES_CONFLICT',
    framework: 'megatron',
    breaks: { layers: 8, pipeline: 2, switches: { firstStageLayers: 3, countsEmbedding: true } },
    passes: { switches: { firstStageLayers: 3 } },
    says: 'framework.countsEmbedding: layers of the first or last stage are given, and embedding or loss count as layers. Keep one of the two.',
  },
  {
    code: 'UNEVEN_STAGES_NOT_DIVISIBLE',
    framework: 'megatron',
    breaks: { layers: 61, pipeline: 16, switches: { firstStageLayers: 4 } },
    passes: { switches: { firstStageLayers: 1 } },
    says: 'framework.firstStageLayers: 57 layers are left for 15 stages of 1 chunk between the ends. Leave a multiple of 15 to the stages between.',
  },
  {
    code: 'LAYERS_PER_STAGE_LENGTH',
    framework: 'megatron',
    breaks: { pipeline: 4, layersPerStage: [8, 8, 8] },
    passes: { layersPerStage: [8, 8, 8, 8] },
    says: 'layout.layersPerStage: 3 entries are no multiple of the 4 stages. Give 4 entries.',
  },
  {
    code: 'ENDS_NOT_DIVISIBLE',
    framework: 'deepspeed',
    breaks: { layers: 70, pipeline: 10, switches: { countsEnds: true } },
    passes: { pipeline: 12 },
    says: 'layout.pipeline: 70 layers, an embedding and a head are 72 parts and cannot be split over 10 stages. Use 3, 4, 6, 8, 9 or 12.',
  },
  {
    // A stage without a layer: 94 over 96.
    code: 'LAYERS_FEWER_THAN_CHUNKS',
    framework: 'deepspeed',
    breaks: { layers: 94, pipeline: 96 },
    passes: { pipeline: 94 },
    says: 'layout.pipeline: 94 layers cannot fill 96 stages of 1 chunk. Use 1 to 94.',
  },
  {
    code: 'LAYERS_FEWER_THAN_CHUNKS',
    framework: 'torchtitan',
    breaks: { layers: 6, pipeline: 5, chunks: 2 },
    passes: { pipeline: 4 },
    says: 'layout.pipeline: 10 stages are more than 6 layers and 2 for embedding and head. Use 1 to 4.',
  },
  {
    code: 'CHUNKS_NEED_PIPELINE',
    framework: 'megatron',
    breaks: { pipeline: 1, chunks: 2 },
    passes: { pipeline: 2 },
    says: 'layout.chunks: 2 chunks per stage need more than one stage and pipeline is 1. Use chunks 1, or pipeline 2 or more.',
  },
  {
    code: 'INTERLEAVED_NEEDS_THREE_STAGES',
    framework: 'megatron',
    breaks: { pipeline: 2, chunks: 2, switches: { overlapsSends: false } },
    passes: { pipeline: 3 },
    says: 'layout.pipeline: the interleaved schedule runs on 2 stages and sends do not overlap. Let sends overlap, or use pipeline 3 or more.',
  },
  {
    code: 'MICRO_BATCHES_NOT_MULTIPLE',
    framework: 'megatron',
    breaks: { ...batch, ...stages, chunks: 2, sequences: 24, data: 4 },
    passes: { sequences: 32 },
    says: 'layout.microBatch: 6 micro-batches cannot be taken in groups of 4 by 4 stages. Use chunks 1.',
  },
  {
    // Pull request 129597: 10 over 4 is fine, 9 is not.
    code: 'MICRO_BATCHES_NOT_ROUNDS',
    framework: 'torchtitan',
    breaks: { ...stages, schedule: 'interleaved-1f1b', chunks: 2, sequences: 9, microBatch: 1, data: 1 },
    passes: { sequences: 10 },
    says: 'layout.microBatch: 9 micro-batches cannot be taken in 2 equal rounds by 4 stages. Use micro-batches of 3 or 9.',
  },
  {
    code: 'MICRO_BATCHES_TOO_FEW',
    framework: 'nanotron',
    breaks: { ...stages, schedule: '1f1b', sequences: 4, microBatch: 2, data: 1 },
    passes: { sequences: 6 },
    says: 'layout.microBatch: 2 micro-batches are fewer than the 3 that 1f1b over 4 stages needs. Use micro-batches of 1, or fewer stages.',
  },
  {
    code: 'SCHEDULE_NOT_OFFERED',
    framework: 'nanotron',
    breaks: { pipeline: 4, schedule: 'interleaved-1f1b' },
    passes: { schedule: 'gpipe' },
    says: 'layout.schedule: nanotron has no schedule interleaved-1f1b. Use 1f1b, or gpipe (its afab).',
  },
  {
    code: 'SCHEDULE_NOT_OFFERED',
    framework: 'deepspeed',
    breaks: { pipeline: 4, schedule: 'gpipe' },
    passes: { schedule: '1f1b' },
    says: 'layout.schedule: deepspeed has no schedule gpipe. Use 1f1b.',
  },
  {
    code: 'VIRTUAL_STAGES_NOT_DIVISIBLE',
    framework: 'torchtitan',
    breaks: { layers: 32, pipeline: 4, switches: { layersPerVirtualStage: 5 } },
    passes: { switches: { layersPerVirtualStage: 3 } },
    says: 'framework.layersPerVirtualStage: 5 layers a stage make 7 stages, no multiple of pipeline 4. Use 3, 9, 10 or 11.',
  },
  {
    code: 'CHUNKS_NEED_INTERLEAVED',
    framework: 'torchtitan',
    breaks: { pipeline: 4, schedule: '1f1b', chunks: 2 },
    passes: { chunks: 1 },
    says: 'layout.chunks: 2 chunks per stage cannot run under the schedule 1f1b. Use chunks 1, or interleaved-1f1b.',
  },
  {
    code: 'INTERLEAVED_NEEDS_CHUNKS',
    framework: 'torchtitan',
    breaks: { pipeline: 4, schedule: 'zero-bubble-v', chunks: 3 },
    passes: { chunks: 2 },
    says: 'layout.chunks: the schedule zero-bubble-v cannot run with 3 chunks per stage. Use chunks 2.',
  },
  {
    code: 'STAGE_WEIGHTS_TOO_LARGE',
    framework: 'torchtitan',
    breaks: { layers: 8, pipeline: 4, switches: { inputWeight: 4, outputWeight: 1 } },
    passes: { switches: { inputWeight: 3, outputWeight: 1 } },
    says: 'framework.inputWeight: embedding and head weigh 4 and 1 layers and a stage holds 3. Use at most 3.',
  },
  {
    code: 'SHARDING_NOT_WITH_PIPELINE',
    framework: 'deepspeed',
    breaks: { sharding: 2, pipeline: 2 },
    passes: { sharding: 1 },
    says: 'layout.sharding: sharding 2 cannot run with pipeline 2. Use sharding 0 or 1, or pipeline 1.',
  },
  {
    code: 'SHARDING_NOT_OFFERED',
    framework: 'nanotron',
    breaks: { sharding: 3 },
    passes: { sharding: 1 },
    says: 'layout.sharding: nanotron has no sharding 3. Use 0 or 1.',
  },
  {
    code: 'EXPERTS_NOT_WITH_SHARDING',
    framework: 'deepspeed',
    breaks: { sharding: 3, experts: 8 },
    passes: { switches: { autoExperts: true } },
    says: "layout.sharding: sharding 3 cannot run with 8 experts of DeepSpeed's own layer. Use sharding 0, 1 or 2.",
  },
  {
    code: 'REDUCTION_TYPE_NOT_OFFERED',
    framework: 'torchtitan',
    breaks: { gradientType: 'bf16' },
    passes: { gradientType: 'fp32' },
    says: 'layout.gradientType: torchtitan does not reduce gradients in bf16. Use fp32.',
  },
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

describe.each(cases)('$code in $framework', ({ code, framework, breaks, passes, says }) => {
  const found = (setup: FrameworkSetup) => checkSetup(framework, setup).filter((each) => each.code === code);
  it('is said when it is broken, with place, values and what to do', () => {
    expect(found(breaks).map((each) => `${each.path}: ${each.message} ${each.hint}`)).toEqual([says]);
  });
  it('just passes', () => {
    expect(found({ ...breaks, ...passes })).toEqual([]);
  });
  it('is content with the values that it names', () => {
    for (const { path, values } of found(breaks)) {
      const key = path.split('.').at(-1) ?? '';
      const fits = values?.['fits'];
      for (const fit of Array.isArray(fits) ? fits : []) {
        const mended =
          breaks.switches && key in breaks.switches
            ? { ...breaks, switches: { ...breaks.switches, [key]: fit } }
            : { ...breaks, [key]: fit };
        expect({ fit, codes: found(mended).map((each) => each.path) }).toEqual({ fit, codes: [] });
      }
    }
  });
});

it('has a case for every row of the table, in a framework of the row', () => {
  const asked = frameworkRules.map((rule) =>
    cases.some(
      ({ code, framework, breaks }) =>
        rule.code === code &&
        rule.frameworks.includes(framework) &&
        rule.reads.every((key) => key in breaks || key in (breaks.switches ?? {})),
    ),
  );
  expect(frameworkRules.filter((_, index) => !asked[index]).map(({ code, frameworks }) => [code, frameworks])).toEqual(
    [],
  );
});

it('names a source for every row, and no framework twice', () => {
  for (const { source, frameworks } of frameworkRules) {
    expect(source.length).toBeGreaterThan(10);
    expect(new Set(frameworks).size).toBe(frameworks.length);
  }
  expect(rulesByFramework.meshwright).toEqual([]);
});

describe('what users take for wrong and is not', () => {
  it('expert ranks may be more than data ranks: 32 GPUs, context 16, data 2, expert 32', () => {
    const setup = { gpus: 32, tensor: 1, pipeline: 1, context: 16, data: 2, expert: 32, experts: 32, expertTensor: 1 };
    expect(checkSetup('megatron', setup)).toEqual([]);
    expect(checkSetup('torchtitan', setup)).toEqual([]);
  });
  it('torchtitan takes 3 micro-batches over 4 stages', () => {
    const setup = {
      layers: 32,
      pipeline: 4,
      chunks: 2,
      schedule: 'interleaved-1f1b',
      sequences: 3,
      microBatch: 1,
      data: 1,
    };
    expect(checkSetup('torchtitan', setup)).toEqual([]);
  });
  it('layers that embedding and loss make even: 6 over 4 stages of 2 chunks', () => {
    const switches = { countsEmbedding: true, countsLoss: true };
    expect(checkSetup('megatron', { layers: 6, pipeline: 4, chunks: 2, switches })).toEqual([]);
    expect(checkSetup('megatron', { layers: 6, pipeline: 4, chunks: 2 }).map(({ code }) => code)).toEqual([
      'LAYERS_NOT_DIVISIBLE',
    ]);
  });
  it('nothing is said of what is unknown', () => {
    for (const framework of ['megatron', 'torchtitan', 'deepspeed', 'fsdp', 'nanotron'] as const) {
      expect(checkSetup(framework, {}).map(({ code }) => code)).toEqual([]);
    }
  });
});
