/** @file Megatron-LM and what NVIDIA builds on it: NeMo, Megatron-Bridge. */
import { fact } from './fact.ts';
import { meshwright } from './meshwright.ts';
import type { DispatchName, FrameworkEra, FrameworkProfile } from './types.ts';

const [base] = meshwright.eras;
const flags = 'Megatron-LM, megatron/training/arguments.py';
const notes = 'accuracy notes of the prototype predictor';
const crossEntropy = 'Megatron-LM, megatron/core/tensor_parallel/cross_entropy.py: logits.float(), the rest in place';

const copies = fact<DispatchName>(
  'per-expert',
  'Megatron-LM, megatron/core/transformer/moe/token_dispatcher.py: the all-to-all dispatcher permutes a row for each expert',
);

const once = fact<DispatchName>(
  'per-node',
  'Megatron-Bridge, scripts/performance/configs: moe_flex_dispatcher_backend deepep or hybridep; DeepEP, csrc/kernels/internode.cu: one copy to a node, handed on over NVLink',
);

/** What this costs is the host's: the device runs up to four of them side by side. */
const eachExpert = fact<'grouped' | 'each'>(
  'each',
  'Transformer Engine, transformer_engine/common/gemm/cublaslt_gemm.cu: multi_stream_cublas_gemm calls a product for each expert, on 4 streams; nvte_multi_tensor_gemm takes it unless NVTE_USE_CUTLASS_GROUPED_GEMM is set',
);

/** Local kernels: fused bias, dropout, residual, GELU and softmax; scores in memory. */
const local: FrameworkEra = {
  until: 2024,
  attention: fact('unfused', `${flags}: --use-flash-attn is off unless given; no other blockwise kernel without it`),
  elementwise: fact(
    'fused',
    'Megatron-LM, megatron/model/fused_*.py: bias-dropout-add, bias-gelu, layer norm, softmax',
  ),
  dropout: fact(0.1, `${flags}: --hidden-dropout and --attention-dropout, default 0.1`),
  launchSeconds: fact(
    67e-6,
    `${notes}, section 5: 0.94 ms for the 14 kernels of a forward layer on A100 hosts of 2022`,
  ),
  exchangeSeconds: fact(170e-6, `${notes}, section 5: 0.34 ms more for the two exchanges of a forward layer`),
  expertProducts: fact('each', `${flags}: experts one after the other (SequentialMLP) without --moe-grouped-gemm`),
  tensorHidden: fact(0, `${flags}: --tp-comm-overlap is off unless given`),
  accumulation: fact('fused', `${flags}: --no-gradient-accumulation-fusion is off unless given; since 2022`),
  dataReduction: fact(
    'after',
    'Megatron-LM, megatron/model/distributed.py: allreduce_gradients after the last backward',
  ),
  rings: base.rings,
  loss: fact('native', crossEntropy),
  dispatch: copies,
  sequenceParallel: fact(false, `${flags}: --sequence-parallel is off unless given`),
};

/** Before the fused kernel for gradients. */
const first: FrameworkEra = {
  ...local,
  until: 2021,
  accumulation: fact('separate', 'Megatron-LM before 2022: layers.py has no fused_weight_gradient_mlp_cuda'),
};

/** Transformer Engine kernels, blockwise attention from cuDNN. */
const engine: FrameworkEra = {
  attention: fact('vendor', `${flags}: --attention-backend auto, --transformer-impl transformer_engine`),
  elementwise: fact(
    'engine',
    'Transformer Engine: layer norm, activation, rotary and loss in fused kernels; Megatron-LM, megatron/core/transformer/moe/experts.py (TEGroupedMLP._apply_bias) and core/fusions/fused_bias_geglu.py: eager operators',
  ),
  dropout: fact(0.1, `${flags}: --hidden-dropout and --attention-dropout, default 0.1`),
  launchSeconds: base.launchSeconds,
  exchangeSeconds: base.exchangeSeconds,
  expertProducts: eachExpert,
  tensorHidden: fact(0, `${flags}: --tp-comm-overlap is off unless given`),
  accumulation: local.accumulation,
  dataReduction: fact('after', `${flags}: --overlap-grad-reduce is off unless given`),
  rings: base.rings,
  loss: fact('native', crossEntropy),
  dispatch: copies,
  sequenceParallel: fact(false, `${flags}: --sequence-parallel is off unless given`),
};

/** Megatron-LM with its flags at their defaults. */
export const megatron: FrameworkProfile = {
  ...meshwright,
  name: 'megatron',
  gradientType: fact('fp32', `${flags}: bf16 turns on accumulate_allreduce_grads_in_fp32`),
  bucketMB: fact(1e9, 'Megatron-LM, DistributedDataParallel: one bucket for everything without --overlap-grad-reduce'),
  expertTensor: fact('tensor', `${flags}: --expert-tensor-parallel-size is that of tensor unless given`),
  kvHeads: fact('replicate', 'Megatron-LM, megatron/core/transformer/attention.py'),
  vocabulary: fact({ kind: 'pad', multiple: 128 }, `${flags}: --make-vocab-size-divisible-by 128`),
  eras: [first, local, engine],
};

/** What the recipes of NeMo switch on. */
const recipes: FrameworkEra = {
  ...engine,
  dropout: fact(0, 'NeMo recipes: hidden_dropout 0, attention_dropout 0'),
  tensorHidden: fact(0.67, `${notes}, section 6: user buffers hide 0.6 to 0.75 of the exchange`),
  dataReduction: fact('beside', 'NeMo recipes: overlap_grad_reduce and overlap_param_gather'),
  sequenceParallel: fact(true, 'NeMo recipes: sequence_parallel where tensor > 1'),
};

/** NeMo and Megatron-Bridge: the same engine with their recipes' overlap switched on. */
export const nemo: FrameworkProfile = {
  ...megatron,
  name: 'nemo',
  gradientType: fact(
    'bf16',
    'NeMo, scripts/performance: trainer.plugins.grad_reduce_in_fp32 = False; Megatron-Bridge, perf_recipes: ddp.grad_reduce_in_fp32 = False; 2 + 2 + 12/d bytes a parameter in logs of NeMo',
  ),
  bucketMB: fact(80, 'Megatron-LM, DistributedDataParallel: max(40,000,000, 1,000,000 x data) elements; 2 bytes each'),
  offloadsActivations: fact(
    true,
    'Megatron-Bridge, scripts/performance/configs/llama: cpu_offloading_num_layers 5 to 40; Megatron-LM refuses it with stages',
  ),
  overlap: fact(
    { tensor: true, data: true, parameters: true, pipeline: true },
    'NeMo recipes: overlap_grad_reduce, overlap_param_gather, tp_comm_overlap',
  ),
  eras: [
    {
      ...local,
      until: 2022,
      sequenceParallel: fact(true, 'NeMo-Megatron-Launcher, conf/training/gpt3: sequence_parallel where tensor > 1'),
    },
    { ...recipes, until: 2024 },
    { ...recipes, until: 2025, dispatch: once },
    {
      ...recipes,
      dispatch: once,
      loss: fact('in-place', 'Megatron-Bridge, perf_recipes: cross_entropy_fusion_impl = "te"'),
    },
  ],
};
