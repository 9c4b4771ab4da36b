/** @file Rows of a mixture of experts. Routed copies keep their token's place, [s b t h] with t experts a token; how they
 * are grouped by expert is the kernel's own business. Rows are counted for balanced routing.
 */
import { fromEnd, gemmRow, type KernelRow, memoryRow, rows } from './row.ts';

/** Experts run side by side: `batch` products of an equal share of the routed rows. */
const grouped = (m: number, n: number, k: number, experts: number) => ({
  m: m / experts,
  n,
  k,
  batch: experts,
});

export type ExpertKernel =
  | 'topk'
  | 'topk.dx'
  | 'dispatch'
  | 'dispatch.dx'
  | 'grouped-gemm'
  | 'grouped-gemm.dx'
  | 'grouped-gemm.dw'
  | 'combine'
  | 'combine.dx';

export const expertRows: Readonly<Record<ExpertKernel, KernelRow>> = {
  topk: memoryRow('rl:[s b e!] -> rw:[s b t] ri:[s b t]', 8),
  'topk.dx': memoryRow('drw~:[s b t] rw:[s b t] ri:[s b t] -> drl~:[s b e]', 8),
  dispatch: memoryRow('x:[s b h] ri:[s b t] -> xe:[s b t h]', 0),
  'dispatch.dx': memoryRow('dxe~:[s b t! h] ri:[s b t] -> dx~:[s b h]', 1),
  'grouped-gemm': gemmRow('x:[.. k] w:[e! n k] ri:[..] -> y:[.. n]', (operands) =>
    grouped(
      rows(operands.reads[0]),
      fromEnd(operands.reads[1], 2),
      fromEnd(operands.reads[0], 1),
      operands.reads[1]?.dims[0] ?? 1,
    ),
  ),
  'grouped-gemm.dx': gemmRow('dy:[.. n] w:[e! n k] ri:[..] -> dx:[.. k]', (operands) =>
    grouped(
      rows(operands.reads[0]),
      fromEnd(operands.reads[1], 1),
      fromEnd(operands.reads[0], 1),
      operands.reads[1]?.dims[0] ?? 1,
    ),
  ),
  'grouped-gemm.dw': gemmRow('dy:[.. n] x:[.. k] ri:[..] -> dw:[e n k]', (operands) => {
    const experts = operands.writes[0]?.dims[0] ?? 1;
    return {
      m: fromEnd(operands.reads[0], 1),
      n: fromEnd(operands.reads[1], 1),
      k: rows(operands.reads[0]) / experts,
      batch: experts,
    };
  }),
  combine: memoryRow('ce~:[s b t! h] rw:[s b t] -> c~:[s b h]', 2),
  'combine.dx': memoryRow('dy:[s b h] ce~:[s b t h!] rw:[s b t] -> dce:[s b t h] drw~:[s b t]', 4),
};
