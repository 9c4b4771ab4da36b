/** @file The wide half of low-rank adapters. B has the rows of the adapted parts of a fused output, part by part, and each part
 * reads columns of its own of the narrow product; where the output is not fused, or all parts share one A, there is one part.
 */
import { type KernelCall, numberOf, rowsOf, sizeAt, type Tensor } from './tensor.ts';

/** Rows of the output with an adapter: where they begin in the output and in B, and the columns that they read. */
interface AdaptedPart {
  readonly at: number;
  readonly row: number;
  readonly size: number;
  readonly column: number;
}

/** The adapted parts of an output of which this rank has `width` values: `p<i>` are global sizes, `a<i>` says which. */
function adaptedPartsOf(
  { attributes }: Pick<KernelCall, 'attributes'>,
  width: number,
  rank: number,
): readonly AdaptedPart[] {
  const sizes: number[] = [];
  const call = { attributes } as KernelCall;
  while (attributes[`p${sizes.length}`] !== undefined) sizes.push(numberOf(call, `p${sizes.length}`));
  if (sizes.length === 0) return [{ at: 0, row: 0, size: width, column: 0 }];
  const total = sizes.reduce((sum, size) => sum + size, 0);
  const parts: AdaptedPart[] = [];
  let [at, row] = [0, 0];
  for (const [index, whole] of sizes.entries()) {
    const size = (whole * width) / total;
    if (attributes[`a${index}`] !== undefined) {
      parts.push({ at, row, size, column: parts.length * rank });
      row += size;
    }
    at += size;
  }
  return parts;
}

/** y = factor u b^T in the adapted parts; 0 in the others. */
export function adapt(call: KernelCall, u_RA: Tensor, b_NK: Tensor, y_RP: Tensor, factor: number): void {
  const [R, A, K, P] = [rowsOf(u_RA), sizeAt(u_RA, -1), sizeAt(b_NK, 1), sizeAt(y_RP, -1)];
  const [u, b, y] = [u_RA.data, b_NK.data, y_RP.data];
  y.fill(0);
  for (const { at, row, size, column } of adaptedPartsOf(call, P, K)) {
    for (let r = 0; r < R; r++) {
      for (let n = 0; n < size; n++) {
        let sum = 0;
        for (let k = 0; k < K; k++) sum += u[r * A + column + k]! * b[(row + n) * K + k]!;
        y[r * P + at + n] = factor * sum;
      }
    }
  }
}

/** Gradient of the narrow product: du = factor dy b; parts that share columns add up. */
export function adaptDx(call: KernelCall, dy_RP: Tensor, b_NK: Tensor, du_RA: Tensor, factor: number): void {
  const [R, A, K, P] = [rowsOf(dy_RP), sizeAt(du_RA, -1), sizeAt(b_NK, 1), sizeAt(dy_RP, -1)];
  const [dy, b, du] = [dy_RP.data, b_NK.data, du_RA.data];
  const row_K = new Float64Array(K);
  for (const { at, row, size, column } of adaptedPartsOf(call, P, K)) {
    for (let r = 0; r < R; r++) {
      row_K.fill(0);
      for (let n = 0; n < size; n++) {
        const slope = factor * dy[r * P + at + n]!;
        for (let k = 0; k < K; k++) row_K[k]! += slope * b[(row + n) * K + k]!;
      }
      du.set(row_K, r * A + column);
    }
  }
}

/** Gradient of B: db = factor dy^T u. */
export function adaptDw(call: KernelCall, dy_RP: Tensor, u_RA: Tensor, db_NK: Tensor, factor: number): void {
  const [R, A, K, P] = [rowsOf(dy_RP), sizeAt(u_RA, -1), sizeAt(db_NK, 1), sizeAt(dy_RP, -1)];
  const [dy, u, db] = [dy_RP.data, u_RA.data, db_NK.data];
  const row_K = new Float64Array(K);
  for (const { at, row, size, column } of adaptedPartsOf(call, P, K)) {
    for (let n = 0; n < size; n++) {
      row_K.fill(0);
      for (let r = 0; r < R; r++) {
        const slope = factor * dy[r * P + at + n]!;
        for (let k = 0; k < K; k++) row_K[k]! += slope * u[r * A + column + k]!;
      }
      db.set(row_K, (row + n) * K);
    }
  }
}
