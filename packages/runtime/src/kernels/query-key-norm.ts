/** @file RMS norms of queries and keys, head by head, in place in the fused query-key-value. `raw` keeps queries and keys
 * as they were; `st` the reciprocal root of the mean square of each head. Values pass untouched.
 */
import { type HeadCounts, headLayout } from './heads.ts';
import { sizeAt, type Tensor } from './tensor.ts';

export function queryKeyNorm(
  reads: { qkv_SBP: Tensor; qn_D: Tensor; kn_D: Tensor },
  writes: { out_SBP: Tensor; raw_SBQ: Tensor; st_NSB: Tensor },
  counts: HeadCounts,
  epsilon: number,
): void {
  const { S, B, A, kvHeads, D, P } = headLayout(reads.qkv_SBP, counts);
  const [x, out] = [reads.qkv_SBP.data, writes.out_SBP.data];
  const [raw, st] = [writes.raw_SBQ.data, writes.st_NSB.data];
  const Q = sizeAt(writes.raw_SBQ, -1);
  if (x !== out) out.set(x);
  for (let r = 0; r < S * B; r++) {
    for (let head = 0; head < A + kvHeads; head++) {
      const gain = (head < A ? reads.qn_D : reads.kn_D).data;
      const [at, kept] = [r * P + head * D, r * Q + head * D];
      let squares = 0;
      for (let d = 0; d < D; d++) {
        const value = x[at + d]!;
        raw[kept + d] = value;
        squares += value ** 2;
      }
      const scale = 1 / Math.sqrt(squares / D + epsilon);
      st[head * S * B + r] = scale;
      for (let d = 0; d < D; d++) out[at + d] = raw[kept + d]! * scale * gain[d]!;
    }
  }
}

export function queryKeyNormDx(
  reads: { dqkv_SBP: Tensor; raw_SBQ: Tensor; st_NSB: Tensor; qn_D: Tensor; kn_D: Tensor },
  writes: { out_SBP: Tensor; dqn_D: Tensor; dkn_D: Tensor },
  counts: HeadCounts,
): void {
  const { S, B, A, kvHeads, D, P } = headLayout(reads.dqkv_SBP, counts);
  const [dy, raw, st, out] = [reads.dqkv_SBP.data, reads.raw_SBQ.data, reads.st_NSB.data, writes.out_SBP.data];
  const Q = sizeAt(reads.raw_SBQ, -1);
  const sums = [new Float64Array(D), new Float64Array(D)] as const;
  if (dy !== out) out.set(dy);
  for (let r = 0; r < S * B; r++) {
    for (let head = 0; head < A + kvHeads; head++) {
      const gain = (head < A ? reads.qn_D : reads.kn_D).data;
      const sum = head < A ? sums[0] : sums[1];
      const [at, kept] = [r * P + head * D, r * Q + head * D];
      const scale = st[head * S * B + r]!;
      let products = 0;
      for (let d = 0; d < D; d++) {
        const normal = raw[kept + d]! * scale;
        sum[d]! += dy[at + d]! * normal;
        products += dy[at + d]! * gain[d]! * normal;
      }
      for (let d = 0; d < D; d++) {
        const normal = raw[kept + d]! * scale;
        out[at + d] = scale * (dy[at + d]! * gain[d]! - (normal * products) / D);
      }
    }
  }
  writes.dqn_D.data.set(sums[0]);
  writes.dkn_D.data.set(sums[1]);
}
