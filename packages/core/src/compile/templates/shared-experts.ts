/** @file Experts that every token passes: a dense feed-forward beside the routed ones, with a gate of its own or without.
 * Its products are cut over tensor like any other's, so its output joins the sum that the routed experts leave partial.
 */
import type { MoeFfn } from '../../model/index.ts';
import { dim } from '../context.ts';
import { branchFactor } from './branch.ts';
import { type Builder, overTensor } from './builder.ts';

type Shared = NonNullable<MoeFfn['shared']>;

function declareInner(builder: Builder, ffn: MoeFfn, { width }: Shared, prefix: '' | 'd'): void {
  const { dims, declare, context } = builder;
  const inner = ffn.gated
    ? dim('f', 2 * width, 'tensor', context.tensor, [width, width])
    : dim('f', width, 'tensor', context.tensor);
  declare(`${prefix}sf`, [dims.sWhole, dims.b, inner]);
  const type = prefix === '' ? context.kept : context.type;
  declare(`${prefix}sg`, [dims.sWhole, dims.b, dim('f', width, 'tensor', context.tensor)], { dtype: type });
}

/** The output of the shared experts for `input`, written to `into`; a name that ends with `+=` is added to. */
export function sharedExperts(builder: Builder, ffn: MoeFfn, input: string, into: string): void {
  const { dims, declare, compute } = builder;
  const { shared } = ffn;
  if (!shared) return;
  declareInner(builder, ffn, shared, '');
  compute('gemm', [input, 'shared.fc1.w', 'none'], ['sf']);
  compute(ffn.gated ? 'gated' : 'activation', ['sf'], ['sg'], { function: ffn.activation });
  if (!shared.gate) return compute('gemm', ['sg', 'shared.fc2.w', 'none'], [into], branchFactor(builder));
  declare('so', [dims.sWhole, dims.b, dims.h], { partial: overTensor });
  declare('sl', [dims.sWhole, dims.b, dim('1', 1)], { dtype: 'fp32' });
  compute('gemm', ['sg', 'shared.fc2.w', 'none'], ['so'], branchFactor(builder));
  compute('gemm', [input, 'shared.gate.w', 'none'], ['sl']);
  compute('sigmoid-gate', ['so', 'sl'], [into]);
}

/** Gradient `dyg` of the output -> the gradient of `input`, both of the whole sequence. `into` as in forward: `dn2g`, or
 * `dn2g+=` where the routed experts have written to it.
 */
export function sharedExpertsBackward(
  builder: Builder,
  ffn: MoeFfn,
  dyg: string,
  input: string,
  into: 'dn2g' | 'dn2g+=',
): void {
  const { dims, declare, compute } = builder;
  const { shared } = ffn;
  if (!shared) return;
  declareInner(builder, ffn, shared, 'd');
  let gradient = dyg;
  if (shared.gate) {
    gradient = declare('dso', [dims.sWhole, dims.b, dims.h]);
    declare('dsl', [dims.sWhole, dims.b, dim('1', 1)], { dtype: 'fp32', partial: overTensor });
    compute('sigmoid-gate.dx', [dyg, 'so', 'sl'], ['dso', 'dsl']);
    compute('gemm.dw', ['dsl', input], ['G.shared.gate.w+=']);
  }
  compute('gemm.dx', [gradient, 'shared.fc2.w'], ['dsg'], branchFactor(builder));
  compute('gemm.dw', [gradient, 'sg'], ['G.shared.fc2.w+='], branchFactor(builder));
  compute(ffn.gated ? 'gated.dx' : 'activation.dx', ['dsg', 'sf'], ['dsf'], { function: ffn.activation });
  compute('gemm.dx', ['dsf', 'shared.fc1.w'], [into]);
  if (shared.gate) compute('gemm.dx', ['dsl', 'shared.gate.w'], ['dn2g+=']);
  compute('gemm.dw', ['dsf', input], ['G.shared.fc1.w+=']);
}
