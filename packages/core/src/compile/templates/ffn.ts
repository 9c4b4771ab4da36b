/** @file The feed-forward half of a layer between its gathered input and its partial output: dense or experts. */
import type { DenseFfn, MoeFfn } from '../../model/index.ts';
import type { DType } from '../../tensor/index.ts';
import { type BlockContext, dim } from '../context.ts';
import { adapt, adaptInputBackward, adaptWeightBackward } from './adapter.ts';
import { branchFactor } from './branch.ts';
import { type Builder, overTensor } from './builder.ts';
import {
  declareWeightGradient,
  outputWeights,
  route,
  routeBackward,
  routedInput,
  routedInputBackward,
} from './router.ts';
import { sharedExperts, sharedExpertsBackward } from './shared-experts.ts';

/** Type of the normalised input: narrow where only products read it; a router reads it as it is. */
export const feedType = ({ layer, type, kept }: BlockContext): DType => (layer.ffn.kind === 'moe' ? type : kept);

/** `input` (whole sequence) -> `c`, partial over tensor; or added into `into` where another branch has written it. */
export function feedForward(builder: Builder, input: string, into: string = 'c'): void {
  const { ffn } = builder.context.layer;
  const { dims } = builder;
  if (into === 'c') builder.declare('c', [dims.sWhole, dims.b, dims.h], { role: 'exchange', partial: overTensor });
  if (ffn.kind === 'moe') return experts(builder, ffn, input, into);
  builder.declare('f', [dims.sWhole, dims.b, dims.fIn]);
  builder.declare('ge', [dims.sWhole, dims.b, dims.f], { dtype: builder.context.kept });
  builder.compute('gemm', [input, 'fc1.w', ffn.bias ? 'fc1.b' : 'none'], ['f']);
  adapt(builder, 'fc1', input, 'f');
  activate(builder, ffn, 'f', 'ge');
  builder.compute('gemm', ['ge', 'fc2.w', 'none'], [into === 'c' ? 'c' : `${into}+=`], branchFactor(builder));
  adapt(builder, 'fc2', 'ge', into);
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
  adaptInputBackward(builder, 'fc2', dyg, 'dge');
  builder.compute('gemm.dw', [dyg, 'ge'], ['G.fc2.w+='], branchFactor(builder));
  adaptWeightBackward(builder, 'fc2', dyg, 'ge');
  activateBackward(builder, ffn, 'dge', 'f', 'df');
  builder.compute('gemm.dx', ['df', 'fc1.w'], ['dn2g']);
  adaptInputBackward(builder, 'fc1', 'df', 'dn2g');
  scatter();
  builder.compute('gemm.dw', ['df', input], ffn.bias ? ['G.fc1.w+=', 'G.fc1.b+='] : ['G.fc1.w+=']);
  adaptWeightBackward(builder, 'fc1', 'df', input);
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
function experts(builder: Builder, ffn: MoeFfn, input: string, into: string): void {
  const { dims } = builder;
  const chosen = dim('t', ffn.topK);
  const { kept } = builder.context;
  builder.declare('xe', [dims.sWhole, dims.b, chosen, dims.h], { dtype: kept });
  builder.declare('f', [dims.sWhole, dims.b, chosen, dims.fIn]);
  builder.declare('ge', [dims.sWhole, dims.b, chosen, dims.f], { dtype: kept });
  builder.declare('ce', [dims.sWhole, dims.b, chosen, dims.h], { partial: overTensor });
  route(builder, ffn, input, 'all');
  builder.compute('dispatch', [routedInput(builder, ffn, input, 'all'), 'ri'], ['xe']);
  builder.compute('grouped-gemm', ['xe', 'experts.fc1.w', 'ri'], ['f']);
  if (ffn.bias) builder.compute('expert-bias', ['f', 'experts.fc1.b', 'ri'], ['f']);
  activate(builder, ffn, 'f', 'ge');
  builder.compute('grouped-gemm', ['ge', 'experts.fc2.w', 'ri'], ['ce']);
  if (ffn.bias) builder.compute('expert-bias', ['ce', 'experts.fc2.b', 'ri'], ['ce'], shareOfBias(builder));
  builder.compute('combine', ['ce', outputWeights(ffn)], [into === 'c' ? 'c' : `${into}+=`], branchFactor(builder));
  sharedExperts(builder, ffn, input, `${into}+=`);
}

/** What is added to a sum over tensor is added in parts: every rank adds its share of the bias. */
const shareOfBias = ({ context }: Builder) => (context.tensor > 1 ? { factor: 1 / context.tensor } : undefined);

/** The gradient of the router stays partial over tensor (its probabilities meet partial outputs) and joins `dn2g`. */
function expertsBackward(builder: Builder, ffn: MoeFfn, dyg: string, input: string, scatter: () => void): void {
  const { dims } = builder;
  const chosen = dim('t', ffn.topK);
  builder.declare('dce', [dims.sWhole, dims.b, chosen, dims.h]);
  builder.declare('dge', [dims.sWhole, dims.b, chosen, dims.f]);
  builder.declare('df', [dims.sWhole, dims.b, chosen, dims.fIn]);
  builder.declare('dxe', [dims.sWhole, dims.b, chosen, dims.h], { partial: overTensor });
  const weighsInput = ffn.weighs === 'input';
  builder.compute(
    'combine.dx',
    weighsInput ? [dyg] : [dyg, 'ce', 'rw'],
    weighsInput ? ['dce'] : ['dce', declareWeightGradient(builder, ffn, 'all')],
    branchFactor(builder),
  );
  if (!weighsInput) routeBackward(builder, ffn, input, 'all');
  if (ffn.bias) builder.compute('expert-bias.dw', ['dce', 'ri'], ['G.experts.fc2.b+=']);
  builder.compute('grouped-gemm.dx', ['dce', 'experts.fc2.w', 'ri'], ['dge']);
  builder.compute('grouped-gemm.dw', ['dce', 'ge', 'ri'], ['G.experts.fc2.w+=']);
  activateBackward(builder, ffn, 'dge', 'f', 'df');
  if (ffn.bias) builder.compute('expert-bias.dw', ['df', 'ri'], ['G.experts.fc1.b+=']);
  builder.compute('grouped-gemm.dx', ['df', 'experts.fc1.w', 'ri'], ['dxe']);
  builder.compute('dispatch.dx', ['dxe', 'ri'], [weighsInput ? 'dxw' : 'dn2g']);
  if (weighsInput) {
    routedInputBackward(builder, ffn, input, 'dn2g', 'all');
    routeBackward(builder, ffn, input, 'all');
  }
  builder.compute('gemm.dx', ['drl', 'router.w'], ['dn2g+=']);
  sharedExpertsBackward(builder, ffn, dyg, input, 'dn2g+=');
  scatter();
  builder.compute('grouped-gemm.dw', ['df', 'xe', 'ri'], ['G.experts.fc1.w+=']);
}
