/** @file The feed-forward half of a layer between its gathered input and its partial output: dense or experts. */
import type { DenseFfn, MoeFfn } from '../../model/index.ts';
import { dim } from '../context.ts';
import { type Builder, overTensor } from './builder.ts';

/** Factor of a product that ends a residual branch, where the model has one. */
export const branchFactor = ({ context }: Builder): { readonly factor: number } | undefined =>
  context.model.residualScale === undefined ? undefined : { factor: context.model.residualScale };

/** `input` (whole sequence) -> `c`, partial over tensor; or added into `into` where another branch has written it. */
export function feedForward(builder: Builder, input: string, into: string = 'c'): void {
  const { ffn } = builder.context.layer;
  const { dims } = builder;
  if (into === 'c') builder.declare('c', [dims.sWhole, dims.b, dims.h], { role: 'exchange', partial: overTensor });
  if (ffn.kind === 'moe') return experts(builder, ffn, input);
  builder.declare('f', [dims.sWhole, dims.b, dims.fIn]);
  builder.declare('ge', [dims.sWhole, dims.b, dims.f]);
  builder.compute('gemm', [input, 'fc1.w', ffn.bias ? 'fc1.b' : 'none'], ['f']);
  activate(builder, ffn, 'f', 'ge');
  builder.compute('gemm', ['ge', 'fc2.w', 'none'], [into === 'c' ? 'c' : `${into}+=`], branchFactor(builder));
}

/** Gradient `dyg` of the output (whole sequence) -> `dn2g`, partial over tensor; `input` is the gathered input.
 * `scatter` is called as soon as `dn2g` is complete, so that its exchange can hide behind the last weight gradient.
 */
export function feedForwardBackward(builder: Builder, dyg: string, input: string, scatter: () => void): void {
  const { ffn } = builder.context.layer;
  const { dims } = builder;
  builder.declare('dn2g', [dims.sWhole, dims.b, dims.h], { role: 'exchange', partial: overTensor });
  if (ffn.kind === 'moe') return expertsBackward(builder, ffn, dyg, input, scatter);
  builder.declare('dge', [dims.sWhole, dims.b, dims.f]);
  builder.declare('df', [dims.sWhole, dims.b, dims.fIn]);
  builder.compute('gemm.dx', [dyg, 'fc2.w'], ['dge'], branchFactor(builder));
  builder.compute('gemm.dw', [dyg, 'ge'], ['G.fc2.w+='], branchFactor(builder));
  activateBackward(builder, ffn, 'dge', 'f', 'df');
  builder.compute('gemm.dx', ['df', 'fc1.w'], ['dn2g']);
  scatter();
  builder.compute('gemm.dw', ['df', input], ffn.bias ? ['G.fc1.w+=', 'G.fc1.b+='] : ['G.fc1.w+=']);
}

const activate = (builder: Builder, ffn: DenseFfn | MoeFfn, from: string, to: string): void =>
  builder.compute(ffn.gated ? 'gated' : 'activation', [from], [to], { function: ffn.activation });

const activateBackward = (
  builder: Builder,
  ffn: DenseFfn | MoeFfn,
  gradient: string,
  input: string,
  to: string,
): void =>
  builder.compute(ffn.gated ? 'gated.dx' : 'activation.dx', [gradient, input], [to], { function: ffn.activation });

/** Every rank holds a slice of every expert: no exchange inside, the output is partial over tensor as in a dense layer. */
function experts(builder: Builder, ffn: MoeFfn, input: string): void {
  const { dims } = builder;
  const chosen = dim('t', ffn.topK);
  builder.declare('rl', [dims.sWhole, dims.b, dim('e', ffn.experts)], { dtype: 'fp32' });
  builder.declare('rw', [dims.sWhole, dims.b, chosen], { dtype: 'fp32' });
  builder.declare('ri', [dims.sWhole, dims.b, chosen], { dtype: 'int32' });
  builder.declare('xe', [dims.sWhole, dims.b, chosen, dims.h]);
  builder.declare('f', [dims.sWhole, dims.b, chosen, dims.fIn]);
  builder.declare('ge', [dims.sWhole, dims.b, chosen, dims.f]);
  builder.declare('ce', [dims.sWhole, dims.b, chosen, dims.h], { partial: overTensor });
  builder.compute('gemm', [input, 'router.w', 'none'], ['rl']);
  builder.compute('topk', ['rl'], ['rw', 'ri']);
  builder.compute('dispatch', [input, 'ri'], ['xe']);
  builder.compute('grouped-gemm', ['xe', 'experts.fc1.w', 'ri'], ['f']);
  activate(builder, ffn, 'f', 'ge');
  builder.compute('grouped-gemm', ['ge', 'experts.fc2.w', 'ri'], ['ce']);
  builder.compute('combine', ['ce', 'rw'], ['c']);
}

/** The gradient of the router stays partial over tensor (its probabilities meet partial outputs) and joins `dn2g`. */
function expertsBackward(builder: Builder, ffn: MoeFfn, dyg: string, input: string, scatter: () => void): void {
  const { dims } = builder;
  const chosen = dim('t', ffn.topK);
  builder.declare('dce', [dims.sWhole, dims.b, chosen, dims.h]);
  builder.declare('drw', [dims.sWhole, dims.b, chosen], { dtype: 'fp32', partial: overTensor });
  builder.declare('drl', [dims.sWhole, dims.b, dim('e', ffn.experts)], { dtype: 'fp32', partial: overTensor });
  builder.declare('dge', [dims.sWhole, dims.b, chosen, dims.f]);
  builder.declare('df', [dims.sWhole, dims.b, chosen, dims.fIn]);
  builder.declare('dxe', [dims.sWhole, dims.b, chosen, dims.h], { partial: overTensor });
  builder.compute('combine.dx', [dyg, 'ce', 'rw'], ['dce', 'drw']);
  builder.compute('topk.dx', ['drw', 'rw', 'ri'], ['drl']);
  builder.compute('gemm.dw', ['drl', input], ['G.router.w+=']);
  builder.compute('grouped-gemm.dx', ['dce', 'experts.fc2.w', 'ri'], ['dge']);
  builder.compute('grouped-gemm.dw', ['dce', 'ge', 'ri'], ['G.experts.fc2.w+=']);
  activateBackward(builder, ffn, 'dge', 'f', 'df');
  builder.compute('grouped-gemm.dx', ['df', 'experts.fc1.w', 'ri'], ['dxe']);
  builder.compute('dispatch.dx', ['dxe', 'ri'], ['dn2g']);
  builder.compute('gemm.dx', ['drl', 'router.w'], ['dn2g+=']);
  scatter();
  builder.compute('grouped-gemm.dw', ['df', 'xe', 'ri'], ['G.experts.fc1.w+=']);
}
