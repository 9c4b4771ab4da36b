/** @file Routed rows: copies of tokens in the order of their experts, and within an expert in the order of their tokens.
 * Where rows of several ranks lie together, those of one expert follow each other rank by rank. Tables `rc` count rows by
 * rank and expert. A rank's rows are as many as its data says: M below, the elements of a buffer over its width.
 */
import { dimAt, rowsOf, sizeAt, type Tensor } from './tensor.ts';

/** Counts a token's copies by expert: ri [R, T] -> rc [1, E]. */
export function countRows(ri_RT: Tensor, rc_PE: Tensor): void {
  rc_PE.data.fill(0);
  for (const expert of ri_RT.data) rc_PE.data[expert]! += 1;
}

/** Experts of all ranks, which stand in the dim before the rows. */
export const expertsOf = (rows: Tensor): number => dimAt(rows, 0).globalSize;

/** Where each copy stands among the rows: one entry for each element of `ri`. */
export function placesOf(ri_RT: Tensor, experts: number): Int32Array {
  const next = new Int32Array(experts + 1);
  for (const expert of ri_RT.data) next[expert + 1]! += 1;
  for (let expert = 0; expert < experts; expert++) next[expert + 1]! += next[expert]!;
  return Int32Array.from(ri_RT.data, (expert) => {
    const place = next[expert]!;
    next[expert] = place + 1;
    return place;
  });
}

/** One row for each copy of a token. */
export function permute(x_RH: Tensor, ri_RT: Tensor, xs_EMH: Tensor): void {
  const H = sizeAt(x_RH, -1);
  const T = sizeAt(ri_RT, -1);
  placesOf(ri_RT, expertsOf(xs_EMH)).forEach((place, copy) => {
    const row = Math.floor(copy / T) * H;
    xs_EMH.data.set(x_RH.data.subarray(row, row + H), place * H);
  });
}

/** The gradient of a token: the sum over its copies, in their order. */
export function permuteDx(dxs_EMH: Tensor, ri_RT: Tensor, dx_RH: Tensor): void {
  const R = rowsOf(dx_RH);
  const H = sizeAt(dx_RH, -1);
  const T = sizeAt(ri_RT, -1);
  const [dxs, dx] = [dxs_EMH.data, dx_RH.data];
  const places = placesOf(ri_RT, expertsOf(dxs_EMH));
  for (let r = 0; r < R; r++) {
    for (let h = 0; h < H; h++) {
      let sum = 0;
      for (let t = 0; t < T; t++) sum += dxs[places[r * T + t]! * H + h]!;
      dx[r * H + h] = sum;
    }
  }
}

/** c = factor times the sum over a token's experts of weight times output; without weights each is 1. */
export function unpermute(
  reads: { ce_EMH: Tensor; rw_RT: Tensor | undefined; ri_RT: Tensor },
  c_RH: Tensor,
  factor = 1,
): void {
  const R = rowsOf(c_RH);
  const H = sizeAt(c_RH, -1);
  const T = sizeAt(reads.ri_RT, -1);
  const [ce, rw, c] = [reads.ce_EMH.data, reads.rw_RT?.data, c_RH.data];
  const places = placesOf(reads.ri_RT, expertsOf(reads.ce_EMH));
  for (let r = 0; r < R; r++) {
    for (let h = 0; h < H; h++) {
      let sum = 0;
      for (let t = 0; t < T; t++) sum += (rw ? rw[r * T + t]! : 1) * ce[places[r * T + t]! * H + h]!;
      c[r * H + h] = factor * sum;
    }
  }
}

export function unpermuteDx(
  reads: { dy_RH: Tensor; ce_EMH: Tensor | undefined; rw_RT: Tensor | undefined; ri_RT: Tensor },
  writes: { dce_EMH: Tensor; drw_RT: Tensor | undefined },
  factor = 1,
): void {
  const R = rowsOf(reads.dy_RH);
  const H = sizeAt(reads.dy_RH, -1);
  const T = sizeAt(reads.ri_RT, -1);
  const [dy, ce, rw] = [reads.dy_RH.data, reads.ce_EMH?.data, reads.rw_RT?.data];
  const [dce, drw] = [writes.dce_EMH.data, writes.drw_RT?.data];
  const places = placesOf(reads.ri_RT, expertsOf(writes.dce_EMH));
  for (let r = 0; r < R; r++) {
    for (let t = 0; t < T; t++) {
      const row = places[r * T + t]! * H;
      const weight = factor * (rw ? rw[r * T + t]! : 1);
      let product = 0;
      for (let h = 0; h < H; h++) {
        if (ce) product += dy[r * H + h]! * ce[row + h]!;
        dce[row + h] = weight * dy[r * H + h]!;
      }
      if (drw) drw[r * T + t] = factor * product;
    }
  }
}

/** First row of each of this rank's experts, and the end: from the counts of all ranks whose rows lie here. The experts
 * are those of a weight's or a bias's first dim.
 */
export function startsOf(w_EN: Tensor, rc_PE: Tensor): Int32Array {
  const { size, origin } = dimAt(w_EN, 0);
  const [P, E] = [rowsOf(rc_PE), sizeAt(rc_PE, -1)];
  const starts = new Int32Array(size + 1);
  for (let expert = 0; expert < size; expert++) {
    let rows = 0;
    for (let p = 0; p < P; p++) rows += rc_PE.data[p * E + origin + expert]!;
    starts[expert + 1] = starts[expert]! + rows;
  }
  return starts;
}

/** x + factor b[expert], expert by expert, in place or out of place. */
export function rowBias(x_EMN: Tensor, b_EN: Tensor, rc_PE: Tensor, out_EMN: Tensor, factor = 1): void {
  const [E, N] = [sizeAt(b_EN, 0), sizeAt(b_EN, 1)];
  const starts = startsOf(b_EN, rc_PE);
  for (let e = 0; e < E; e++) {
    for (let at = starts[e]! * N; at < starts[e + 1]! * N; at++) {
      out_EMN.data[at] = x_EMN.data[at]! + factor * b_EN.data[e * N + (at % N)]!;
    }
  }
}

/** db[expert] = sum of dy over the expert's rows. */
export function rowBiasDw(dy_EMN: Tensor, rc_PE: Tensor, db_EN: Tensor): void {
  const [E, N] = [sizeAt(db_EN, 0), sizeAt(db_EN, 1)];
  const starts = startsOf(db_EN, rc_PE);
  const sum_EN = new Float64Array(E * N);
  for (let e = 0; e < E; e++) {
    for (let at = starts[e]! * N; at < starts[e + 1]! * N; at++) sum_EN[e * N + (at % N)]! += dy_EMN.data[at]!;
  }
  db_EN.data.set(sum_EN);
}

/** y = x w[expert]^T, expert by expert. */
export function expertGemm(x_EMK: Tensor, w_ENK: Tensor, rc_PE: Tensor, y_EMN: Tensor): void {
  const [E, N, K] = [sizeAt(w_ENK, 0), sizeAt(w_ENK, 1), sizeAt(w_ENK, 2)];
  const [x, w, y] = [x_EMK.data, w_ENK.data, y_EMN.data];
  const starts = startsOf(w_ENK, rc_PE);
  for (let e = 0; e < E; e++) {
    for (let m = starts[e]!; m < starts[e + 1]!; m++) {
      for (let n = 0; n < N; n++) {
        let sum = 0;
        for (let k = 0; k < K; k++) sum += x[m * K + k]! * w[(e * N + n) * K + k]!;
        y[m * N + n] = sum;
      }
    }
  }
}

export function expertGemmDx(dy_EMN: Tensor, w_ENK: Tensor, rc_PE: Tensor, dx_EMK: Tensor): void {
  const [E, N, K] = [sizeAt(w_ENK, 0), sizeAt(w_ENK, 1), sizeAt(w_ENK, 2)];
  const [dy, w, dx] = [dy_EMN.data, w_ENK.data, dx_EMK.data];
  const starts = startsOf(w_ENK, rc_PE);
  const row_K = new Float64Array(K);
  for (let e = 0; e < E; e++) {
    for (let m = starts[e]!; m < starts[e + 1]!; m++) {
      row_K.fill(0);
      for (let n = 0; n < N; n++) {
        for (let k = 0; k < K; k++) row_K[k]! += dy[m * N + n]! * w[(e * N + n) * K + k]!;
      }
      dx.set(row_K, m * K);
    }
  }
}

/** dw[expert] = sum over the expert's rows of dy^T x. */
export function expertGemmDw(dy_EMN: Tensor, x_EMK: Tensor, rc_PE: Tensor, dw_ENK: Tensor): void {
  const [E, N, K] = [sizeAt(dw_ENK, 0), sizeAt(dw_ENK, 1), sizeAt(dw_ENK, 2)];
  const [dy, x] = [dy_EMN.data, x_EMK.data];
  const starts = startsOf(dw_ENK, rc_PE);
  const sum_NK = new Float64Array(N * K);
  for (let e = 0; e < E; e++) {
    sum_NK.fill(0);
    for (let m = starts[e]!; m < starts[e + 1]!; m++) {
      for (let n = 0; n < N; n++) {
        for (let k = 0; k < K; k++) sum_NK[n * K + k]! += dy[m * N + n]! * x[m * K + k]!;
      }
    }
    dw_ENK.data.set(sum_NK, e * N * K);
  }
}
