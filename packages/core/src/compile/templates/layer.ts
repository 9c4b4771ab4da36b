/** @file One layer, forward and backward. Row-parallel biases are added after the exchange, on the sequence shard. */
import type { Template } from '../../program/index.ts';
import type { BlockContext } from '../context.ts';
import { attentionCore, attentionCoreBackward, declareQkv } from './attention.ts';
import { type Builder, createBuilder, type Declarations, overTensor } from './builder.ts';
import { feedForward, feedForwardBackward } from './ffn.ts';
import { norm, normBackward } from './norm.ts';

export function layerForward(context: BlockContext, declarations: Declarations): Template {
  const builder = createBuilder(context, declarations, 'block');
  const { dims, compute, declare } = builder;
  const { attention, ffn } = context.layer;
  declare('x', [dims.s, dims.b, dims.h], { scope: 'boundary' });
  norm(builder, 'x', 'ln1', 'n1', 'st1');
  const input = builder.gather('n1', 'n1g');
  declareQkv(builder);
  compute('gemm', [input, 'qkv.w', attention.qkvBias ? 'qkv.b' : 'none'], ['qkv']);
  attentionCore(builder);
  declare('a', [dims.sWhole, dims.b, dims.h], { role: 'exchange', partial: overTensor });
  compute('gemm', ['o', 'proj.w', 'none'], ['a']);
  const attended = builder.reduce('a', 'as');
  declare('r', [dims.s, dims.b, dims.h]);
  addResidual(builder, attended, attention.outBias ? 'proj.b' : 'none', 'x', 'r', 'mk1');
  norm(builder, 'r', 'ln2', 'n2', 'st2');
  feedForward(builder, builder.gather('n2', 'n2g'));
  const fed = builder.reduce('c', 'cs');
  addResidual(builder, fed, ffn.kind === 'dense' && ffn.bias ? 'fc2.b' : 'none', 'r', 'y', 'mk2');
  return { name: 'F.layer', block: 'layer', direction: 'forward', operations: builder.operations };
}

export function layerBackward(context: BlockContext, declarations: Declarations): Template {
  const builder = createBuilder(context, declarations, 'block');
  const { dims, compute, declare } = builder;
  const { attention, ffn } = context.layer;
  const shard = [dims.s, dims.b, dims.h];
  declare('dx', shard, { scope: 'boundary' });
  declare('dr', shard);

  const dc = droppedGradient(builder, 'dy', 'mk2', 'dyd');
  const dyg = builder.gather(dc, 'dyg');
  const n2 = gatheredInput(builder, 'n2');
  if (ffn.kind === 'dense' && ffn.bias) compute('bias.dw', [dc], ['G.fc2.b+=']);
  let dn2 = 'dn2g';
  feedForwardBackward(builder, dyg, n2, () => {
    dn2 = builder.reduce('dn2g', 'dn2');
  });
  normBackward(builder, { gradient: dn2, input: 'r', parameter: 'ln2', stats: 'st2', residual: 'dy', to: 'dr' });

  const da = droppedGradient(builder, 'dr', 'mk1', 'drd');
  const drg = builder.gather(da, 'drg');
  const n1 = gatheredInput(builder, 'n1');
  if (attention.outBias) compute('bias.dw', [da], ['G.proj.b+=']);
  compute('gemm.dx', [drg, 'proj.w'], ['do']);
  compute('gemm.dw', [drg, 'o'], ['G.proj.w+=']);
  attentionCoreBackward(builder);
  declare('dn1g', [dims.sWhole, dims.b, dims.h], { role: 'exchange', partial: overTensor });
  compute('gemm.dx', ['dqkv', 'qkv.w'], ['dn1g']);
  const dn1 = builder.reduce('dn1g', 'dn1');
  compute('gemm.dw', ['dqkv', n1], attention.qkvBias ? ['G.qkv.w+=', 'G.qkv.b+='] : ['G.qkv.w+=']);
  normBackward(builder, { gradient: dn1, input: 'x', parameter: 'ln1', stats: 'st1', residual: 'dr', to: 'dx' });
  return { name: 'B.layer', block: 'layer', direction: 'backward', operations: builder.operations };
}

function addResidual(builder: Builder, branch: string, bias: string, residual: string, to: string, mask: string): void {
  const { context, dims } = builder;
  if (context.dropout === 0) return builder.compute('add', [branch, bias, residual], [to]);
  builder.declare(mask, [dims.s, dims.b, dims.h], { dtype: 'u8' });
  const site = mask === 'mk1' ? 'projection' : 'ffn';
  builder.compute('dropout-add', [branch, bias, residual], [to, mask], { p: context.dropout, site });
}

/** The gradient of a branch behind its dropout: the residual's own gradient where there is none. */
function droppedGradient(builder: Builder, gradient: string, mask: string, to: string): string {
  const { context, dims } = builder;
  if (context.dropout === 0) return gradient;
  builder.declare(to, [dims.s, dims.b, dims.h]);
  builder.compute('dropout.dx', [gradient, mask], [to], { p: context.dropout });
  return to;
}

/** The whole-sequence input of a column-parallel product: kept by forward, or gathered once more. */
function gatheredInput(builder: Builder, input: 'n1' | 'n2'): string {
  const { context } = builder;
  if (!context.sequenceParallel) return input;
  return context.keepGathered ? `${input}g` : builder.gather(input, `${input}h`, 'gather-again');
}
