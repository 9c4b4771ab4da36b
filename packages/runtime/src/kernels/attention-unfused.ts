/** @file Attention as it was before blockwise kernels: scores and probabilities [A, B, S, S] are written to memory.
 * `context.dx` writes the value part of dqkv and zeros elsewhere, `scores.dx` the query and key parts, so their sum is
 * the whole.
 */
import { addScaled, dot } from './attention.ts';
import { capped, capSlope, distanceSlope, firstSeen, type HeadCounts, headLayout, headOffsets } from './heads.ts';
import { dimAt, rowsOf, sizeAt, type Tensor } from './tensor.ts';

/** Scaled scores under the causal mask; what a query may not see is minus infinity. */
export function scores(qkv_SBP: Tensor, sc_ABSS: Tensor, counts: HeadCounts): void {
  const layout = headLayout(qkv_SBP, counts);
  const { S, B, A, D, P } = layout;
  const [x, sc] = [qkv_SBP.data, sc_ABSS.data];
  const scale = 1 / Math.sqrt(D);
  for (let a = 0; a < A; a++) {
    const at = headOffsets(layout, a);
    const fall = distanceSlope(dimAt(sc_ABSS, 0).origin + a, counts);
    for (let b = 0; b < B; b++) {
      for (let i = 0; i < S; i++) {
        const first = firstSeen(i, counts);
        for (let j = 0; j < S; j++) {
          const seen = j <= i && j >= first;
          const product = seen ? dot(x, (i * B + b) * P + at.q, x, (j * B + b) * P + at.k, D) : 0;
          sc[((a * B + b) * S + i) * S + j] = seen ? capped(scale * product, counts.cap) - fall * (i - j) : -Infinity;
        }
      }
    }
  }
}

/** Softmax of each row; `sinks` take part with a score for each head and are not written. */
export function softmax(sc_RS: Tensor, pr_RS: Tensor, sinks_A?: Tensor): void {
  const R = rowsOf(sc_RS);
  const S = sizeAt(sc_RS, -1);
  const [sc, pr] = [sc_RS.data, pr_RS.data];
  const perHead = sinks_A ? R / sizeAt(sinks_A, 0) : R;
  for (let r = 0; r < R; r++) {
    const sink = sinks_A ? sinks_A.data[Math.floor(r / perHead)]! : -Infinity;
    let top = sink;
    for (let j = 0; j < S; j++) top = Math.max(top, sc[r * S + j]!);
    let sum = Math.exp(sink - top);
    for (let j = 0; j < S; j++) sum += Math.exp(sc[r * S + j]! - top);
    for (let j = 0; j < S; j++) pr[r * S + j] = Math.exp(sc[r * S + j]! - top) / sum;
  }
}

export function softmaxDx(dpr_RS: Tensor, pr_RS: Tensor, dsc_RS: Tensor): void {
  const R = rowsOf(pr_RS);
  const S = sizeAt(pr_RS, -1);
  const [dpr, pr, dsc] = [dpr_RS.data, pr_RS.data, dsc_RS.data];
  for (let r = 0; r < R; r++) {
    const mean = dot(dpr, r * S, pr, r * S, S);
    for (let j = 0; j < S; j++) dsc[r * S + j] = pr[r * S + j]! * (dpr[r * S + j]! - mean);
  }
}

/** What is missing in a row's probabilities is the sink's. */
export function softmaxSinksDx(
  dpr_ABSS: Tensor,
  pr_ABSS: Tensor,
  writes: { dsc: Tensor; dsinks_A: Tensor | undefined },
): void {
  softmaxDx(dpr_ABSS, pr_ABSS, writes.dsc);
  if (!writes.dsinks_A) return;
  const R = rowsOf(pr_ABSS);
  const S = sizeAt(pr_ABSS, -1);
  const perHead = R / sizeAt(writes.dsinks_A, 0);
  const sum_A = new Float64Array(sizeAt(writes.dsinks_A, 0));
  for (let r = 0; r < R; r++) {
    const mean = dot(dpr_ABSS.data, r * S, pr_ABSS.data, r * S, S);
    let rest = 1;
    for (let j = 0; j < S; j++) rest -= pr_ABSS.data[r * S + j]!;
    sum_A[Math.floor(r / perHead)]! -= rest * mean;
  }
  writes.dsinks_A.data.set(sum_A);
}

/** o = probabilities x values. */
export function context(pr_ABSS: Tensor, qkv_SBP: Tensor, o_SBAD: Tensor, counts: HeadCounts): void {
  const layout = headLayout(qkv_SBP, counts);
  const { S, B, A, D, P } = layout;
  const [pr, x, o] = [pr_ABSS.data, qkv_SBP.data, o_SBAD.data];
  const row_D = new Float64Array(D);
  for (let a = 0; a < A; a++) {
    const at = headOffsets(layout, a);
    for (let b = 0; b < B; b++) {
      for (let i = 0; i < S; i++) {
        row_D.fill(0);
        for (let j = 0; j <= i; j++) {
          addScaled(row_D, 0, x, (j * B + b) * P + at.v, D, pr[((a * B + b) * S + i) * S + j]!);
        }
        o.set(row_D, ((i * B + b) * A + a) * D);
      }
    }
  }
}

export function contextDx(
  reads: { do_SBAD: Tensor; pr_ABSS: Tensor; qkv_SBP: Tensor },
  writes: { dpr_ABSS: Tensor; dqkv_SBP: Tensor },
  counts: HeadCounts,
): void {
  const layout = headLayout(reads.qkv_SBP, counts);
  const { S, B, A, D, P } = layout;
  const [dO, pr, x] = [reads.do_SBAD.data, reads.pr_ABSS.data, reads.qkv_SBP.data];
  const dpr = writes.dpr_ABSS.data;
  const sum_SBP = new Float64Array(S * B * P);
  for (let a = 0; a < A; a++) {
    const at = headOffsets(layout, a);
    for (let b = 0; b < B; b++) {
      for (let i = 0; i < S; i++) {
        const row = ((i * B + b) * A + a) * D;
        for (let j = 0; j < S; j++) {
          const value = (j * B + b) * P + at.v;
          const place = ((a * B + b) * S + i) * S + j;
          dpr[place] = j <= i ? dot(dO, row, x, value, D) : 0;
          if (j <= i) addScaled(sum_SBP, value, dO, row, D, pr[place]!);
        }
      }
    }
  }
  writes.dqkv_SBP.data.set(sum_SBP);
}

export function scoresDx(dsc_ABSS: Tensor, qkv_SBP: Tensor, dqkv_SBP: Tensor, counts: HeadCounts): void {
  const { cap } = counts;
  const layout = headLayout(qkv_SBP, counts);
  const { S, B, A, D, P } = layout;
  const [dsc, x] = [dsc_ABSS.data, qkv_SBP.data];
  const scale = 1 / Math.sqrt(D);
  const sum_SBP = new Float64Array(S * B * P);
  for (let a = 0; a < A; a++) {
    const at = headOffsets(layout, a);
    for (let b = 0; b < B; b++) {
      for (let i = 0; i < S; i++) {
        const query = (i * B + b) * P + at.q;
        for (let j = 0; j <= i; j++) {
          const key = (j * B + b) * P + at.k;
          const score = cap === undefined ? 0 : capped(scale * dot(x, query, x, key, D), cap);
          const slope = scale * capSlope(score, cap) * dsc[((a * B + b) * S + i) * S + j]!;
          addScaled(sum_SBP, query, x, key, D, slope);
          addScaled(sum_SBP, key, x, query, D, slope);
        }
      }
    }
  }
  dqkv_SBP.data.set(sum_SBP);
}
