/** @file A layout: how one job is split over the ranks. Complete: every key has a value. */
import type { DenseAxis } from '../mesh/index.ts';

export type Sharding = 0 | 1 | 2 | 3;
export type Recompute = 'none' | 'selective' | 'full';
export type ScheduleName =
  | 'none'
  | 'naive'
  | 'gpipe'
  | '1f1b'
  | 'interleaved-1f1b'
  | 'zero-bubble-h1'
  | 'zero-bubble-h2'
  | 'zero-bubble-v'
  | 'dualpipe'
  | 'dualpipe-v';
/** How context ranks bring queries together with the keys and values of others. */
export type ContextKind = 'ring' | 'all-to-all' | 'all-gather' | 'hybrid';
/** What lies in host memory: nothing, or the optimizer's state, which the host then updates. */
export type Offload = 'none' | 'optimizer';
/** Exchanges that a layout lets run beside compute: reductions of gradients and gathers of parameters over data, sends between
 * stages. */
export type Overlapped = 'data' | 'parameters' | 'pipeline';
export type GradientReduction = 'per-step' | 'per-micro-batch';

/** What some layers do otherwise than the layout says: those from `from` to `to`, both counted from 0 and included. */
export interface LayerOverride {
  readonly from: number;
  readonly to: number;
  readonly recompute: Recompute;
}

export interface Layout {
  /** Degree of the tensor axis. */
  readonly tensor: number;
  /** Degree of the pipeline axis: the number of stages. */
  readonly pipeline: number;
  /** Degree of the data axis. */
  readonly data: number;
  /** Sets of shards among the data ranks: state is cut over data / replicate x context ranks, and the sets hold the same.
   * Hybrid sharding when above 1; meaningful with sharding. */
  readonly replicate: number;
  /** Degree of the context axis: ranks that split the sequence, in attention too. */
  readonly context: number;
  /** Meaningful with context ranks. */
  readonly contextKind: ContextKind;
  /** Ranks that the experts of a layer are dealt out to; 1 for a model without experts. */
  readonly expert: number;
  /** Ranks that cut each expert; like `tensor` where experts lie as everything else does, and without experts. */
  readonly expertTensor: number;
  /** 0 DDP, 1 optimizer, 2 optimizer and gradients, 3 weights as well (FSDP). */
  readonly sharding: Sharding;
  /** Units that may be gathered ahead of the one in use; meaningful for sharding 3. */
  readonly prefetch: number;
  /** Gathered weights are freed after each row of uses instead of being kept for the step; meaningful for sharding 3. */
  readonly reshard: boolean;
  /** A bucket closes when its gradients reach this many MB (10^6 bytes); meaningful for sharding 0 to 2. */
  readonly bucketMB: number;
  readonly gradientType: 'bf16' | 'fp32';
  /** Kept in host memory, and copied over the link between device and host. */
  readonly offload: Offload;
  readonly gradientReduction: GradientReduction;
  /** What runs beside compute, in the order of {@link Overlapped}; what is not named holds up what comes next. */
  readonly overlap: readonly Overlapped[];
  /** Sequences of a micro-batch. */
  readonly microBatch: number;
  /** Chunks (virtual stages) per pipeline rank. */
  readonly chunks: number;
  /** Layers of each chunk in model order (chunk c of stage i stands at c * pipeline + i); length pipeline * chunks. */
  readonly layersPerStage: readonly number[];
  readonly schedule: ScheduleName;
  readonly recompute: Recompute;
  /** Layers that recompute otherwise, in model order; empty where all do as `recompute` says. */
  readonly layers: readonly LayerOverride[];
  /** Pieces of the sequence in which the loss is taken; backward makes the logits of a piece again. */
  readonly lossChunks: number;
  readonly sequenceParallel: boolean;
  /** Gathered inputs are kept for the weight gradient instead of being gathered again; meaningful with sequence parallelism. */
  readonly keepGathered: boolean;
  /** Axes of the mesh, fastest first. */
  readonly order: readonly DenseAxis[];
}

/** What a user gives: any subset; `plan` searches over the rest, `show`, `run` and `program` take defaults. */
export type LayoutRequest = { readonly [Key in keyof Layout]?: Layout[Key] | undefined } & {
  /** Data ranks of one set of shards: another way to say `replicate`, which is the data ranks over it. */
  readonly shard?: number | undefined;
};
