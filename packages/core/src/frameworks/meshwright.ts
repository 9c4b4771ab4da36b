/** @file The profile of a job that names no framework: the habits that most share, with nothing hidden. */
import { defaultOrder } from '../mesh/index.ts';
import { fact } from './fact.ts';
import type { FrameworkProfile } from './types.ts';

const ours = 'choice of the default profile';
const notes = 'accuracy notes of the prototype predictor';

/** The default profile. */
export const meshwright: FrameworkProfile = {
  name: 'meshwright',
  order: fact(
    defaultOrder,
    'Megatron-LM, megatron/core/parallel_state.py, initialize_model_parallel: order "tp-cp-ep-dp-pp"',
    '2026-08',
  ),
  gradientType: fact('bf16', `${ours}; PyTorch DDP and FSDP keep the parameter's type`, '2026-08'),
  bucketMB: fact(25, 'PyTorch, torch.nn.parallel.DistributedDataParallel: bucket_cap_mb (MiB there)', '2026-08'),
  prefetch: fact(
    1,
    'PyTorch, torch.distributed.fsdp.FullyShardedDataParallel: BackwardPrefetch.BACKWARD_PRE',
    '2026-08',
  ),
  keepsUnitsInPipelines: fact(false, `${ours}; PyTorch FSDP: reshard_after_forward=True`, '2026-08'),
  dataSharding: fact('flat', `${ours}; Megatron-LM's distributed optimizer, FSDP1, DeepSpeed`, '2026-08'),
  overlap: fact(
    { tensor: false, data: true, parameters: true, pipeline: true },
    `${ours}; Megatron-LM: --overlap-grad-reduce, --overlap-param-gather, no tensor overlap by default`,
    '2026-08',
  ),
  keepsNarrowInputs: fact(true, `${ours}; Transformer Engine does, torchao casts again`),
  offloadsActivations: fact(false, ours),
  expertTensor: fact('one', `${ours}; torchtitan: expert_tensor_parallel_degree 1`, '2026-08'),
  kvHeads: fact('refuse', `${ours}; torchtitan, pull request 2577; Megatron-LM replicates`, '2026-08'),
  vocabulary: fact({ kind: 'refuse' }, `${ours}; Megatron-LM pads to make_vocab_size_divisible_by x tensor`, '2026-08'),
  splitSchedules: fact([], `${ours}: they are tried where a layout names one`, '2026-11'),
  interleaved: fact(
    'multiple',
    'Narayanan et al. 2021, section 2.2; older Megatron-LM: num_microbatches % pipeline == 0',
    '2026-08',
  ),
  eras: [
    {
      attention: fact('vendor', ours),
      elementwise: fact(
        'fused',
        `${ours}; Transformer Engine, Apex and torch.compile fuse what the kernel table fuses`,
      ),
      dropout: fact(0, ours),
      launchSeconds: fact(27e-6, `${notes}, section 5: 0.3 to 0.45 ms for the 14 kernels of a layer`),
      exchangeSeconds: fact(35e-6, `${ours}; a guess, 15 to 170 us`),
      expertProducts: fact('grouped', `${ours}: what its programs run`),
      tensorHidden: fact(0, ours),
      accumulation: fact('fused', ours),
      dataReduction: fact('beside', ours),
      rings: fact('tiers', 'NCCL 2.4 and later: trees and rings that know of nodes'),
      loss: fact('fp32', ours),
      dispatch: fact('per-expert', `${ours}: what its programs run`),
      sequenceParallel: fact(true, ours),
    },
  ],
};
