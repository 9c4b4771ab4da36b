/** @file The work of one kernel on one rank: what a price is asked for. Sizes are local to the rank. */
import type { DType } from '../tensor/index.ts';

interface Amounts {
  /** A multiply-add is 2. */
  readonly flops: number;
  readonly bytesRead: number;
  readonly bytesWritten: number;
}

/** `batch` independent products of [m k] and [k n]; `accumulate` adds into the output instead of overwriting it. */
export interface GemmWork extends Amounts {
  readonly kind: 'gemm';
  readonly m: number;
  readonly n: number;
  readonly k: number;
  readonly batch: number;
  readonly dtype: DType;
  readonly accumulate: boolean;
}

/** Blockwise causal attention; `flops` counts the causal half only. */
export interface AttentionWork extends Amounts {
  readonly kind: 'attention';
  readonly direction: 'forward' | 'backward';
  /** Queries. */
  readonly sequence: number;
  /** Keys, where they are not as many as the queries. */
  readonly keys?: number;
  /** Keys that a query meets on average, where a window cuts them; `farEdge`: the window moves with the query. */
  readonly seen?: { readonly keys: number; readonly farEdge: boolean };
  readonly batch: number;
  readonly heads: number;
  readonly kvHeads: number;
  readonly headSize: number;
  readonly dtype: DType;
}

/** Bound by memory: norms, activations, residuals, loss, optimizer. */
export interface MemoryWork extends Amounts {
  readonly kind: 'memory';
}

export type Work = GemmWork | AttentionWork | MemoryWork;
