/** @file Norms of queries and keys, in place in the fused query-key-value: RMS norms of each head or over all heads, or a
 * layer norm for each head.
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

/** Layer norms of the heads, each with a row of weights of its own; mean and reciprocal deviation of head n stand at
 * places 2 n and 2 n + 1 of `st`.
 */
export function queryKeyNormHeads(
  reads: { qkv_SBP: Tensor; qn_AD: Tensor; kn_AD: Tensor },
  writes: { out_SBP: Tensor; raw_SBQ: Tensor; st_N2SB: Tensor },
  groups: readonly Group[],
  epsilon: number,
): void {
  const [R, P] = [sizeAt(reads.qkv_SBP, 0) * sizeAt(reads.qkv_SBP, 1), sizeAt(reads.qkv_SBP, 2)];
  const [x, out, raw, st] = [reads.qkv_SBP.data, writes.out_SBP.data, writes.raw_SBQ.data, writes.st_N2SB.data];
  const Q = sizeAt(writes.raw_SBQ, -1);
  if (x !== out) out.set(x);
  for (let r = 0; r < R; r++) {
    for (const [place, { at, size, query }] of groups.entries()) {
      const gain = (query ? reads.qn_AD : reads.kn_AD).data;
      const first = gainOffset(groups, place);
      let sum = 0;
      for (let d = 0; d < size; d++) {
        raw[r * Q + at + d] = x[r * P + at + d]!;
        sum += x[r * P + at + d]!;
      }
      const mean = sum / size;
      let squares = 0;
      for (let d = 0; d < size; d++) squares += (raw[r * Q + at + d]! - mean) ** 2;
      const scale = 1 / Math.sqrt(squares / size + epsilon);
      st[2 * place * R + r] = mean;
      st[(2 * place + 1) * R + r] = scale;
      for (let d = 0; d < size; d++) out[r * P + at + d] = (raw[r * Q + at + d]! - mean) * scale * gain[first + d]!;
    }
  }
}

/** Where the weights of a head begin among those of the queries or the keys. */
const gainOffset = (groups: readonly Group[], place: number): number => {
  const { size, query } = groups[place]!;
  const queries = groups.filter((group) => group.query).length;
  return (query ? place : place - queries) * size;
};

export function queryKeyNormHeadsDx(
  reads: { dqkv_SBP: Tensor; raw_SBQ: Tensor; st_N2SB: Tensor; qn_AD: Tensor; kn_AD: Tensor },
  writes: { out_SBP: Tensor; dqn_AD: Tensor | undefined; dkn_AD: Tensor | undefined },
  groups: readonly Group[],
): void {
  const [R, P] = [sizeAt(reads.dqkv_SBP, 0) * sizeAt(reads.dqkv_SBP, 1), sizeAt(reads.dqkv_SBP, 2)];
  const [dy, raw, st, out] = [reads.dqkv_SBP.data, reads.raw_SBQ.data, reads.st_N2SB.data, writes.out_SBP.data];
  const Q = sizeAt(reads.raw_SBQ, -1);
  const sums = [new Float64Array(reads.qn_AD.data.length), new Float64Array(reads.kn_AD.data.length)] as const;
  if (dy !== out) out.set(dy);
  for (let r = 0; r < R; r++) {
    for (const [place, { at, size, query }] of groups.entries()) {
      const gain = (query ? reads.qn_AD : reads.kn_AD).data;
      const sum = query ? sums[0] : sums[1];
      const first = gainOffset(groups, place);
      const [mean, scale] = [st[2 * place * R + r]!, st[(2 * place + 1) * R + r]!];
      const normal = (d: number): number => (raw[r * Q + at + d]! - mean) * scale;
      let gradients = 0;
      let products = 0;
      for (let d = 0; d < size; d++) {
        const slope = dy[r * P + at + d]!;
        sum[first + d]! += slope * normal(d);
        gradients += slope * gain[first + d]!;
        products += slope * gain[first + d]! * normal(d);
      }
      for (let d = 0; d < size; d++) {
        const slope = dy[r * P + at + d]! * gain[first + d]!;
        out[r * P + at + d] = scale * (slope - gradients / size - (normal(d) * products) / size);
      }
    }
  }
  writes.dqn_AD?.data.set(sums[0]);
  writes.dkn_AD?.data.set(sums[1]);
}

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
  writes: { out_SBP: Tensor; dqn_D: Tensor | undefined; dkn_D: Tensor | undefined },
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
  writes.dqn_D?.data.set(sums[0]);
  writes.dkn_D?.data.set(sums[1]);
}
