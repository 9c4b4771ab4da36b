/** @file Rows of a mixture of experts. Where every rank has a slice of every expert, routed copies keep their token's
 * place, [s b t h] with t experts a token; how they are grouped by expert is the kernel's own business. Where experts lie
 * over a grid of their own, copies are rows by expert, [e r h], in the order of their tokens; `rc` counts them by rank and
 * expert. A rank's rows depend on data: see `routed` of a dim.
 */
import { fromEnd, gemmRow, type KernelRow, type LocalOperands, memoryRow, rows } from './row.ts';

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
  | 'weigh'
  | 'weigh.dx'
  | 'expert-bias'
  | 'expert-bias.dw'
  | 'sigmoid-gate'
  | 'sigmoid-gate.dx'
  | 'dispatch'
  | 'dispatch.dx'
  | 'grouped-gemm'
  | 'grouped-gemm.dx'
  | 'grouped-gemm.dw'
  | 'combine'
  | 'combine.dx'
  | RowKernel;

/** Kernels of routed rows. */
type RowKernel =
  | 'count-rows'
  | 'permute'
  | 'permute.dx'
  | 'expert-gemm'
  | 'expert-gemm.dx'
  | 'expert-gemm.dw'
  | 'row-bias'
  | 'row-bias.dw'
  | 'unpermute'
  | 'unpermute.dx';

/** Experts and rows of one expert on a rank. */
const expertShape = ({ reads }: LocalOperands) => ({ batch: reads[0]?.dims[0] ?? 1, each: reads[0]?.dims[1] ?? 0 });

const rowKernels: Readonly<Record<RowKernel, KernelRow>> = {
  'count-rows': memoryRow('ri:[s^ b^ t!] -> rc:[p^ e!]', 1),
  permute: memoryRow('x:[s^ b^ h] ri:[s^ b^ t!] -> xs:[e! r^ h]', 0),
  'permute.dx': memoryRow('dxs:[e! r^ h] ri:[s^ b^ t!] -> dx:[s^ b^ h]', 1),
  'expert-gemm': gemmRow('x:[e r k] w:[e n k] rc#:[p g] -> y:[e r n]', (operands) => {
    const { batch, each } = expertShape(operands);
    return { m: each, n: fromEnd(operands.reads[1], 2), k: fromEnd(operands.reads[0], 1), batch };
  }),
  'expert-gemm.dx': gemmRow('dy:[e r n] w:[e n k] rc#:[p g] -> dx:[e r k]', (operands) => {
    const { batch, each } = expertShape(operands);
    return { m: each, n: fromEnd(operands.reads[1], 1), k: fromEnd(operands.reads[0], 1), batch };
  }),
  'expert-gemm.dw': gemmRow('dy:[e r n] x:[e r k] rc#:[p g] -> dw:[e n k]', (operands) => {
    const { batch, each } = expertShape(operands);
    return { m: fromEnd(operands.reads[0], 1), n: fromEnd(operands.reads[1], 1), k: each, batch };
  }),
  'row-bias': memoryRow('x~:[e r n] b:[e n] rc#:[p g] -> out~:[e r n]', 1),
  'row-bias.dw': memoryRow('dy:[e r n] rc#:[p g] -> db:[e n]', 1),
  unpermute: memoryRow('ce:[e! r^ h] rw?:[s^ b^ t!] ri:[s^ b^ t!] -> c:[s^ b^ h]', 2),
  'unpermute.dx': memoryRow(
    'dy:[s^ b^ h] ce?:[e! r^ h] rw?:[s^ b^ t!] ri:[s^ b^ t!] -> dce:[e! r^ h] drw?:[s^ b^ t!]',
    4,
  ),
};

export const expertRows: Readonly<Record<ExpertKernel, KernelRow>> = {
  // `c` corrects the choice and not the weights; other scorings than a softmax over the chosen read the logits again.
  topk: memoryRow('rl:[s b e!] c?:[e] -> rw:[s b t] ri:[s b t]', 8),
  'topk.dx': memoryRow('drw~:[s b t] rw:[s b t] ri:[s b t] rl?:[s b e!] -> drl~:[s b e]', 8),
  // A token times the weight of its only expert.
  weigh: memoryRow('x:[s b h] rw:[s b t!] -> xw:[s b h]', 1),
  'weigh.dx': memoryRow('dxw~:[s b h!] x:[s b h] rw:[s b t!] -> dx~:[s b h] drw~:[s b t]', 3),
  // In place; where the product is a part of a sum each rank adds its `factor` of the bias.
  'expert-bias': memoryRow('x~:[.. n] b:[e! n] ri:[..] -> out~:[.. n]', 1),
  'expert-bias.dw': memoryRow('dy:[.. n] ri:[..] -> db:[e n]', 1),
  'sigmoid-gate': memoryRow('so~:[s b h] sl:[s b g!] -> c~:[s b h]', 2),
  'sigmoid-gate.dx': memoryRow('dy:[s b h] so~:[s b h!] sl:[s b g!] -> dso:[s b h] dsl~:[s b g]', 4),
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
  combine: memoryRow('ce~:[s b t! h] rw?:[s b t] -> c~:[s b h]', 2),
  ...rowKernels,
  'combine.dx': memoryRow('dy:[s b h] ce~?:[s b t h!] rw?:[s b t] -> dce:[s b t h] drw~?:[s b t]', 4),
};
