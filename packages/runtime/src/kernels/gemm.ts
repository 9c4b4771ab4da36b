/** @file Matrix products of linear layers. Weights are [N, K]: `y = factor x w^T + bias`. */
import { rowsOf, sizeAt, type Tensor } from './tensor.ts';

/** Factor on a product; `bias`: on its bias too. */
export interface Factors {
  readonly product: number;
  readonly bias: number;
}

const plainFactors: Factors = { product: 1, bias: 1 };

/** y = factor x w^T + bias. */
export function gemm(
  x_RK: Tensor,
  w_NK: Tensor,
  bias_N: Tensor | undefined,
  y_RN: Tensor,
  { product: factor, bias: onBias }: Factors = plainFactors,
): void {
  const R = rowsOf(x_RK);
  const N = sizeAt(w_NK, 0);
  const K = sizeAt(w_NK, 1);
  const [x, w, bias, y] = [x_RK.data, w_NK.data, bias_N?.data, y_RN.data];
  for (let r = 0; r < R; r++) {
    for (let n = 0; n < N; n++) {
      let sum = bias && factor === 1 ? bias[n]! : 0;
      for (let k = 0; k < K; k++) sum += x[r * K + k]! * w[n * K + k]!;
      y[r * N + n] = factor === 1 ? sum : factor * sum + (bias ? onBias * bias[n]! : 0);
    }
  }
}

/** Gradient of the input: dx = factor dy w. */
export function gemmDx(dy_RN: Tensor, w_NK: Tensor, dx_RK: Tensor, factor = 1): void {
  const R = rowsOf(dy_RN);
  const N = sizeAt(w_NK, 0);
  const K = sizeAt(w_NK, 1);
  const [dy, w, dx] = [dy_RN.data, w_NK.data, dx_RK.data];
  const row_K = new Float64Array(K);
  for (let r = 0; r < R; r++) {
    row_K.fill(0);
    for (let n = 0; n < N; n++) {
      const slope = factor * dy[r * N + n]!;
      for (let k = 0; k < K; k++) row_K[k]! += slope * w[n * K + k]!;
    }
    dx.set(row_K, r * K);
  }
}

/** Gradients of weight and bias: dw = factor dy^T x, db = sum of dy over rows. */
export function gemmDw(
  dy_RN: Tensor,
  x_RK: Tensor,
  dw_NK: Tensor,
  db_N: Tensor | undefined,
  { product: factor, bias: onBias }: Factors = plainFactors,
): void {
  const R = rowsOf(dy_RN);
  const N = sizeAt(dy_RN, -1);
  const K = sizeAt(x_RK, -1);
  const [dy, x, dw] = [dy_RN.data, x_RK.data, dw_NK.data];
  const row_K = new Float64Array(K);
  for (let n = 0; n < N; n++) {
    row_K.fill(0);
    for (let r = 0; r < R; r++) {
      const slope = factor * dy[r * N + n]!;
      for (let k = 0; k < K; k++) row_K[k]! += slope * x[r * K + k]!;
    }
    dw.set(row_K, n * K);
  }
  if (db_N) biasDw(dy_RN, db_N, onBias);
}

/** Gradient of a bias: the sum of dy over rows, times the factor on the bias. */
export function biasDw(dy_RN: Tensor, db_N: Tensor, factor = 1): void {
  const R = rowsOf(dy_RN);
  const N = sizeAt(dy_RN, -1);
  const dy = dy_RN.data;
  const sum_N = new Float64Array(N);
  for (let r = 0; r < R; r++) {
    for (let n = 0; n < N; n++) sum_N[n]! += factor * dy[r * N + n]!;
  }
  db_N.data.set(sum_N);
}
