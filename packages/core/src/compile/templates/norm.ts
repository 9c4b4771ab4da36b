import type { DType } from '../../tensor/index.ts';
import { dim } from '../context.ts';
import type { Builder } from './builder.ts';

/** Normalises `from` into `to`; keeps the statistics in `stats`. `parameter` is `ln1`, `ln2`, `pn1`, `pn2`, `lne` or
 * `lnf`; `y`, the border of the block, is declared already. `type`: narrow where only products read it.
 */
export function norm(
  builder: Builder,
  from: string,
  parameter: string,
  to: string,
  stats: string,
  type: DType = builder.context.type,
): void {
  const { context, dims } = builder;
  const layer = context.model.norm === 'layernorm';
  if (to !== 'y') builder.declare(to, [dims.s, dims.b, dims.h], { dtype: type });
  builder.declare(stats, [dim(layer ? '2' : '1', layer ? 2 : 1), dims.s, dims.b], { dtype: 'fp32' });
  const shift = context.model.normBias === false ? 'none' : `${parameter}.b`;
  const weights = layer ? [`${parameter}.w`, shift] : [`${parameter}.w`];
  builder.compute(context.model.norm, [from, ...weights], [to, stats], { epsilon: context.model.normEpsilon });
}

/** Gradient of a norm; `residual` is the gradient that passes by it, added here. */
export function normBackward(
  builder: Builder,
  operands: { gradient: string; input: string; parameter: string; stats: string; residual: string; to: string },
): void {
  const { gradient, input, parameter, stats, residual, to } = operands;
  const { norm: kind, normBias } = builder.context.model;
  const layer = kind === 'layernorm';
  const gradients = layer && normBias !== false ? [`G.${parameter}.w+=`, `G.${parameter}.b+=`] : [`G.${parameter}.w+=`];
  builder.compute(
    layer ? 'layernorm.dx' : 'rmsnorm.dx',
    [gradient, input, stats, `${parameter}.w`, residual],
    [to, ...gradients],
    { epsilon: builder.context.model.normEpsilon },
  );
}
