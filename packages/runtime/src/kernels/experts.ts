/** @file Mixture of experts without movement: routed copies keep their token's place, [S, B, T, H] with T experts a
 * token. Who chooses them is routing.ts.
 */
import { rowsOf, sizeAt, type Tensor } from './tensor.ts';

/** One copy of each token for each of its experts. */
export function dispatch(x_RH: Tensor, xe_RTH: Tensor): void {
  const R = rowsOf(x_RH);
  const H = sizeAt(x_RH, -1);
  const T = sizeAt(xe_RTH, -2);
  for (let r = 0; r < R; r++) {
    const row = x_RH.data.subarray(r * H, (r + 1) * H);
    for (let t = 0; t < T; t++) xe_RTH.data.set(row, (r * T + t) * H);
  }
}

export function dispatchDx(dxe_RTH: Tensor, dx_RH: Tensor): void {
  const R = rowsOf(dx_RH);
  const H = sizeAt(dx_RH, -1);
  const T = sizeAt(dxe_RTH, -2);
  const [dxe, dx] = [dxe_RTH.data, dx_RH.data];
  for (let r = 0; r < R; r++) {
    for (let h = 0; h < H; h++) {
      let sum = 0;
      for (let t = 0; t < T; t++) sum += dxe[(r * T + t) * H + h]!;
      dx[r * H + h] = sum;
    }
  }
}

/** y = x w[expert]^T, each routed row with its own expert's weights. */
export function groupedGemm(x_RK: Tensor, w_ENK: Tensor, ri_R: Tensor, y_RN: Tensor): void {
  const R = rowsOf(x_RK);
  const [N, K] = [sizeAt(w_ENK, 1), sizeAt(w_ENK, 2)];
  const [x, w, ri, y] = [x_RK.data, w_ENK.data, ri_R.data, y_RN.data];
  for (let r = 0; r < R; r++) {
    const expert = ri[r]! * N * K;
    for (let n = 0; n < N; n++) {
      let sum = 0;
      for (let k = 0; k < K; k++) sum += x[r * K + k]! * w[expert + n * K + k]!;
      y[r * N + n] = sum;
    }
  }
}

export function groupedGemmDx(dy_RN: Tensor, w_ENK: Tensor, ri_R: Tensor, dx_RK: Tensor): void {
  const R = rowsOf(dy_RN);
  const [N, K] = [sizeAt(w_ENK, 1), sizeAt(w_ENK, 2)];
  const [dy, w, ri, dx] = [dy_RN.data, w_ENK.data, ri_R.data, dx_RK.data];
  const row_K = new Float64Array(K);
  for (let r = 0; r < R; r++) {
    row_K.fill(0);
    const expert = ri[r]! * N * K;
    for (let n = 0; n < N; n++) {
      for (let k = 0; k < K; k++) row_K[k]! += dy[r * N + n]! * w[expert + n * K + k]!;
    }
    dx.set(row_K, r * K);
  }
}

/** dw[expert] = sum over the expert's rows of dy^T x. */
export function groupedGemmDw(dy_RN: Tensor, x_RK: Tensor, ri_R: Tensor, dw_ENK: Tensor): void {
  const R = rowsOf(dy_RN);
  const [N, K] = [sizeAt(dw_ENK, 1), sizeAt(dw_ENK, 2)];
  const [dy, x, ri] = [dy_RN.data, x_RK.data, ri_R.data];
  const sum_ENK = new Float64Array(sizeAt(dw_ENK, 0) * N * K);
  for (let r = 0; r < R; r++) {
    const expert = ri[r]! * N * K;
    for (let n = 0; n < N; n++) {
      for (let k = 0; k < K; k++) sum_ENK[expert + n * K + k]! += dy[r * N + n]! * x[r * K + k]!;
    }
  }
  dw_ENK.data.set(sum_ENK);
}

/** x[r] += factor b[expert of r], in place or out of place. */
export function expertBias(x_RN: Tensor, b_EN: Tensor, ri_R: Tensor, out_RN: Tensor, factor = 1): void {
  const R = rowsOf(x_RN);
  const N = sizeAt(x_RN, -1);
  const [x, b, ri, out] = [x_RN.data, b_EN.data, ri_R.data, out_RN.data];
  for (let r = 0; r < R; r++) {
    for (let n = 0; n < N; n++) out[r * N + n] = x[r * N + n]! + factor * b[ri[r]! * N + n]!;
  }
}

/** db[expert] = sum of dy over the expert's rows. */
export function expertBiasDw(dy_RN: Tensor, ri_R: Tensor, db_EN: Tensor): void {
  const R = rowsOf(dy_RN);
  const N = sizeAt(dy_RN, -1);
  const [dy, ri] = [dy_RN.data, ri_R.data];
  const sum_EN = new Float64Array(sizeAt(db_EN, 0) * N);
  for (let r = 0; r < R; r++) {
    for (let n = 0; n < N; n++) sum_EN[ri[r]! * N + n]! += dy[r * N + n]!;
  }
  db_EN.data.set(sum_EN);
}

/** c = factor times the sum over a token's experts of weight times output; without weights each is 1. */
export function combine(ce_RTH: Tensor, rw_RT: Tensor | undefined, c_RH: Tensor, factor = 1): void {
  const R = rowsOf(c_RH);
  const H = sizeAt(c_RH, -1);
  const T = sizeAt(ce_RTH, -2);
  const [ce, rw, c] = [ce_RTH.data, rw_RT?.data, c_RH.data];
  for (let r = 0; r < R; r++) {
    for (let h = 0; h < H; h++) {
      let sum = 0;
      for (let t = 0; t < T; t++) sum += (rw ? rw[r * T + t]! : 1) * ce[(r * T + t) * H + h]!;
      c[r * H + h] = factor * sum;
    }
  }
}

/** Gradients of the outputs, and of the weights where there are any. */
export function combineDx(
  reads: { dy_RH: Tensor; ce_RTH: Tensor | undefined; rw_RT: Tensor | undefined },
  writes: { dce_RTH: Tensor; drw_RT: Tensor | undefined },
  factor = 1,
): void {
  const R = rowsOf(reads.dy_RH);
  const H = sizeAt(reads.dy_RH, -1);
  const T = sizeAt(writes.dce_RTH, -2);
  const [dy, ce, rw] = [reads.dy_RH.data, reads.ce_RTH?.data, reads.rw_RT?.data];
  const [dce, drw] = [writes.dce_RTH.data, writes.drw_RT?.data];
  for (let r = 0; r < R; r++) {
    for (let t = 0; t < T; t++) {
      const row = (r * T + t) * H;
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
