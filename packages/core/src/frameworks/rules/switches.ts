/** @file Switches of single frameworks that exclude each other or a layout. */
import { type FrameworkRule, megatrons, rule } from './rule.ts';

const arguments_ = 'Megatron-LM d98e8a64, megatron/training/arguments.py';
const parallelConfig = 'Megatron-LM, megatron/core/model_parallel_config.py';

const megatronSwitches: readonly FrameworkRule[] = [
  rule(
    'TORCH_FSDP2_CONFLICT',
    megatrons,
    `${arguments_}: use_torch_fsdp2`,
    ['torchFsdp2'],
    ({ torchFsdp2 }, { pipeline = 1, expert = 1, sharding = 3, precision, tied, switches = {} }) => {
      if (!torchFsdp2) return undefined;
      const wrong =
        pipeline > 1
          ? (['pipeline', `pipeline ${pipeline}`, 'pipeline 1'] as const)
          : expert > 1
            ? (['expert', `expert ${expert}`, 'expert 1'] as const)
            : sharding === 1
              ? (['sharding', 'the distributed optimizer', 'sharding 3'] as const)
              : precision === 'fp16'
                ? (['precision', 'fp16', 'bf16'] as const)
                : tied === true
                  ? (['tied', 'tied embeddings', 'a head of its own'] as const)
                  : switches.maxConnections === 1
                    ? (['maxConnections', 'CUDA_DEVICE_MAX_CONNECTIONS 1', 'another value or none'] as const)
                    : undefined;
      if (wrong === undefined) return undefined;
      const [key, what, instead] = wrong;
      return {
        key,
        message: `PyTorch's FSDP2 in Megatron-LM cannot run with ${what}.`,
        hint: `Use ${instead}.`,
        values: {},
      };
    },
  ),
  rule(
    'OWN_FSDP_CONFLICT',
    megatrons,
    `${arguments_}: use_megatron_fsdp; Megatron-Bridge manual: no tp-pp-dp order`,
    ['ownFsdp'],
    ({ ownFsdp }, { pipelineBeforeData, switches = {} }) => {
      if (!ownFsdp || !(pipelineBeforeData === true || switches.maxConnections === 1)) return undefined;
      const [key, what, instead] =
        pipelineBeforeData === true
          ? (['pipelineBeforeData', 'pipeline before data in the order of ranks', 'the order tp-cp-ep-dp-pp'] as const)
          : (['maxConnections', 'CUDA_DEVICE_MAX_CONNECTIONS 1', 'another value or none'] as const);
      return { key, message: `Megatron-FSDP cannot run with ${what}.`, hint: `Use ${instead}.`, values: {} };
    },
  ),
  rule(
    'GATHER_OVERLAP_NEEDS_SHARDING',
    megatrons,
    `${arguments_}: overlap_param_gather needs use_distributed_optimizer or Megatron-FSDP`,
    ['overlapsGathers', 'sharding'],
    ({ overlapsGathers, sharding }, { switches = {} }) =>
      !overlapsGathers || sharding > 0 || switches.ownFsdp === true
        ? undefined
        : {
            key: 'overlapsGathers',
            message: 'gathers of parameters are to overlap and nothing is sharded.',
            hint: 'Use sharding 1, or turn the overlap off.',
            values: { sharding },
          },
  ),
  rule(
    'STEP_OVERLAP_NEEDS_INTERLEAVED',
    megatrons,
    `${arguments_}: overlap_param_gather_with_optimizer_step needs the interleaved schedule`,
    ['overlapsStep'],
    ({ overlapsStep }, { chunks = 1 }) =>
      !overlapsStep || chunks > 1
        ? undefined
        : {
            key: 'overlapsStep',
            message: 'gathers are to overlap with the optimizer and stages have 1 chunk.',
            hint: 'Use chunks 2 or more, or turn the overlap off.',
            values: { chunks },
          },
  ),
  rule(
    'TENSOR_OVERLAP_NEEDS_SEQUENCE',
    megatrons,
    `${arguments_}: tp_comm_overlap needs sequence_parallel`,
    ['overlapsTensor', 'sequenceParallel'],
    ({ overlapsTensor, sequenceParallel }) =>
      !overlapsTensor || sequenceParallel
        ? undefined
        : {
            key: 'overlapsTensor',
            message: 'exchanges of tensor are to overlap and sequence parallelism is off.',
            hint: 'Turn sequence parallelism on, or the overlap off.',
            values: {},
          },
  ),
  rule(
    'PIPELINE_TYPE_MISSING',
    megatrons,
    `${parallelConfig}: pipeline_dtype must be set with pipeline parallelism`,
    ['pipelineType', 'pipeline'],
    ({ pipelineType, pipeline }) =>
      pipeline === 1 || pipelineType !== 'none'
        ? undefined
        : {
            key: 'pipelineType',
            message: `pipeline is ${pipeline} and the type of what stages send is not set.`,
            hint: 'Use the type of the activations.',
            values: { pipeline, fits: ['bf16', 'fp16', 'fp32'] },
          },
  ),
  rule(
    'DEFERRAL_NEEDS_PIPELINE',
    megatrons,
    `${parallelConfig}: defer_embedding_wgrad_compute needs stages and fused accumulation`,
    ['defersWeightGradient', 'pipeline', 'fusesAccumulation'],
    ({ defersWeightGradient, pipeline, fusesAccumulation }) =>
      !defersWeightGradient || (pipeline > 1 && fusesAccumulation)
        ? undefined
        : {
            key: 'defersWeightGradient',
            message: `weight gradients of the head are deferred with pipeline ${pipeline}${fusesAccumulation ? '' : ' and separate accumulation'}.`,
            hint: 'Use pipeline 2 or more with fused accumulation, or do not defer.',
            values: { pipeline },
          },
  ),
];

const deepspeedSwitches: readonly FrameworkRule[] = [
  rule(
    'ELASTIC_NOT_WITH_PIPELINE',
    ['deepspeed'],
    'DeepSpeed, deepspeed/runtime/pipe/engine.py: elasticity is not supported',
    ['elastic', 'pipeline'],
    ({ elastic, pipeline }) =>
      !elastic || pipeline === 1
        ? undefined
        : {
            key: 'elastic',
            message: `elastic batches cannot run with pipeline ${pipeline}.`,
            hint: 'Turn elasticity off, or use pipeline 1.',
            values: { pipeline },
          },
  ),
  rule(
    'SEQUENCE_RANKS_EXCLUDE_MODEL_RANKS',
    ['deepspeed'],
    'Megatron-DeepSpeed, megatron/core/parallel_state.py: sequence ranks with neither tensor nor pipeline ranks',
    ['context', 'tensor', 'pipeline'],
    ({ context, tensor, pipeline }) => {
      if (context === 1 || (tensor === 1 && pipeline === 1)) return undefined;
      return {
        key: 'context',
        message: `${context} sequence ranks cannot run with tensor ${tensor} and pipeline ${pipeline}.`,
        hint: 'Use context 1, or tensor 1 and pipeline 1.',
        values: { context, tensor, pipeline, fits: [1] },
      };
    },
  ),
  rule(
    'AUTO_EXPERTS_CONFLICT',
    ['deepspeed'],
    'DeepSpeed, AutoEP under ZeRO stage 3: no AutoTP, sequence ranks, MiCS, secondary shards or quantised gradients',
    ['autoExperts', 'sharding'],
    ({ autoExperts, sharding }, { tensor = 1, context = 1, switches = {} }) => {
      if (!autoExperts || sharding < 3) return undefined;
      const wrong =
        tensor > 1
          ? (['tensor', `tensor ${tensor}`] as const)
          : context > 1
            ? (['context', `${context} sequence ranks`] as const)
            : switches.shardGroups
              ? (['shardGroups', 'MiCS'] as const)
              : (switches.secondaryShards ?? 1) > 1
                ? (['secondaryShards', `secondary shards over ${switches.secondaryShards} ranks`] as const)
                : switches.quantisedGradients
                  ? (['quantisedGradients', 'quantised gradients'] as const)
                  : undefined;
      if (wrong === undefined) return undefined;
      const [key, what] = wrong;
      return {
        key,
        message: `AutoEP under sharding 3 cannot run with ${what}.`,
        hint: 'Leave it out, or use sharding 0 to 2.',
        values: { sharding },
      };
    },
  ),
];

/** Rules of switches. */
export const switchRules: readonly FrameworkRule[] = [...megatronSwitches, ...deepspeedSwitches];
