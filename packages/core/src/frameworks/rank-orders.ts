/** @file Orders of ranks that each framework can be told. */
import type { LaunchFramework } from './key-names.ts';

/** Orders of ranks that a framework can be told, the default first, fastest axis first, in its own axes. */
export const rankOrders: Readonly<
  Record<LaunchFramework, { readonly orders: readonly string[]; readonly source: string }>
> = {
  megatron: {
    orders: ['tp-cp-ep-dp-pp', 'tp-cp-ep-pp-dp'],
    source: 'Megatron-LM, megatron/core/parallel_state.py, RankGenerator; experts: etp-ep-dp-pp over the same ranks',
  },
  nemo: {
    orders: ['tp-cp-ep-dp-pp', 'tp-cp-ep-pp-dp'],
    source: 'Megatron-LM, megatron/core/parallel_state.py; use_tp_pp_dp_mapping',
  },
  torchtitan: {
    orders: ['tp-cp-dp_shard-dp_replicate-pp'],
    source:
      'torchtitan, torchtitan/distributed/parallel_dims.py; experts: ep-efsdp-dp_replicate-pp, ep is carved from dp_shard x cp x tp',
  },
  deepspeed: {
    orders: ['model-data-pipe'],
    source: 'DeepSpeed, deepspeed/runtime/pipe/topology.py, PipeModelDataParallelTopology: axes pipe, data, model',
  },
  fsdp: {
    orders: ['tp-sp-cp-dp_shard-dp_replicate'],
    source: 'accelerate, src/accelerate/parallelism_config.py: mesh dp_replicate, dp_shard, cp, sp, tp',
  },
  nanotron: {
    orders: ['tp-cp-dp-pp-ep', 'tp-cp-pp-dp'],
    source: 'nanotron 009b8f7, src/nanotron/parallel/context.py: the second with experts, etp-ep-pp-edp for these',
  },
};
