/** @file Bytes that kernels move as frameworks run them, kernel by kernel, over those of one fused pass.
 *
 * A row lists what each small kernel of the plan reads and writes for one element of a 16-bit activation, in order; the
 * last number is what the row of the kernel table counts for the same result. The ratio is what the price is multiplied
 * with. Nothing here is fitted.
 */
import type { ElementwisePlan } from './types.ts';

interface KernelList {
  /** Key of the kernel table. */
  readonly kernel: string;
  /** Bytes per element of each pass. */
  readonly passes: readonly number[];
  /** Bytes per element of the fused row. */
  readonly fused: number;
  readonly source: string;
}

const llama =
  'meta-llama/llama, llama/model.py (RMSNorm.forward, apply_rotary_emb, FeedForward.forward), autograd of it';
const loss = 'torch.nn.functional.cross_entropy on logits.float(): cast, log_softmax, nll, and their backward';

/** float, square, mean, scale, type_as, weight. */
const eagerNorm: KernelList = { kernel: 'rmsnorm', passes: [6, 8, 4, 8, 6, 4], fused: 4, source: llama };
/** weight (input and weight side), cast, two products of the scale with a sum, square, add, cast, residual. */
const eagerNormBackward: KernelList = {
  kernel: 'rmsnorm.dx',
  passes: [4, 8, 6, 8, 12, 4, 8, 12, 6, 6],
  fused: 8,
  source: llama,
};
/** float, complex product, type_as, over query and key; the fused row counts query, key and value. */
const eagerRotary: KernelList = { kernel: 'rope', passes: [4, 16 / 3, 4], fused: 4, source: llama };
const eagerRotaryBackward: KernelList = { ...eagerRotary, kernel: 'rope.dx' };
/** silu, product: per element of the inner width. */
const eagerGated: KernelList = { kernel: 'gated', passes: [4, 6], fused: 6, source: llama };
/** product (both sides), silu. */
const eagerGatedBackward: KernelList = { kernel: 'gated.dx', passes: [6, 6, 6], fused: 10, source: llama };
/** cast, log_softmax in two reads; the fused plan reads fp32 logits twice in two kernels, this is the second. */
const eagerLoss: KernelList = { kernel: 'rowsumexp', passes: [6, 12], fused: 4, source: loss };
/** nll, log_softmax, cast. */
const eagerLossBackward: KernelList = { kernel: 'cross-entropy.dx', passes: [4, 12, 6], fused: 8, source: loss };

const adam =
  'apex/optimizers/fused_adam.py and Megatron-LM, megatron/core/optimizer: clip, step, copy to weights, zeroing';
/** Gradient by clip factor, step over gradient, master and moments, master to weights, zeroing. */
const fusedAdam: KernelList = { kernel: 'adamw', passes: [8, 28, 6, 4], fused: 32, source: adam };
/** torch.optim.AdamW(fused=True): clip, step, cast of the gathered shard. */
const torchAdam: KernelList = {
  kernel: 'adamw',
  passes: [8, 28, 6],
  fused: 32,
  source: 'torch.optim.AdamW(fused=True)',
};
/** Decay, both moments in two passes, root, scale, epsilon, update; clip and cast beside. */
const eagerAdam: KernelList = {
  kernel: 'adamw',
  passes: [8, 8, 12, 8, 12, 8, 8, 8, 16, 6],
  fused: 32,
  source: 'torch/optim/adamw.py, _multi_tensor_adamw',
};

const lists: Readonly<Record<ElementwisePlan, readonly KernelList[]>> = {
  fused: [fusedAdam],
  engine: [fusedAdam],
  // torch._inductor warns that it does not generate code for complex operators: rotary positions stay eager.
  compiled: [eagerRotary, eagerRotaryBackward, eagerLoss, eagerLossBackward, torchAdam],
  // Norms, rotary positions and loss from the extensions of flash-attn, the rest eager.
  'flash-attn': [eagerGated, eagerGatedBackward, eagerAdam],
  eager: [
    eagerNorm,
    eagerNormBackward,
    eagerRotary,
    eagerRotaryBackward,
    eagerGated,
    eagerGatedBackward,
    eagerLoss,
    eagerLossBackward,
    eagerAdam,
  ],
};

/** By kernel: bytes of the plan over bytes of the kernel table. Kernels that are absent move what the table says. */
export const elementwiseTraffic = (plan: ElementwisePlan): Readonly<Record<string, number>> =>
  factorsOf(lists[plan], 1);

const clamp = 'Megatron-LM, megatron/core/fusions/fused_bias_geglu.py, weighted_bias_quick_geglu_impl, autograd of it';
const bias = 'Megatron-LM, megatron/core/transformer/moe/experts.py, TEGroupedMLP._apply_bias, autograd of it';

/** Both halves clamped, put together again, activation: per element of the inner width. */
const clampedGate: KernelList = { kernel: 'gated', passes: [8, 8, 6], fused: 6, source: clamp };
/** Activation, both clamps, both halves put together. */
const clampedGateBackward: KernelList = { kernel: 'gated.dx', passes: [10, 12, 8], fused: 10, source: clamp };
/** Bias times weight in fp32, sum with the rows of an expert, experts put together, cast. */
const rowBias: KernelList = { kernel: 'row-bias', passes: [4, 10, 8, 6], fused: 4, source: bias };
/** Cast, that of the rows, experts put together; sums for the bias and for the weight, a product and a sum each. */
const rowBiasBackward: KernelList = { kernel: 'row-bias.dw', passes: [6, 6, 4, 12, 12], fused: 2, source: bias };

/** What of a model's experts decides how their small kernels run. */
interface ExpertShape {
  readonly activation: string;
  readonly bias?: boolean;
  readonly gated: boolean;
  readonly width: number;
}

/** The same for kernels of experts, of a model with `hidden` values a token. The first bias of an expert is added by its product
 * and so costs nothing: of the bytes of both biases the share of the second one is left. */
export function expertTraffic(
  plan: ElementwisePlan,
  { activation, bias: isBiased, gated, width }: ExpertShape,
  hidden: number,
): Readonly<Record<string, number>> {
  if (plan !== 'engine') return {};
  const second = hidden / (hidden + (gated ? 2 : 1) * width);
  return {
    ...(activation === 'clamped-silu' && factorsOf([clampedGate, clampedGateBackward], 1)),
    ...(isBiased && factorsOf([rowBias, rowBiasBackward], second)),
  };
}

const factorsOf = (of: readonly KernelList[], share: number): Readonly<Record<string, number>> =>
  Object.fromEntries(of.map(({ kernel, passes, fused }) => [kernel, (share * sumOf(passes)) / fused]));

const sumOf = (passes: readonly number[]): number => passes.reduce((sum, each) => sum + each, 0);
