/** @file Facts of each framework as data. */
import { defaultOrder } from '../mesh/index.ts';
import type { FrameworkProfile } from './types.ts';

const ours = 'choice of the default profile';

/** The profile of a job that names no framework: the habits that most share, with nothing hidden. */
const meshwright: FrameworkProfile = {
  name: 'meshwright',
  order: {
    value: defaultOrder,
    source: 'Megatron-LM, megatron/core/parallel_state.py, initialize_model_parallel: order "tp-cp-ep-dp-pp"',
    asOf: '2026-08',
  },
  gradientType: { value: 'bf16', source: `${ours}; PyTorch DDP and FSDP keep the parameter's type`, asOf: '2026-08' },
  bucketMB: {
    value: 25,
    source: 'PyTorch, torch.nn.parallel.DistributedDataParallel: bucket_cap_mb (MiB there)',
    asOf: '2026-08',
  },
  prefetch: {
    value: 1,
    source: 'PyTorch, torch.distributed.fsdp.FullyShardedDataParallel: BackwardPrefetch.BACKWARD_PRE',
    asOf: '2026-08',
  },
  dataSharding: {
    value: 'flat',
    source: `${ours}; Megatron-LM's distributed optimizer, FSDP1, DeepSpeed`,
    asOf: '2026-08',
  },
  overlap: {
    value: { tensor: false, data: true, parameters: true, pipeline: true },
    source: `${ours}; Megatron-LM: --overlap-grad-reduce, --overlap-param-gather, no tensor overlap by default`,
    asOf: '2026-08',
  },
  kvHeads: {
    value: 'refuse',
    source: `${ours}; torchtitan, pull request 2577; Megatron-LM replicates`,
    asOf: '2026-08',
  },
  vocabulary: {
    value: { kind: 'refuse' },
    source: `${ours}; Megatron-LM pads to make_vocab_size_divisible_by x tensor`,
    asOf: '2026-08',
  },
  interleaved: {
    value: 'multiple',
    source: 'Narayanan et al. 2021, section 2.2; older Megatron-LM: num_microbatches % pipeline == 0',
    asOf: '2026-08',
  },
};

/** Every profile by name. */
export const frameworks: { readonly meshwright: FrameworkProfile } = { meshwright };

export type { FrameworkFact, FrameworkProfile, OverlapKind } from './types.ts';
