/** @file What each framework calls the keys of a layout: its own key, or what it does without one. Facts
 * with the place that says so; a test of the layout room holds that every key has a row.
 */
import type { FrameworkName } from './types.ts';

/** A framework that runs are launched with; the default profile has our own names. */
export type LaunchFramework = Exclude<FrameworkName, 'meshwright'>;

/** `key`: the framework's own spelling; `always`: it does this and has no key; `none`: it does not have it. */
export type KeyName =
  | { readonly kind: 'key'; readonly name: string; readonly note?: string }
  | { readonly kind: 'always'; readonly says: string }
  | { readonly kind: 'none' };

const key = (name: string, note?: string): KeyName => ({ kind: 'key', name, ...(note !== undefined && { note }) });
const always = (says: string): KeyName => ({ kind: 'always', says });
const none: KeyName = { kind: 'none' };

/** Names in the order of {@link launchFrameworks}. */
type Row = readonly [
  megatron: KeyName,
  nemo: KeyName,
  torchtitan: KeyName,
  deepspeed: KeyName,
  fsdp: KeyName,
  nanotron: KeyName,
];

export const launchFrameworks: readonly LaunchFramework[] = [
  'megatron',
  'nemo',
  'torchtitan',
  'deepspeed',
  'fsdp',
  'nanotron',
];

/** Where the names of a framework were read. */
export const keyNameSources: Readonly<Record<LaunchFramework, string>> = {
  megatron: 'Megatron-LM, megatron/training/arguments.py',
  nemo: 'Megatron-Bridge and NeMo, fields of the model and optimizer configs; megatron/core/model_parallel_config.py',
  torchtitan: 'torchtitan, torchtitan/config/job_config.py (sections parallelism, training, activation_checkpoint)',
  deepspeed: 'DeepSpeed, docs/_pages/config-json.md; flags of Megatron-DeepSpeed where they begin with --',
  fsdp: 'accelerate, fsdp_config and parallelism_config; PyTorch, torch.distributed.fsdp and DistributedDataParallel',
  nanotron: 'nanotron, src/nanotron/config (parallelism, tokens, optimizer)',
};

const rows: Readonly<Record<string, Row>> = {
  tensor: [
    key('--tensor-model-parallel-size'),
    key('tensor_model_parallel_size'),
    key('parallelism.tensor_parallel_degree'),
    key('tensor_parallel.autotp_size'),
    key('parallelism_config_tp_size'),
    key('parallelism.tp'),
  ],
  pipeline: [
    key('--pipeline-model-parallel-size'),
    key('pipeline_model_parallel_size'),
    key('parallelism.pipeline_parallel_degree'),
    key('PipelineModule(num_stages)'),
    none,
    key('parallelism.pp'),
  ],
  data: [
    always('what the other degrees leave'),
    always('what the other degrees leave'),
    key('parallelism.data_parallel_shard_degree', 'times data_parallel_replicate_degree; -1 is what is left'),
    always('what the other degrees leave'),
    key('parallelism_config_dp_shard_size', 'times parallelism_config_dp_replicate_size'),
    key('parallelism.dp'),
  ],
  replicate: [
    key('--num-distributed-optimizer-instances', 'the number of sets; sharding 1'),
    key('ddp.num_distributed_optimizer_instances', 'the number of sets; sharding 1'),
    key('parallelism.data_parallel_replicate_degree', 'the number of sets; sharding 3'),
    key('zero_optimization.mics_shard_size', 'the ranks of a set; sharding 3'),
    key('parallelism_config_dp_replicate_size', 'the number of sets; HYBRID_SHARD and _HYBRID_SHARD_ZERO2 of FSDP1'),
    none,
  ],
  context: [
    key('--context-parallel-size'),
    key('context_parallel_size'),
    key('parallelism.context_parallel_degree'),
    key('sequence_parallel_size'),
    key('parallelism_config_cp_size'),
    key('parallelism.context_parallel_size'),
  ],
  contextKind: [
    key('--cp-comm-type', 'p2p is ring, a2a, allgather, a2a+p2p is hybrid'),
    key('cp_comm_type', 'p2p is ring, a2a, allgather, a2a+p2p is hybrid'),
    key('parallelism.context_parallel_rotate_method', 'allgather or alltoall'),
    always('all-to-all (Ulysses)'),
    key('parallelism_config_cp_comm_strategy', 'allgather or alltoall'),
    always('ring'),
  ],
  expert: [
    key('--expert-model-parallel-size'),
    key('expert_model_parallel_size'),
    key('parallelism.expert_parallel_degree'),
    key('MoE(ep_size)', '--moe-expert-parallel-size'),
    none,
    key('parallelism.expert_parallel_size'),
  ],
  expertTensor: [
    key('--expert-tensor-parallel-size', 'that of tensor unless given'),
    key('expert_tensor_parallel_size', 'that of tensor unless given'),
    key('parallelism.expert_tensor_parallel_degree'),
    none,
    none,
    key('expert_tensor_parallel_size'),
  ],
  chunks: [
    key('--num-virtual-stages-per-pipeline-rank', 'or --num-layers-per-virtual-pipeline-stage'),
    key('virtual_pipeline_model_parallel_size'),
    key('parallelism.pipeline_parallel_layers_per_stage', 'layers of a chunk instead of chunks'),
    none,
    none,
    none,
  ],
  microBatch: [
    key('--micro-batch-size'),
    key('micro_batch_size'),
    key('training.local_batch_size', 'with stages parallelism.pipeline_parallel_microbatch_size'),
    key('train_micro_batch_size_per_gpu'),
    key('per_device_train_batch_size'),
    key('tokens.micro_batch_size'),
  ],
  sharding: [
    key('--use-distributed-optimizer', '1; --data-parallel-sharding-strategy of Megatron-FSDP for 2 and 3'),
    key('ddp.use_distributed_optimizer', '1; ddp.data_parallel_sharding_strategy for 2 and 3'),
    key('parallelism.data_parallel_shard_degree', '3; data_parallel_replicate_degree alone is 0'),
    key('zero_optimization.stage'),
    key('fsdp_sharding_strategy', 'FSDP2: fsdp_reshard_after_forward'),
    key('optimizer.zero_stage', '0 or 1'),
  ],
  recompute: [
    key('--recompute-granularity'),
    key('recompute_granularity'),
    key('activation_checkpoint.mode'),
    key('--checkpoint-activations'),
    key('fsdp_activation_checkpointing'),
    key('parallelism.recompute_layer'),
  ],
  schedule: [
    always('1f1b, interleaved-1f1b with chunks'),
    always('1f1b, interleaved-1f1b with chunks'),
    key('parallelism.pipeline_parallel_schedule'),
    always('1f1b'),
    none,
    key('parallelism.pp_engine', '1f1b, or afab for gpipe'),
  ],
  sequenceParallel: [
    key('--sequence-parallel'),
    key('sequence_parallel'),
    always('on with tensor'),
    key('--sequence-parallel'),
    always("the model's own plan"),
    key('parallelism.tp_mode', 'REDUCE_SCATTER'),
  ],
  keepGathered: [
    always('off'),
    always('off'),
    always('on'),
    always('off'),
    always('on'),
    key('parallelism.tp_recompute_allgather', 'the opposite'),
  ],
  lossChunks: [none, none, none, none, none, none],
  prefetch: [
    none,
    none,
    always('1'),
    key('zero_optimization.stage3_prefetch_bucket_size', 'elements instead of units'),
    key('fsdp_backward_prefetch'),
    none,
  ],
  reshard: [
    none,
    none,
    key('parallelism.fsdp_reshard_after_forward'),
    key('zero_optimization.stage3_max_reuse_distance'),
    key('fsdp_reshard_after_forward'),
    none,
  ],
  bucketMB: [
    key('--ddp-bucket-size', 'elements'),
    key('ddp.bucket_size', 'elements'),
    none,
    key('zero_optimization.reduce_bucket_size', 'elements'),
    key('bucket_cap_mb', 'MiB'),
    none,
  ],
  gradientType: [
    key('--accumulate-allreduce-grads-in-fp32', 'on with bf16'),
    key('ddp.grad_reduce_in_fp32'),
    key('training.mixed_precision_reduce'),
    key('communication_data_type'),
    key('MixedPrecision(reduce_dtype)'),
    key('optimizer.accumulate_grad_in_fp32'),
  ],
  gradientReduction: [
    always('per-step'),
    always('per-step'),
    always('per-micro-batch'),
    always('per-micro-batch for sharding 2 and 3'),
    key('no_sync()', 'around all micro-batches but the last'),
    always('per-step'),
  ],
  layersPerStage: [
    key('--pipeline-model-parallel-layout', 'or --decoder-first-pipeline-num-layers and -last-'),
    key('pipeline_model_parallel_layout'),
    key('parallelism.module_fqns_per_model_part'),
    key('PipelineModule(partition_method)', '--pp-partition-method'),
    none,
    always('balanced by the cost of blocks'),
  ],
  order: [
    key('--use-tp-pp-dp-mapping', 'tp-cp-ep-pp-dp'),
    key('use_tp_pp_dp_mapping', 'tp-cp-ep-pp-dp'),
    always('tp-cp-dp-pp'),
    always('tp-dp-pp'),
    always('tp-cp-dp'),
    always('tp-cp-dp-pp; tp-cp-pp-dp with experts'),
  ],
  unit: [none, none, always('block'), always('each parameter, in buckets'), key('fsdp_auto_wrap_policy'), none],
  offload: [
    key('--optimizer-cpu-offload', '--cpu-offloading-num-layers for activations'),
    key('optimizer_cpu_offload', 'cpu_offloading for activations'),
    key('training.enable_cpu_offload'),
    key('zero_optimization.offload_optimizer', 'offload_param for weights'),
    key('fsdp_offload_params'),
    none,
  ],
  overlap: [
    key('--overlap-grad-reduce', '--overlap-param-gather, --tp-comm-overlap'),
    key('ddp.overlap_grad_reduce', 'ddp.overlap_param_gather, tp_comm_overlap'),
    key('parallelism.enable_async_tensor_parallel'),
    key('zero_optimization.overlap_comm'),
    always('data and parameters'),
    key('parallelism.tp_linear_async_communication'),
  ],
  layers: [
    key('--recompute-num-layers', 'with --recompute-method block: the first ones of every chunk'),
    key('recompute_num_layers', 'with recompute_method block: the first ones of every chunk'),
    key('activation_checkpoint.selective_ac_option', 'every so-manyth'),
    none,
    none,
    none,
  ],
};

/** Keys of layouts that have a row. */
export const namedKeys: readonly string[] = Object.keys(rows);

/** What a framework calls a key of layouts; undefined for a key without a row. */
export const keyNameOf = (framework: LaunchFramework, layoutKey: string): KeyName | undefined =>
  rows[layoutKey]?.[launchFrameworks.indexOf(framework)];
