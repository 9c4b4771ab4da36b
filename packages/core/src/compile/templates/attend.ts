/** @file The attention half of a layer from its gathered input to its partial output, and back. */
import { adapt, adaptInputBackward, adaptWeightBackward } from './adapter.ts';
import { attentionCore, attentionCoreBackward, declareQkv } from './attention.ts';
import { branchFactor } from './branch.ts';
import { type Builder, overTensor } from './builder.ts';

/** `input` (whole sequence) -> `a`, partial over tensor. */
export function attend(builder: Builder, input: string): void {
  const { dims, compute, declare } = builder;
  declareQkv(builder);
  compute('gemm', [input, 'qkv.w', builder.context.layer.attention.qkvBias ? 'qkv.b' : 'none'], ['qkv']);
  adapt(builder, 'qkv', input, 'qkv');
  attentionCore(builder);
  declare('a', [dims.sWhole, dims.b, dims.h], { role: 'exchange', partial: overTensor });
  const attended = builder.narrow('o', 'oq');
  compute('gemm', [attended, 'proj.w', 'none'], ['a'], branchFactor(builder));
  adapt(builder, 'proj', attended, 'a');
}

/** Gradient `dag` of the output (whole sequence) -> gradient of the input, whole again; gives its name. Where `into` has
 * the gradient of another branch with the same input, this one is added to it before the one exchange of both.
 */
export function attendBackward(builder: Builder, dag: string, input: string, into?: 'dn2g'): string {
  const { dims, compute, declare } = builder;
  const { qkvBias } = builder.context.layer.attention;
  compute('gemm.dx', [dag, 'proj.w'], ['do'], branchFactor(builder));
  adaptInputBackward(builder, 'proj', dag, 'do');
  compute('gemm.dw', [dag, keptOutput(builder)], ['G.proj.w+='], branchFactor(builder));
  adaptWeightBackward(builder, 'proj', dag, keptOutput(builder));
  attentionCoreBackward(builder);
  if (into === undefined) declare('dn1g', [dims.sWhole, dims.b, dims.h], { role: 'exchange', partial: overTensor });
  compute('gemm.dx', ['dqkv', 'qkv.w'], [into === undefined ? 'dn1g' : `${into}+=`]);
  adaptInputBackward(builder, 'qkv', 'dqkv', into ?? 'dn1g');
  const dn1 = builder.reduce(into ?? 'dn1g', 'dn1');
  compute('gemm.dw', ['dqkv', input], qkvBias ? ['G.qkv.w+=', 'G.qkv.b+='] : ['G.qkv.w+=']);
  adaptWeightBackward(builder, 'qkv', 'dqkv', input);
  return dn1;
}

/** The output of attention as the product behind it has kept it. */
export const keptOutput = ({ context: { type, kept } }: Builder): 'o' | 'oq' => (type === kept ? 'o' : 'oq');

/** The whole-sequence input of a column-parallel product: kept by forward, or gathered once more. */
export function gatheredInput(builder: Builder, input: 'n1' | 'n2' | 'x' | 'r'): string {
  const { context } = builder;
  if (!context.sequenceParallel) return input;
  return context.keepGathered ? `${input}g` : builder.gather(input, `${input}h`, 'gather-again');
}
