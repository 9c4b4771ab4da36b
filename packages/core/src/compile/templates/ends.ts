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
  const { learnedPositions, embeddingNorm, embeddingScale } = context.model;
  const positions = learnedPositions !== undefined;
  const scale = scaled(embeddingScale);
  declare('tokens', [dims.sWhole, dims.b], { role: 'input', dtype: 'int32' });
  declare('x', [dims.s, dims.b, dims.h], { scope: 'boundary' });
  if (positions || embeddingNorm || context.sequenceParallel) {
    declare('e', [dims.sWhole, dims.b, dims.h], { role: 'exchange', partial: overTensor });
    compute('embedding', ['tokens', 'wte'], ['e'], scale);
    const embedded = builder.reduce('e', positions || embeddingNorm ? 'es' : 'y');
    const placed = positions && embeddingNorm ? declare('ep', [dims.s, dims.b, dims.h]) : 'y';
    if (positions) compute('position', [embedded, 'wpe'], [placed]);
    if (embeddingNorm) norm(builder, positions ? placed : embedded, 'lne', 'y', 'ste');
  } else {
    compute('embedding', ['tokens', 'wte'], ['y'], scale);
    builder.allReduce('y', 'sum', 'sum-partial');
  }
  return { name: 'F.embed', block: 'embed', direction: 'forward', operations: builder.operations };
}

export function embedBackward(context: BlockContext, declarations: Declarations): Template {
  const builder = createBuilder(context, declarations, 'micro');
  const { learnedPositions, embeddingNorm } = context.model;
  const inner = embeddingNorm ? embeddingNormBackward(builder) : 'dy';
  const gradient = builder.gather(inner, 'dxg');
  if (learnedPositions !== undefined) builder.compute('position.dw', [inner], ['G.wpe+=']);
  builder.compute('embedding.dw', ['tokens', gradient], ['G.wte+='], scaled(context.model.embeddingScale));
  return { name: 'B.embed', block: 'embed', direction: 'backward', operations: builder.operations };
}

/** Gradient of what the norm behind the embedding reads; gives its name. */
function embeddingNormBackward(builder: Builder): string {
  const { context, dims } = builder;
  const to = builder.declare('de', [dims.s, dims.b, dims.h]);
  const summed = context.sequenceParallel ? 'es' : 'e';
  const input = context.model.learnedPositions === undefined ? summed : 'ep';
  normBackward(builder, { gradient: 'dy', input, parameter: 'lne', stats: 'ste', residual: 'none', to });
  return to;
}

const outputMatrix = (context: BlockContext): string => (context.model.tied ? 'wte' : 'lm.w');

/** Factor of the logits, their bias included. */
const logitFactor = ({ model: { logitScale, headBias } }: BlockContext) =>
  logitScale === undefined ? undefined : { factor: logitScale, ...(headBias && { scalesBias: 1 }) };

export function headForward(context: BlockContext, declarations: Declarations): Template {
  const builder = createBuilder(context, declarations, 'micro');
  const { dims, compute, declare } = builder;
  const token = [dims.sWhole, dims.b];
  norm(builder, 'x', 'lnf', 'nf', 'stf');
  const input = builder.gather('nf', 'nfg');
  declareLoss(builder);
  const { headBias } = context.model;
  compute('gemm', [input, outputMatrix(context), headBias ? 'lm.b' : 'none'], ['z'], logitFactor(context));
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
  const { headBias, logitCap } = context.model;
  if (logitCap !== undefined) compute('cap.dx', ['dz', 'z'], ['dz'], { cap: logitCap });
  compute('gemm.dx', ['dz', outputMatrix(context)], ['dnfg'], logitFactor(context));
  const dnf = builder.reduce('dnfg', 'dnf');
  const gradients = [`G.${outputMatrix(context)}+=`, ...(headBias ? ['G.lm.b+='] : [])];
  compute('gemm.dw', ['dz', input], gradients, logitFactor(context));
  normBackward(builder, { gradient: dnf, input: 'x', parameter: 'lnf', stats: 'stf', residual: 'none', to: 'dx' });
  return { name: 'B.head', block: 'head', direction: 'backward', operations: builder.operations };
}

function declareLoss(builder: Builder): void {
  const { dims, declare } = builder;
  declare('labels', [dims.sWhole, dims.b], { role: 'input', dtype: 'int32' });
  declare('z', [dims.sWhole, dims.b, dims.v], { role: 'logits', dtype: 'fp32' });
  declare('x', [dims.s, dims.b, dims.h], { scope: 'boundary' });
}
