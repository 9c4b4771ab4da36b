/** @file Causal attention with grouped queries, row by row: scores of one query live at a time, never S x S. Backward
 * makes the probabilities again from `lse`, the logarithm of each row's sum of exponentials.
 */
import { capped, capSlope, distanceSlope, firstSeen, type HeadCounts, headLayout, headOffsets } from './heads.ts';
import { dimAt, type Tensor } from './tensor.ts';

/** `sinks`: a score of each head that takes part in the softmax and gives nothing. */
export function attention(
  qkv_SBP: Tensor,
  sinks_A: Tensor | undefined,
  writes: { o_SBAD: Tensor; lse_ASB: Tensor },
  counts: HeadCounts,
): void {
  const layout = headLayout(qkv_SBP, counts);
  const { S, B, A, D, P } = layout;
  const [x, o, lse] = [qkv_SBP.data, writes.o_SBAD.data, writes.lse_ASB.data];
  const scale = 1 / Math.sqrt(D);
  const { origin } = dimAt(writes.lse_ASB, 0);
  const weight_S = new Float64Array(S);
  const row_D = new Float64Array(D);
  for (let a = 0; a < A; a++) {
    const at = headOffsets(layout, a);
    const fall = distanceSlope(origin + a, counts);
    for (let b = 0; b < B; b++) {
      for (let i = 0; i < S; i++) {
        const first = firstSeen(i, counts);
        let top = sinks_A ? sinks_A.data[a]! : -Infinity;
        for (let j = first; j <= i; j++) {
          const product = scale * dot(x, (i * B + b) * P + at.q, x, (j * B + b) * P + at.k, D);
          const score = capped(product, counts.cap) - fall * (i - j);
          weight_S[j] = score;
          if (score > top) top = score;
        }
        let sum = sinks_A ? Math.exp(sinks_A.data[a]! - top) : 0;
        row_D.fill(0);
        for (let j = first; j <= i; j++) {
          const power = Math.exp(weight_S[j]! - top);
          sum += power;
          addScaled(row_D, 0, x, (j * B + b) * P + at.v, D, power);
        }
        for (let d = 0; d < D; d++) o[((i * B + b) * A + a) * D + d] = row_D[d]! / sum;
        lse[(a * S + i) * B + b] = top + Math.log(sum);
      }
    }
  }
}

export function attentionDx(
  reads: { do_SBAD: Tensor; qkv_SBP: Tensor; o_SBAD: Tensor; lse_ASB: Tensor; sinks_A: Tensor | undefined },
  writes: { dqkv_SBP: Tensor; dsinks_A: Tensor | undefined },
  counts: HeadCounts,
): void {
  const layout = headLayout(reads.qkv_SBP, counts);
  const { S, B, A, D, P } = layout;
  const [dO, x, o, lse] = [reads.do_SBAD.data, reads.qkv_SBP.data, reads.o_SBAD.data, reads.lse_ASB.data];
  const scale = 1 / Math.sqrt(D);
  const { origin } = dimAt(reads.lse_ASB, 0);
  const sum_SBP = new Float64Array(S * B * P);
  const sinks_A = new Float64Array(A);
  for (let a = 0; a < A; a++) {
    const at = headOffsets(layout, a);
    const fall = distanceSlope(origin + a, counts);
    for (let b = 0; b < B; b++) {
      for (let i = 0; i < S; i++) {
        const row = ((i * B + b) * A + a) * D;
        const query = (i * B + b) * P;
        const mean = dot(dO, row, o, row, D);
        const norm = lse[(a * S + i) * B + b]!;
        if (reads.sinks_A) sinks_A[a]! -= Math.exp(reads.sinks_A.data[a]! - norm) * mean;
        for (let j = firstSeen(i, counts); j <= i; j++) {
          const key = (j * B + b) * P;
          const score = capped(scale * dot(x, query + at.q, x, key + at.k, D), counts.cap);
          const probability = Math.exp(score - fall * (i - j) - norm);
          const slope = scale * capSlope(score, counts.cap) * probability * (dot(dO, row, x, key + at.v, D) - mean);
          addScaled(sum_SBP, key + at.v, dO, row, D, probability);
          addScaled(sum_SBP, query + at.q, x, key + at.k, D, slope);
          addScaled(sum_SBP, key + at.k, x, query + at.q, D, slope);
        }
      }
    }
  }
  writes.dqkv_SBP.data.set(sum_SBP);
  writes.dsinks_A?.data.set(sinks_A);
}

/** Inner product of `length` elements from two places. */
export function dot(x: Tensor['data'], from: number, y: Tensor['data'], fromY: number, length: number): number {
  let sum = 0;
  for (let index = 0; index < length; index++) sum += x[from + index]! * y[fromY + index]!;
  return sum;
}

/** sum[to ..] += scale * x[from ..]. */
export function addScaled(
  sum: Float64Array,
  to: number,
  x: Tensor['data'],
  from: number,
  length: number,
  scale: number,
): void {
  for (let index = 0; index < length; index++) sum[to + index]! += scale * x[from + index]!;
}
