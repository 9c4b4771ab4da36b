/** @file The matrix product of the fast kernels, done by OpenBLAS on the same memory. */
import type { WasmKernels } from '../wasm/exports.ts';
import type { OpenBlas } from './library.ts';

const ROW_MAJOR = 101;
const AS_IT_LIES = 111;
const TRANSPOSED = 112;

/** Below so many multiplications the call costs more than it saves. */
const SMALL = 1024;

/** `base`: where the memory of `kernels` begins in this process. One of the strides of each factor is 1; products of other
 * strides, and small ones, are those of WebAssembly. */
export function blasGemm({ sgemm }: OpenBlas, base: number, kernels: WasmKernels): WasmKernels['gemm'] {
  return (...given) => {
    const [m, n, k, a, aRow, aColumn, b, bRow, bColumn, c, cRow, adds, bias] = given;
    const formA = formOf(aRow, aColumn, m, k);
    const formB = formOf(bRow, bColumn, k, n);
    if (m * n * k < SMALL || formA === undefined || formB === undefined) return kernels.gemm(...given);
    if (bias) kernels.fillRows(m, n, c, cRow, bias);
    const beta = adds || bias ? 1 : 0;
    const sizes = [m, n, k] as const;
    const [left, right] = [base + a, base + b];
    sgemm(ROW_MAJOR, formA.form, formB.form, ...sizes, 1, left, formA.step, right, formB.step, beta, base + c, cRow);
  };
}

interface Form {
  readonly form: number;
  /** Elements from one line to the next. */
  readonly step: number;
}

/** How a factor of `rows` and `columns` lies; undefined where neither stride is 1. */
function formOf(row: number, column: number, rows: number, columns: number): Form | undefined {
  if (column === 1) return { form: AS_IT_LIES, step: Math.max(row, columns) };
  if (row === 1) return { form: TRANSPOSED, step: Math.max(column, rows) };
  return undefined;
}
