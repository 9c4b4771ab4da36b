/** @file What a framework does by habit, as data: defaults and facts that a layout does not say. */
import type { AxisName } from '../mesh/index.ts';

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

/** One framework. A profile never changes what a layout means, only what it takes for granted. */
export interface FrameworkProfile {
  readonly name: string;
  /** Axes of the mesh, fastest first. */
  readonly order: FrameworkFact<readonly AxisName[]>;
  /** Element type of gradients under 16-bit precision. */
  readonly gradientType: FrameworkFact<'bf16' | 'fp32'>;
  /** 10^6 bytes of gradients that close a bucket. */
  readonly bucketMB: FrameworkFact<number>;
  /** Units gathered ahead under sharding 3. */
  readonly prefetch: FrameworkFact<number>;
  /** What data sharding cuts: the flat bucket or unit, or dim 0 of each parameter. */
  readonly dataSharding: FrameworkFact<'flat' | 'dim0'>;
  readonly overlap: FrameworkFact<Readonly<Record<OverlapKind, boolean>>>;
  /** `refuse`: key and value heads must be divisible by tensor; `replicate`: tensor may be a multiple of them. */
  readonly kvHeads: FrameworkFact<'refuse' | 'replicate'>;
  /** What happens to a vocabulary that tensor does not divide: refused, or padded to a multiple of `multiple` x tensor. */
  readonly vocabulary: FrameworkFact<{ readonly kind: 'refuse' } | { readonly kind: 'pad'; readonly multiple: number }>;
  /** `multiple`: interleaved-1f1b needs micro-batches that are a multiple of the stages. */
  readonly interleaved: FrameworkFact<'multiple' | 'any'>;
}
