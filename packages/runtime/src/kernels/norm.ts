/** @file Layer norm and RMS norm over the last dim. Statistics are kept for backward: mean then reciprocal deviation
 * ([2, R]), or the reciprocal root of the mean square alone ([1, R]).
 */
import { rowsOf, sizeAt, type Tensor } from './tensor.ts';

export function layernorm(
  x_RH: Tensor,
  w_H: Tensor,
  b_H: Tensor | undefined,
  y_RH: Tensor,
  st_2R: Tensor,
  epsilon: number,
): void {
  const R = rowsOf(x_RH);
  const H = sizeAt(x_RH, -1);
  const [x, w, y, st] = [x_RH.data, w_H.data, y_RH.data, st_2R.data];
  const b = b_H?.data;
  for (let r = 0; r < R; r++) {
    let sum = 0;
    for (let h = 0; h < H; h++) sum += x[r * H + h]!;
    const mean = sum / H;
    let squares = 0;
    for (let h = 0; h < H; h++) squares += (x[r * H + h]! - mean) ** 2;
    const scale = 1 / Math.sqrt(squares / H + epsilon);
    st[r] = mean;
    st[R + r] = scale;
    for (let h = 0; h < H; h++) y[r * H + h] = (x[r * H + h]! - mean) * scale * w[h]! + (b ? b[h]! : 0);
  }
}

/** Gradients of input, gain and shift; the gradient that passes by on the residual is added to dx. */
export function layernormDx(
  reads: { dy_RH: Tensor; x_RH: Tensor; st_2R: Tensor; w_H: Tensor; residual_RH: Tensor | undefined },
  writes: { dx_RH: Tensor; dw_H: Tensor | undefined; db_H: Tensor | undefined },
): void {
  const R = rowsOf(reads.x_RH);
  const H = sizeAt(reads.x_RH, -1);
  const [dy, x, st, w] = [reads.dy_RH.data, reads.x_RH.data, reads.st_2R.data, reads.w_H.data];
  const residual = reads.residual_RH?.data;
  const dx = writes.dx_RH.data;
  const dw_H = new Float64Array(H);
  const db_H = new Float64Array(H);
  for (let r = 0; r < R; r++) {
    const mean = st[r]!;
    const scale = st[R + r]!;
    let gradients = 0;
    let products = 0;
    for (let h = 0; h < H; h++) {
      const normal = (x[r * H + h]! - mean) * scale;
      const slope = dy[r * H + h]!;
      dw_H[h]! += slope * normal;
      db_H[h]! += slope;
      gradients += slope * w[h]!;
      products += slope * w[h]! * normal;
    }
    for (let h = 0; h < H; h++) {
      const normal = (x[r * H + h]! - mean) * scale;
      const own = scale * (dy[r * H + h]! * w[h]! - gradients / H - (normal * products) / H);
      dx[r * H + h] = own + (residual ? residual[r * H + h]! : 0);
    }
  }
  writes.dw_H?.data.set(dw_H);
  writes.db_H?.data.set(db_H);
}

export function rmsnorm(x_RH: Tensor, w_H: Tensor, y_RH: Tensor, st_1R: Tensor, epsilon: number): void {
  const R = rowsOf(x_RH);
  const H = sizeAt(x_RH, -1);
  const [x, w, y, st] = [x_RH.data, w_H.data, y_RH.data, st_1R.data];
  for (let r = 0; r < R; r++) {
    let squares = 0;
    for (let h = 0; h < H; h++) squares += x[r * H + h]! ** 2;
    const scale = 1 / Math.sqrt(squares / H + epsilon);
    st[r] = scale;
    for (let h = 0; h < H; h++) y[r * H + h] = x[r * H + h]! * scale * w[h]!;
  }
}

/** Gradients of input and gain; the gradient that passes by on the residual is added to dx. */
export function rmsnormDx(
  reads: { dy_RH: Tensor; x_RH: Tensor; st_1R: Tensor; w_H: Tensor; residual_RH: Tensor | undefined },
  writes: { dx_RH: Tensor; dw_H: Tensor | undefined },
): void {
  const R = rowsOf(reads.x_RH);
  const H = sizeAt(reads.x_RH, -1);
  const [dy, x, st, w] = [reads.dy_RH.data, reads.x_RH.data, reads.st_1R.data, reads.w_H.data];
  const residual = reads.residual_RH?.data;
  const dx = writes.dx_RH.data;
  const dw_H = new Float64Array(H);
  for (let r = 0; r < R; r++) {
    const scale = st[r]!;
    let products = 0;
    for (let h = 0; h < H; h++) {
      const normal = x[r * H + h]! * scale;
      dw_H[h]! += dy[r * H + h]! * normal;
      products += dy[r * H + h]! * w[h]! * normal;
    }
    for (let h = 0; h < H; h++) {
      const normal = x[r * H + h]! * scale;
      const own = scale * (dy[r * H + h]! * w[h]! - (normal * products) / H);
      dx[r * H + h] = own + (residual ? residual[r * H + h]! : 0);
    }
  }
  writes.dw_H?.data.set(dw_H);
}
