/** @file What data ranks share out. */
import { listed } from '../../mesh/index.ts';
import type { FrameworkName } from '../types.ts';
import { type FrameworkRule, megatrons, rule } from './rule.ts';

/** Sets of shards that repeat each other exist under the shardings of `offered` only. */
const setsRule = (frameworks: readonly FrameworkName[], offered: readonly number[], source: string): FrameworkRule =>
  rule('SHARDS_NOT_OFFERED', frameworks, source, ['sharding', 'data', 'dataShard'], ({ sharding, data, dataShard }) => {
    if (sharding === 0 || dataShard === data || offered.includes(sharding)) return undefined;
    return {
      key: 'dataShard',
      message: `sets of ${dataShard} of the ${data} data ranks cannot repeat each other under sharding ${sharding}.`,
      hint: offered.length > 0 ? `Use sharding ${listed(offered)}, or shard ${data}.` : `Use shard ${data}.`,
      values: { sharding, data, dataShard },
    };
  });

/** Only the optimizer's state lies in host memory under the shardings of `offered`. */
const offloadRule = (frameworks: readonly FrameworkName[], offered: readonly number[], source: string): FrameworkRule =>
  rule('OFFLOAD_NOT_OFFERED', frameworks, source, ['sharding', 'offload'], ({ sharding, offload }) => {
    if (offload === 'none' || offered.includes(sharding)) return undefined;
    return {
      key: 'offload',
      message: `the optimizer's state alone cannot lie in host memory under sharding ${sharding}.`,
      hint: offered.length > 0 ? `Use sharding ${listed(offered)}, or offload none.` : 'Use offload none.',
      values: { sharding, offload },
    };
  });

/** Rules of sharding. */
export const shardingRules: readonly FrameworkRule[] = [
  rule(
    'SHARDING_NOT_WITH_PIPELINE',
    ['deepspeed'],
    'DeepSpeed, deepspeed/runtime/pipe/engine.py; issues 568, 1110, 3589: gradients are added up whole over micro-batches',
    ['sharding', 'pipeline'],
    ({ sharding, pipeline }) =>
      pipeline === 1 || sharding < 2
        ? undefined
        : {
            key: 'sharding',
            message: `sharding ${sharding} cannot run with pipeline ${pipeline}.`,
            hint: 'Use sharding 0 or 1, or pipeline 1.',
            values: { sharding, pipeline, fits: [0, 1] },
          },
  ),
  rule(
    'SHARDING_NOT_OFFERED',
    ['nanotron'],
    'nanotron, src/nanotron/optim/zero.py: zero_stage 0, or 1 for ZeroDistributedOptimizer',
    ['sharding'],
    ({ sharding }) =>
      sharding < 2
        ? undefined
        : {
            key: 'sharding',
            message: `nanotron has no sharding ${sharding}.`,
            hint: 'Use 0 or 1.',
            values: { sharding, fits: [0, 1] },
          },
  ),
  rule(
    'EXPERTS_NOT_WITH_SHARDING',
    ['deepspeed'],
    'DeepSpeed, deepspeed/runtime/engine.py: its own expert layer is not supported under ZeRO stage 3',
    ['sharding', 'experts'],
    ({ sharding, experts }, { switches = {} }) =>
      sharding < 3 || experts === 0 || switches.autoExperts === true
        ? undefined
        : {
            key: 'sharding',
            message: `sharding 3 cannot run with ${experts} experts of DeepSpeed's own layer.`,
            hint: 'Use sharding 0, 1 or 2.',
            values: { sharding, experts, fits: [0, 1, 2] },
          },
  ),
  rule(
    'REDUCTION_TYPE_NOT_OFFERED',
    ['torchtitan'],
    'torchtitan, torchtitan/config: training.mixed_precision_reduce accepts float32 only',
    ['gradientType'],
    ({ gradientType }) =>
      gradientType === 'fp32'
        ? undefined
        : {
            key: 'gradientType',
            message: `torchtitan does not reduce gradients in ${gradientType}.`,
            hint: 'Use fp32.',
            values: { gradientType, fits: ['fp32'] },
          },
  ),
  setsRule(megatrons, [1], 'Megatron-LM, training/arguments.py: --num-distributed-optimizer-instances'),
  setsRule(['torchtitan'], [3], 'torchtitan, distributed/parallel_dims.py: dp_replicate beside dp_shard'),
  setsRule(['deepspeed'], [3], 'DeepSpeed, runtime/zero/mics.py: MiCS is stage 3'),
  setsRule(['fsdp'], [2, 3], 'PyTorch, ShardingStrategy.HYBRID_SHARD and _HYBRID_SHARD_ZERO2'),
  offloadRule(
    megatrons,
    [1],
    'Megatron-LM, training/arguments.py: --optimizer-cpu-offload is of the distributed optimizer',
  ),
  offloadRule(['deepspeed'], [1, 2, 3], 'DeepSpeed, config-json: offload_optimizer takes ZeRO stages 1, 2 and 3'),
  offloadRule(['torchtitan', 'fsdp'], [], 'PyTorch, CPUOffloadPolicy and CPUOffload: weights go to host memory too'),
  offloadRule(['nanotron'], [], 'nanotron, optim: no state in host memory'),
  setsRule(['nanotron'], [], 'nanotron, optim/zero.py: the optimizer is cut over all data ranks'),
];
