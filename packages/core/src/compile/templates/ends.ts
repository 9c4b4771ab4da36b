/** @file The two ends of a model: embedding, and final norm with head and loss. Vocabulary-parallel when tensor > 1. */
import type { Template } from '../../program/index.ts';
import type { BlockContext } from '../context.ts';
import { type Builder, createBuilder, type Declarations, overTensor } from './builder.ts';
import { norm, normBackward } from './norm.ts';

/** Factor of the embedding, where the model has one. */
const scaled = (factor: number | undefined) => (factor === undefined ? undefined : { factor });

export function embedForward(context: BlockContext, declarations: Declarations): Template {
  const builder = createBuilder(context, declarations, 'micro');
  const { dims, compute, declare } = builder;
  const positions = context.model.learnedPositions !== undefined;
  const scale = scaled(context.model.embeddingScale);
  declare('tokens', [dims.sWhole, dims.b], { role: 'input', dtype: 'int32' });
  declare('x', [dims.s, dims.b, dims.h], { scope: 'boundary' });
  if (positions || context.sequenceParallel) {
    declare('e', [dims.sWhole, dims.b, dims.h], { role: 'exchange', partial: overTensor });
    compute('embedding', ['tokens', 'wte'], ['e'], scale);
    const embedded = builder.reduce('e', positions ? 'es' : 'y');
    if (positions) compute('position', [embedded, 'wpe'], ['y']);
  } else {
    compute('embedding', ['tokens', 'wte'], ['y'], scale);
    builder.allReduce('y', 'sum', 'sum-partial');
  }
  return { name: 'F.embed', block: 'embed', direction: 'forward', operations: builder.operations };
}

export function embedBackward(context: BlockContext, declarations: Declarations): Template {
  const builder = createBuilder(context, declarations, 'micro');
  const gradient = builder.gather('dy', 'dxg');
  if (context.model.learnedPositions !== undefined) builder.compute('position.dw', ['dy'], ['G.wpe+=']);
  builder.compute('embedding.dw', ['tokens', gradient], ['G.wte+='], scaled(context.model.embeddingScale));
  return { name: 'B.embed', block: 'embed', direction: 'backward', operations: builder.operations };
}

const outputMatrix = (context: BlockContext): string => (context.model.tied ? 'wte' : 'lm.w');

export function headForward(context: BlockContext, declarations: Declarations): Template {
  const builder = createBuilder(context, declarations, 'micro');
  const { dims, compute, declare } = builder;
  const token = [dims.sWhole, dims.b];
  norm(builder, 'x', 'lnf', 'nf', 'stf');
  const input = builder.gather('nf', 'nfg');
  declareLoss(builder);
  const { headBias, logitScale } = context.model;
  compute('gemm', [input, outputMatrix(context), headBias ? 'lm.b' : 'none'], ['z'], scaled(logitScale));
  if (context.model.logitCap !== undefined) compute('cap', ['z'], ['z'], { cap: context.model.logitCap });
  declare('mx', token, { dtype: 'fp32', partial: [{ over: 'tensor', reduce: 'max' }] });
  declare('se', token, { dtype: 'fp32', partial: overTensor });
  declare('tl', token, { dtype: 'fp32', partial: overTensor });
  compute('rowmax', ['z'], ['mx']);
  builder.allReduce('mx', 'max', 'vocabulary-parallel');
  compute('rowsumexp', ['z', 'mx', 'labels'], ['se', 'tl']);
  builder.allReduce('se', 'sum', 'vocabulary-parallel');
  builder.allReduce('tl', 'sum', 'vocabulary-parallel');
  compute('nll', ['mx', 'se', 'tl', 'scale'], ['loss+=']);
  return { name: 'F.head', block: 'head', direction: 'forward', operations: builder.operations };
}

/** The head keeps its gathered input: one micro-batch lives at a time on the last stage, so no second gather. */
export function headBackward(context: BlockContext, declarations: Declarations): Template {
  const builder = createBuilder(context, declarations, 'micro');
  const { dims, compute, declare } = builder;
  const input = context.sequenceParallel ? 'nfg' : 'nf';
  declare('dz', [dims.sWhole, dims.b, dims.v], { role: 'logits', dtype: 'fp32' });
  declare('dnfg', [dims.sWhole, dims.b, dims.h], { role: 'exchange', partial: overTensor });
  declare('dx', [dims.s, dims.b, dims.h], { scope: 'boundary' });
  compute('cross-entropy.dx', ['z', 'mx', 'se', 'labels', 'scale'], ['dz']);
  const { headBias, logitScale, logitCap } = context.model;
  if (logitCap !== undefined) compute('cap.dx', ['dz', 'z'], ['dz'], { cap: logitCap });
  compute('gemm.dx', ['dz', outputMatrix(context)], ['dnfg'], scaled(logitScale));
  const dnf = builder.reduce('dnfg', 'dnf');
  const gradients = [`G.${outputMatrix(context)}+=`, ...(headBias ? ['G.lm.b+='] : [])];
  compute('gemm.dw', ['dz', input], gradients, scaled(logitScale));
  normBackward(builder, { gradient: dnf, input: 'x', parameter: 'lnf', stats: 'stf', residual: 'none', to: 'dx' });
  return { name: 'B.head', block: 'head', direction: 'backward', operations: builder.operations };
}

function declareLoss(builder: Builder): void {
  const { dims, declare } = builder;
  declare('labels', [dims.sWhole, dims.b], { role: 'input', dtype: 'int32' });
  declare('z', [dims.sWhole, dims.b, dims.v], { role: 'logits', dtype: 'fp32' });
  declare('x', [dims.s, dims.b, dims.h], { scope: 'boundary' });
}
