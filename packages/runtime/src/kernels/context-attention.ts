/** @file Attention of the queries of one rank with keys and values of another, or of all: blocks that are merged by their
 * statistics. Positions are global, so the causal mask and the window are the same as on one rank.
 *
 * Keys of hop h come from the rank h places before on the circle. K is the width of keys and values, fused.
 */
import { addScaled, dot } from './attention.ts';
import { capped, capSlope, type HeadCounts, headLayout } from './heads.ts';
import { dimAt, globalPlacesOf, sizeAt, type Tensor, zigzagPlaces } from './tensor.ts';

/** Keys and values out of the fused dim. */
export function takeKeys(qkv_SBP: Tensor, kv_SBK: Tensor): void {
  const [P, K] = [sizeAt(qkv_SBP, -1), sizeAt(kv_SBK, -1)];
  const rows = kv_SBK.data.length / K;
  for (let row = 0; row < rows; row++) {
    kv_SBK.data.set(qkv_SBP.data.subarray(row * P + P - K, (row + 1) * P), row * K);
  }
}

/** Gradients of queries, and of keys and values, as one. */
export function joinGradients(dq_SBQ: Tensor, dkv_SBK: Tensor, dqkv_SBP: Tensor): void {
  const [Q, K] = [sizeAt(dq_SBQ, -1), sizeAt(dkv_SBK, -1)];
  const P = Q + K;
  const rows = dqkv_SBP.data.length / P;
  for (let row = 0; row < rows; row++) {
    dqkv_SBP.data.set(dq_SBQ.data.subarray(row * Q, (row + 1) * Q), row * P);
    dqkv_SBP.data.set(dkv_SBK.data.subarray(row * K, (row + 1) * K), row * P + Q);
  }
}

/** One block: how its heads lie, and which keys each query sees. */
export interface Block {
  readonly B: number;
  readonly A: number;
  readonly D: number;
  readonly P: number;
  readonly K: number;
  readonly queries: ArrayLike<number>;
  readonly keys: ArrayLike<number>;
  /** First value of the keys of a query head in a row of `kv`; its values stand `values` further. */
  readonly keyAt: (head: number) => number;
  readonly values: number;
  readonly window: number;
  readonly scale: number;
}

export function blockOf(qkv_SBP: Tensor, kv_UBK: Tensor, counts: HeadCounts, hop: number | undefined): Block {
  const { B, A, D, P, share, kvHeads } = headLayout(qkv_SBP, counts);
  const keys = dimAt(kv_UBK, 0);
  const from = keys.zigzag && hop !== undefined ? (keys.zigzag.rank - hop + keys.zigzag.ranks) % keys.zigzag.ranks : 0;
  return {
    B,
    A,
    D,
    P,
    K: sizeAt(kv_UBK, -1),
    queries: globalPlacesOf(dimAt(qkv_SBP, 0)),
    keys: keys.zigzag ? zigzagPlaces(keys.globalSize, keys.zigzag.ranks, from) : globalPlacesOf(keys),
    keyAt: (head) => Math.floor(head / share) * D,
    values: kvHeads * D,
    window: counts.window ?? Number.POSITIVE_INFINITY,
    scale: 1 / Math.sqrt(D),
  };
}

const sees = ({ queries, keys, window }: Block, i: number, j: number): boolean => {
  const distance = queries[i]! - keys[j]!;
  return distance >= 0 && distance < window;
};

/** What earlier blocks have left. */
export interface Merged {
  readonly o_SBAD: Tensor | undefined;
  readonly lse_ASB: Tensor | undefined;
}

export function attentionBlock(
  qkv_SBP: Tensor,
  kv_UBK: Tensor,
  before: Merged,
  after: { readonly o_SBAD: Tensor; readonly lse_ASB: Tensor },
  counts: HeadCounts,
  hop: number | undefined,
): void {
  const block = blockOf(qkv_SBP, kv_UBK, counts, hop);
  const { B, A, D, P, K, queries, keys, scale } = block;
  const [x, kv] = [qkv_SBP.data, kv_UBK.data];
  const row_D = new Float64Array(D);
  const weight_U = new Float64Array(keys.length);
  for (let a = 0; a < A; a++) {
    const key = block.keyAt(a);
    for (let b = 0; b < B; b++) {
      for (let i = 0; i < queries.length; i++) {
        let top = Number.NEGATIVE_INFINITY;
        for (let j = 0; j < keys.length; j++) {
          if (!sees(block, i, j)) continue;
          const score = capped(scale * dot(x, (i * B + b) * P + a * D, kv, (j * B + b) * K + key, D), counts.cap);
          weight_U[j] = score;
          if (score > top) top = score;
        }
        const stat = (a * queries.length + i) * B + b;
        const old = before.lse_ASB ? before.lse_ASB.data[stat]! : Number.NEGATIVE_INFINITY;
        const high = Math.max(top, old);
        let sum = Math.exp(old - high);
        const row = ((i * B + b) * A + a) * D;
        for (let d = 0; d < D; d++) row_D[d] = sum > 0 ? sum * before.o_SBAD!.data[row + d]! : 0;
        for (let j = 0; j < keys.length; j++) {
          if (!sees(block, i, j)) continue;
          const power = Math.exp(weight_U[j]! - high);
          sum += power;
          addScaled(row_D, 0, kv, (j * B + b) * K + key + block.values, D, power);
        }
        for (let d = 0; d < D; d++) after.o_SBAD.data[row + d] = row_D[d]! / sum;
        after.lse_ASB.data[stat] = high + Math.log(sum);
      }
    }
  }
}

/** What backward reads of a block. */
export interface BlockReads {
  readonly do_SBAD: Tensor;
  readonly qkv_SBP: Tensor;
  readonly kv_UBK: Tensor;
  readonly o_SBAD: Tensor;
  readonly lse_ASB: Tensor;
}

export function attentionBlockDx(
  reads: BlockReads,
  writes: { readonly dq_SBQ: Tensor; readonly dkv_UBK: Tensor },
  counts: HeadCounts,
  hop: number | undefined,
): void {
  const block = blockOf(reads.qkv_SBP, reads.kv_UBK, counts, hop);
  const { B, A, D, P, K, queries, keys, scale, values } = block;
  const [dO, x, kv, o, lse] = [
    reads.do_SBAD.data,
    reads.qkv_SBP.data,
    reads.kv_UBK.data,
    reads.o_SBAD.data,
    reads.lse_ASB.data,
  ];
  const dq = new Float64Array(writes.dq_SBQ.data.length);
  const dkv = new Float64Array(writes.dkv_UBK.data.length);
  for (let a = 0; a < A; a++) {
    const key = block.keyAt(a);
    for (let b = 0; b < B; b++) {
      for (let i = 0; i < queries.length; i++) {
        const row = ((i * B + b) * A + a) * D;
        const query = (i * B + b) * P + a * D;
        const mean = dot(dO, row, o, row, D);
        for (let j = 0; j < keys.length; j++) {
          if (!sees(block, i, j)) continue;
          const at = (j * B + b) * K + key;
          const score = capped(scale * dot(x, query, kv, at, D), counts.cap);
          const probability = Math.exp(score - lse[(a * queries.length + i) * B + b]!);
          const slope = scale * capSlope(score, counts.cap) * probability * (dot(dO, row, kv, at + values, D) - mean);
          addScaled(dkv, at + values, dO, row, D, probability);
          addScaled(dq, row, kv, at, D, slope);
          addScaled(dkv, at, x, query, D, slope);
        }
      }
    }
  }
  writes.dq_SBQ.data.set(dq);
  writes.dkv_UBK.data.set(dkv);
}
