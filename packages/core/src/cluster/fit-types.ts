/** @file Shapes of the constants that bench/fit.mjs writes. */

/** Collectives with measured curves. */
export type CurveKind = 'all-reduce' | 'all-gather' | 'reduce-scatter' | 'all-to-all';

/** Time of a collective inside a link domain: alpha + bytes * perByte + sqrt(bytes) * perRootByte, bytes of the full buffer. */
export interface CollectiveCurve {
  readonly kind: CurveKind;
  readonly ranks: number;
  /** Seconds. */
  readonly alpha: number;
  readonly perByte: number;
  readonly perRootByte: number;
}

/** Time of a product: t0 + max(waves * tile time, bytes / bandwidth), tile time 2 tm tn (k + k0) / (peak e f / SMs). */
export interface GemmFit {
  /** e: share of peak that one long tile reaches. */
  readonly efficiency: number;
  /** k0: extra depth that fills and drains a tile. */
  readonly fillK: number;
  /** t0, seconds. */
  readonly start: number;
  /** f of the tiles 256x128 and 128x256, 128x128, 128x64. */
  readonly tileFactors: readonly [number, number, number];
  /** Bytes per element of the left operand that casting costs, in units of 3 m k; 0 for types without a cast. */
  readonly quantise: number;
}
