/** @file RMS norms of queries and keys, in place in the fused query-key-value: one for each head, or one over all heads.
 * `raw` keeps queries and keys as they were; `st` the reciprocal root of the mean square of each group. Values pass
 * untouched.
 */
import { type HeadCounts, headLayout } from './heads.ts';
import { sizeAt, type Tensor } from './tensor.ts';

/** Values that are normalised together: where they begin in a row, how many, and whether they are of queries. */
interface Group {
  readonly at: number;
  readonly size: number;
  readonly query: boolean;
}

/** A group for each head of the rank. */
export function headGroups(qkv_SBP: Tensor, counts: HeadCounts): readonly Group[] {
  const { A, kvHeads, D } = headLayout(qkv_SBP, counts);
  return Array.from({ length: A + kvHeads }, (_, head) => ({ at: head * D, size: D, query: head < A }));
}

/** One group of queries and one of keys. */
export const wholeGroups = (qn: Tensor, kn: Tensor): readonly Group[] => [
  { at: 0, size: sizeAt(qn, 0), query: true },
  { at: sizeAt(qn, 0), size: sizeAt(kn, 0), query: false },
];

export function queryKeyNorm(
  reads: { qkv_SBP: Tensor; qn_D: Tensor; kn_D: Tensor },
  writes: { out_SBP: Tensor; raw_SBQ: Tensor; st_NSB: Tensor },
  groups: readonly Group[],
  epsilon: number,
): void {
  const [R, P] = [sizeAt(reads.qkv_SBP, 0) * sizeAt(reads.qkv_SBP, 1), sizeAt(reads.qkv_SBP, 2)];
  const [x, out] = [reads.qkv_SBP.data, writes.out_SBP.data];
  const [raw, st] = [writes.raw_SBQ.data, writes.st_NSB.data];
  const Q = sizeAt(writes.raw_SBQ, -1);
  if (x !== out) out.set(x);
  for (let r = 0; r < R; r++) {
    for (const [place, { at, size, query }] of groups.entries()) {
      const gain = (query ? reads.qn_D : reads.kn_D).data;
      const [from, kept] = [r * P + at, r * Q + at];
      let squares = 0;
      for (let d = 0; d < size; d++) {
        const value = x[from + d]!;
        raw[kept + d] = value;
        squares += value ** 2;
      }
      const scale = 1 / Math.sqrt(squares / size + epsilon);
      st[place * R + r] = scale;
      for (let d = 0; d < size; d++) out[from + d] = raw[kept + d]! * scale * gain[d]!;
    }
  }
}

export function queryKeyNormDx(
  reads: { dqkv_SBP: Tensor; raw_SBQ: Tensor; st_NSB: Tensor; qn_D: Tensor; kn_D: Tensor },
  writes: { out_SBP: Tensor; dqn_D: Tensor; dkn_D: Tensor },
  groups: readonly Group[],
): void {
  const [R, P] = [sizeAt(reads.dqkv_SBP, 0) * sizeAt(reads.dqkv_SBP, 1), sizeAt(reads.dqkv_SBP, 2)];
  const [dy, raw, st, out] = [reads.dqkv_SBP.data, reads.raw_SBQ.data, reads.st_NSB.data, writes.out_SBP.data];
  const Q = sizeAt(reads.raw_SBQ, -1);
  const sums = [new Float64Array(sizeAt(reads.qn_D, 0)), new Float64Array(sizeAt(reads.kn_D, 0))] as const;
  if (dy !== out) out.set(dy);
  for (let r = 0; r < R; r++) {
    for (const [place, { at, size, query }] of groups.entries()) {
      const gain = (query ? reads.qn_D : reads.kn_D).data;
      const sum = query ? sums[0] : sums[1];
      const [from, kept] = [r * P + at, r * Q + at];
      const scale = st[place * R + r]!;
      let products = 0;
      for (let d = 0; d < size; d++) {
        const normal = raw[kept + d]! * scale;
        sum[d]! += dy[from + d]! * normal;
        products += dy[from + d]! * gain[d]! * normal;
      }
      for (let d = 0; d < size; d++) {
        const normal = raw[kept + d]! * scale;
        out[from + d] = scale * (dy[from + d]! * gain[d]! - (normal * products) / size);
      }
    }
  }
  writes.dqn_D.data.set(sums[0]);
  writes.dkn_D.data.set(sums[1]);
}
