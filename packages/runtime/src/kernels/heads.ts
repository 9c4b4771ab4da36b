/** @file How heads lie in the fused query-key-value of one rank. */
import { sizeAt, type Tensor } from './tensor.ts';

/** Global numbers of heads, as the program's attributes state them. */
export interface HeadCounts {
  readonly heads: number;
  readonly kvHeads: number;
  readonly headSize: number;
  /** Tokens that a token looks back, itself among them; absent: all before it. */
  readonly window?: number;
  /** No further than to the beginning of its own `window` tokens. */
  readonly chunked?: boolean;
  /** Scores fall with the distance, head by head. */
  readonly alibi?: boolean;
  /** Scores are capped: c tanh(x / c). */
  readonly cap?: number;
}

/** Local numbers: the three parts of the fused dim are cut alike, so the local width tells the local heads. */
export interface HeadLayout {
  readonly S: number;
  readonly B: number;
  /** Query heads of the rank. */
  readonly A: number;
  /** Query heads that share one key and value head. */
  readonly share: number;
  readonly kvHeads: number;
  readonly D: number;
  /** Width of the fused dim. */
  readonly P: number;
  /** Where keys and values begin in the fused dim. */
  readonly keys: number;
  readonly values: number;
}

export function headLayout(qkv_SBP: Tensor, counts: HeadCounts): HeadLayout {
  const { heads, kvHeads, headSize } = counts;
  const P = sizeAt(qkv_SBP, 2);
  const share = heads / kvHeads;
  const local = P / headSize / (share + 2);
  return {
    S: sizeAt(qkv_SBP, 0),
    B: sizeAt(qkv_SBP, 1),
    A: local * share,
    share,
    kvHeads: local,
    D: headSize,
    P,
    keys: local * share * headSize,
    values: local * (share + 1) * headSize,
  };
}

/** Offsets of one query head and its key and value heads inside the fused dim. */
export const headOffsets = (layout: HeadLayout, head: number): { q: number; k: number; v: number } => {
  const shared = Math.floor(head / layout.share) * layout.D;
  return { q: head * layout.D, k: layout.keys + shared, v: layout.values + shared };
};

/** The first key that query `i` sees. */
export function firstSeen(i: number, { window, chunked }: Pick<HeadCounts, 'window' | 'chunked'>): number {
  if (window === undefined) return 0;
  return chunked ? Math.floor(i / window) * window : Math.max(0, i - window + 1);
}

/** What a score loses for each token of distance, by the global number of the head; 0 without linear biases.
 *
 * Source: [press2022], section 3: 2^(-8 i/n) for n heads, n a power of two; the other heads take every second slope of
 * twice as many.
 */
export function distanceSlope(head: number, { heads, alibi }: Pick<HeadCounts, 'heads' | 'alibi'>): number {
  if (!alibi) return 0;
  const power = 2 ** Math.floor(Math.log2(heads));
  if (head < power) return 2 ** ((-8 * (head + 1)) / power);
  return 2 ** ((-4 * (2 * (head - power) + 1)) / power);
}

/** A score under its cap. */
export const capped = (score: number, cap: number | undefined): number =>
  cap === undefined ? score : cap * Math.tanh(score / cap);

/** What a capped score changes with the score, from the capped one. */
export const capSlope = (score: number, cap: number | undefined): number =>
  cap === undefined ? 1 : 1 - (score / cap) ** 2;
