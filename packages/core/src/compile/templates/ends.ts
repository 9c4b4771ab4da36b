/** @file The embedding, forward and backward. Vocabulary-parallel when tensor > 1. */
import type { Template } from '../../program/index.ts';
import type { BlockContext } from '../context.ts';
import { type Builder, createBuilder, type Declarations, overTensor, scaled } from './builder.ts';
import { norm, normBackward } from './norm.ts';

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
