/** @file Frameworks on plain PyTorch: eager or compiled kernels, sharding by FSDP or DeepSpeed. */
import { fact } from './fact.ts';
import { meshwright } from './meshwright.ts';
import type { FrameworkEra, FrameworkProfile } from './types.ts';

const [base] = meshwright.eras;

const eager: FrameworkEra = {
  attention: fact('flash-2', 'torch.nn.functional.scaled_dot_product_attention: FlashAttention-2 since PyTorch 2.2'),
  elementwise: fact('eager', 'PyTorch without torch.compile: every operator of the model code is a kernel'),
  dropout: fact(0, 'Llama and MPT configurations: no dropout in pre-training'),
  launchSeconds: fact(
    35e-6,
    'about 60 launches of a forward Llama layer at 6 to 10 us each over the 14 kernels of the table; a guess, 20 to 50',
  ),
  exchangeSeconds: base.exchangeSeconds,
  expertProducts: fact('each', 'transformers, models/mixtral/modeling_mixtral.py: a loop over the experts'),
  tensorHidden: fact(0, 'PyTorch DTensor: exchanges block unless compiled with asynchronous tensor parallelism'),
  accumulation: fact('fused', 'FSDP reduces each micro-batch: a gradient is written once and not added to'),
  dataReduction: fact('beside', 'torch.distributed.fsdp and DistributedDataParallel: reductions from backward hooks'),
  rings: base.rings,
  loss: fact('fp32', 'torch.nn.functional.cross_entropy on logits.float()'),
  dispatch: base.dispatch,
  sequenceParallel: fact(false, 'no tensor parallelism in plain FSDP'),
};

/** PyTorch FSDP around eager model code. */
export const fsdp: FrameworkProfile = {
  ...meshwright,
  name: 'fsdp',
  gradientType: fact('bf16', 'torch.distributed.fsdp.MixedPrecision(reduce_dtype=torch.bfloat16) in its recipes'),
  eras: [
    {
      ...eager,
      until: 2023,
      attention: fact(
        'flash-1',
        'releases up to 2023: FlashAttention 1 and its Triton port (attn_impl: triton of MPT)',
      ),
    },
    eager,
  ],
};

/** torchtitan: FSDP2, per-parameter shards, blocks compiled. */
export const torchtitan: FrameworkProfile = {
  ...meshwright,
  name: 'torchtitan',
  keepsNarrowInputs: fact(
    false,
    'torchao, float8/float8_linear.py: saves its 16-bit input and casts it again in backward',
  ),
  gradientType: fact('fp32', 'torchtitan, config: training.mixed_precision_reduce = float32'),
  keepsUnitsInPipelines: fact(
    true,
    'torchtitan, config: fsdp_reshard_after_forward = "default" reshards unless pipeline parallelism is on',
  ),
  dataSharding: fact('dim0', 'torchtitan, docs/fsdp.md: FSDP2 shards each parameter on dim 0'),
  splitSchedules: fact(
    ['zero-bubble-v', 'dualpipe-v'],
    'PyTorch 2.9.0, torch/distributed/pipelining/schedules.py: ScheduleZBVZeroBubble, ScheduleDualPipeV',
    '2026-11',
  ),
  eras: [
    {
      ...eager,
      elementwise: fact('compiled', 'torchtitan, benchmarks: torch.compile on each block'),
      launchSeconds: base.launchSeconds,
      expertProducts: fact('grouped', 'torchtitan, models/moe/moe.py: torch._grouped_mm'),
      sequenceParallel: fact(true, 'torchtitan, models/llama3/parallelize.py: SequenceParallel norms with tensor > 1'),
    },
  ],
};

/** DeepSpeed ZeRO around Megatron or Hugging Face model code. */
export const deepspeed: FrameworkProfile = {
  ...meshwright,
  name: 'deepspeed',
  bucketMB: fact(1000, 'DeepSpeed configuration: reduce_bucket_size 5e8 elements; 2 bytes each'),
  eras: [
    {
      ...eager,
      until: 2021,
      attention: fact('unfused', 'before FlashAttention (2022)'),
      elementwise: fact('fused', 'Megatron-LM model code of that time'),
      launchSeconds: fact(67e-6, 'as Megatron-LM of that time'),
      exchangeSeconds: fact(170e-6, 'as Megatron-LM of that time'),
      accumulation: fact('separate', 'as Megatron-LM of that time'),
      loss: fact('native', 'as Megatron-LM of that time'),
      dropout: fact(0.1, 'as Megatron-LM of that time'),
      rings: fact('flat', 'accuracy notes, section 6: ZeRO-3 of 2021 ran flat rings at 16 to 18 GB/s per rank'),
    },
    eager,
  ],
};

/** nanotron: eager Llama code with FlashAttention-2 and its fused norm, fp32 gradients. */
export const nanotron: FrameworkProfile = {
  ...meshwright,
  name: 'nanotron',
  gradientType: fact('fp32', 'nanotron, examples: optimizer.accumulate_grad_in_fp32: true'),
  eras: [
    {
      ...eager,
      elementwise: fact(
        'flash-attn',
        'nanotron, src/nanotron/nn/layer_norm.py and models/llama.py: flash_attn kernels',
      ),
      sequenceParallel: fact(true, 'nanotron, examples: tp_mode REDUCE_SCATTER'),
    },
  ],
};
