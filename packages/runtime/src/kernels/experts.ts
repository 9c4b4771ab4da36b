/** @file Mixture of experts without movement: routed copies keep their token's place, [S, B, T, H] with T experts a
 * token. The router's weights are a softmax over the chosen experts (Mixtral's way).
 */
import { rowsOf, sizeAt, type Tensor } from './tensor.ts';

/** The T largest logits of each token, first the largest, ties to the lower index; weights sum to 1. */
export function topk(rl_RE: Tensor, rw_RT: Tensor, ri_RT: Tensor): void {
  const R = rowsOf(rl_RE);
  const E = sizeAt(rl_RE, -1);
  const T = sizeAt(rw_RT, -1);
  const [rl, rw, ri] = [rl_RE.data, rw_RT.data, ri_RT.data];
  for (let r = 0; r < R; r++) {
    const order = Array.from({ length: E }, (_, e) => e).sort((a, b) => rl[r * E + b]! - rl[r * E + a]! || a - b);
    const top = rl[r * E + order[0]!]!;
    const powers = order.slice(0, T).map((e) => Math.exp(rl[r * E + e]! - top));
    const sum = powers.reduce((total, power) => total + power, 0);
    for (let t = 0; t < T; t++) {
      rw[r * T + t] = powers[t]! / sum;
      ri[r * T + t] = order[t]!;
    }
  }
}

/** Gradient of the softmax over the chosen; the others get zero. */
export function topkDx(drw_RT: Tensor, rw_RT: Tensor, ri_RT: Tensor, drl_RE: Tensor): void {
  const R = rowsOf(drl_RE);
  const E = sizeAt(drl_RE, -1);
  const T = sizeAt(rw_RT, -1);
  const [drw, rw, ri, drl] = [drw_RT.data, rw_RT.data, ri_RT.data, drl_RE.data];
  drl.fill(0);
  for (let r = 0; r < R; r++) {
    let mean = 0;
    for (let t = 0; t < T; t++) mean += drw[r * T + t]! * rw[r * T + t]!;
    for (let t = 0; t < T; t++) drl[r * E + ri[r * T + t]!] = rw[r * T + t]! * (drw[r * T + t]! - mean);
  }
}

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

/** c = sum over a token's experts of weight times output. */
export function combine(ce_RTH: Tensor, rw_RT: Tensor, c_RH: Tensor): void {
  const R = rowsOf(c_RH);
  const H = sizeAt(c_RH, -1);
  const T = sizeAt(rw_RT, -1);
  const [ce, rw, c] = [ce_RTH.data, rw_RT.data, c_RH.data];
  for (let r = 0; r < R; r++) {
    for (let h = 0; h < H; h++) {
      let sum = 0;
      for (let t = 0; t < T; t++) sum += rw[r * T + t]! * ce[(r * T + t) * H + h]!;
      c[r * H + h] = sum;
    }
  }
}

export function combineDx(
  reads: { dy_RH: Tensor; ce_RTH: Tensor; rw_RT: Tensor },
  writes: { dce_RTH: Tensor; drw_RT: Tensor },
): void {
  const R = rowsOf(reads.dy_RH);
  const H = sizeAt(reads.dy_RH, -1);
  const T = sizeAt(reads.rw_RT, -1);
  const [dy, ce, rw] = [reads.dy_RH.data, reads.ce_RTH.data, reads.rw_RT.data];
  const [dce, drw] = [writes.dce_RTH.data, writes.drw_RT.data];
  for (let r = 0; r < R; r++) {
    for (let t = 0; t < T; t++) {
      const row = (r * T + t) * H;
      let product = 0;
      for (let h = 0; h < H; h++) {
        product += dy[r * H + h]! * ce[row + h]!;
        dce[row + h] = rw[r * T + t]! * dy[r * H + h]!;
      }
      drw[r * T + t] = product;
    }
  }
}
