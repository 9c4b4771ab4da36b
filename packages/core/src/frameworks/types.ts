/** @file What a framework does by habit, as data: defaults and facts that a layout does not say. */
import type { DenseAxis } from '../mesh/index.ts';

/** Frameworks whose habits are known. */
export type FrameworkName = 'meshwright' | 'megatron' | 'nemo' | 'torchtitan' | 'deepspeed' | 'fsdp' | 'nanotron';

/** A value with the place that says so. */
export interface FrameworkFact<Value> {
  readonly value: Value;
  /** Where the framework says so: file, manual or decision. */
  readonly source: string;
  /** Year-month in which the source was read. */
  readonly asOf: string;
}

/** Exchanges that run beside compute instead of blocking it. */
export type OverlapKind = 'tensor' | 'data' | 'parameters' | 'pipeline';

/** The kernel that attention runs in.
 *
 * `vendor`: the best of the device (cuDNN or FlashAttention-3 on Hopper and later). `flash-1`, `flash-2`: the releases of
 * FlashAttention, `flash-1-triton` the port of the first. `unfused`: products and softmax with the scores in memory. */
export type AttentionKernel = 'unfused' | 'flash-1' | 'flash-1-triton' | 'flash-2' | 'vendor';

/** How copies of a token travel to the experts of other ranks: one for each expert, for each rank that has any of them, or for
 * each node, where they are handed on. */
export const dispatchNames = ['per-expert', 'per-rank', 'per-node'] as const;
export type DispatchName = (typeof dispatchNames)[number];

/** How kernels that are bound by memory are fused; see {@link elementwiseTraffic}. `engine`: fused, but for biases and clamped
 * gates of experts. */
export type ElementwisePlan = 'fused' | 'engine' | 'compiled' | 'flash-attn' | 'eager';

/** What the loss holds of the logits of a rank, in bytes of one.
 *
 * `fp32`: logits and their gradient in fp32, 8. `native`: 16-bit logits copied to fp32, worked on in place and copied back,
 * 6. `half`: 16-bit logits and their gradient, 4. `in-place`: 16-bit logits that their gradient takes the place of, 2. */
export type LossPlan = 'fp32' | 'native' | 'half' | 'in-place';

/** Habits of a framework's releases up to a year: what moves time and is not part of a layout. */
export interface FrameworkEra {
  /** Last year of releases that behave so; absent for the newest. */
  readonly until?: number;
  readonly attention: FrameworkFact<AttentionKernel>;
  readonly elementwise: FrameworkFact<ElementwisePlan>;
  /** Dropout that its GPT models train with. */
  readonly dropout: FrameworkFact<number>;
  /** Host seconds for each kernel of the kernel table, all launches of its plan together. */
  readonly launchSeconds: FrameworkFact<number>;
  /** Host seconds for each exchange. */
  readonly exchangeSeconds: FrameworkFact<number>;
  /** The products of the experts of a rank: in one grouped kernel, or one after the other, each launched on its own. */
  readonly expertProducts: FrameworkFact<'grouped' | 'each'>;
  /** Share of tensor exchanges that hides behind pieces of the products beside them. */
  readonly tensorHidden: FrameworkFact<number>;
  /** Weight gradients are added by the product that makes them, or by a kernel of their own after it. */
  readonly accumulation: FrameworkFact<'fused' | 'separate'>;
  /** Reductions over data: beside the backward, bucket by bucket, or after it. */
  readonly dataReduction: FrameworkFact<'beside' | 'after'>;
  /** Rings over data that know of nodes, or one flat ring over all ranks. */
  readonly rings: FrameworkFact<'tiers' | 'flat'>;
  /** What the loss holds of the logits. */
  readonly loss: FrameworkFact<LossPlan>;
  readonly dispatch: FrameworkFact<DispatchName>;
  /** Sequence parallelism where nobody says. */
  readonly sequenceParallel: FrameworkFact<boolean>;
}

/** One framework. A profile never changes what a layout means, only what it takes for granted. */
export interface FrameworkProfile {
  readonly name: FrameworkName;
  /** Axes of the mesh, fastest first. */
  readonly order: FrameworkFact<readonly DenseAxis[]>;
  /** Element type of gradients under 16-bit precision. */
  readonly gradientType: FrameworkFact<'bf16' | 'fp32'>;
  /** 10^6 bytes of gradients that close a bucket. */
  readonly bucketMB: FrameworkFact<number>;
  /** Units gathered ahead under sharding 3. */
  readonly prefetch: FrameworkFact<number>;
  /** Sharding 3 with several stages: gathered weights stay whole until the last use of the step. */
  readonly keepsUnitsInPipelines: FrameworkFact<boolean>;
  /** What data sharding cuts: the flat bucket or unit, or dim 0 of each parameter. */
  readonly dataSharding: FrameworkFact<'flat' | 'dim0'>;
  readonly overlap: FrameworkFact<Readonly<Record<OverlapKind, boolean>>>;
  /** Narrow products leave their inputs for backward in the narrow type, or in 16 bit to be cast again. */
  readonly keepsNarrowInputs: FrameworkFact<boolean>;
  /** Its recipes copy activations of some layers to the host, where stages are one. */
  readonly offloadsActivations: FrameworkFact<boolean>;
  /** Ranks that cut an expert under expert parallelism when nobody says: one, or as many as tensor has. */
  readonly expertTensor: FrameworkFact<'one' | 'tensor'>;
  /** `refuse`: key and value heads must be divisible by tensor; `replicate`: tensor may be a multiple of them. */
  readonly kvHeads: FrameworkFact<'refuse' | 'replicate'>;
  /** What happens to a vocabulary that tensor does not divide: refused, or padded to a multiple of `multiple` x tensor. */
  readonly vocabulary: FrameworkFact<{ readonly kind: 'refuse' } | { readonly kind: 'pad'; readonly multiple: number }>;
  /** Schedules that split backward, which a search tries although nobody names one. */
  readonly splitSchedules: FrameworkFact<readonly ('zero-bubble-v' | 'dualpipe-v')[]>;
  /** `multiple`: interleaved-1f1b needs micro-batches that are a multiple of the stages. */
  readonly interleaved: FrameworkFact<'multiple' | 'any'>;
  /** Oldest first; the last one has no end. */
  readonly eras: readonly [FrameworkEra, ...FrameworkEra[]];
}
