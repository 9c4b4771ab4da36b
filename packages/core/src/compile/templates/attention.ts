/** @file The core of attention between the fused projection and the output product, forward and backward. */
import type { QueryKeyNorm } from '../../model/index.ts';
import { dim } from '../context.ts';
import type { Builder } from './builder.ts';
import { contextBackward, contextForward } from './context-attention.ts';

const attributesOf = (builder: Builder) => {
  const { heads, kvHeads, headSize } = builder.context.layer.attention;
  return { heads, kvHeads, headSize };
};

/** What the scores are under: their cap, a window where sequences are longer, linear biases, sinks. */
function coreAttributes(builder: Builder) {
  const { attention } = builder.context.layer;
  const { scoreCap: cap, window, chunked, alibi } = attention;
  return {
    ...attributesOf(builder),
    ...(window !== undefined && { window }),
    ...(chunked && { chunked: 1 }),
    ...(cap !== undefined && { cap }),
    ...(alibi && { alibi: 1 }),
    ...(hasSinks(builder) && { sinks: 1 }),
  };
}

/** Base of the frequencies; `turned` where only a part of each head has positions. */
function ropeAttributes(builder: Builder) {
  const { rotary, headSize } = builder.context.layer.attention;
  const turned = rotary?.fraction === undefined ? undefined : Math.round(rotary.fraction * headSize);
  return { ...attributesOf(builder), theta: rotary?.theta ?? 0, ...(turned !== undefined && { turned }) };
}

const hasSinks = ({ context }: Builder): boolean => {
  const { attention } = context.layer;
  return attention.kind === 'grouped-query' && attention.sinks === true;
};

type NormKernel = 'qk-norm' | 'qk-norm-heads' | 'qk-norm-all';

const normKernels: Readonly<Record<QueryKeyNorm, NormKernel>> = {
  head: 'qk-norm',
  heads: 'qk-norm-heads',
  projection: 'qk-norm-all',
};

/** The kernel of norms of queries and keys: head by head, or over all heads. */
const queryKeyNormOf = ({ context }: Builder): NormKernel | undefined => {
  const { attention } = context.layer;
  if (attention.kind !== 'grouped-query' || attention.queryKeyNorm === undefined) return undefined;
  return normKernels[attention.queryKeyNorm];
};

/** Norms of queries and keys in place; what they were is kept for backward. */
function queryKeyNorm(builder: Builder, kernel: NormKernel): void {
  const { dims, context } = builder;
  const { heads, kvHeads, headSize } = context.layer.attention;
  const parts = [heads * headSize, kvHeads * headSize];
  const kept = dim('qk', (heads + kvHeads) * headSize, 'tensor', context.tensor, parts);
  const each = dim('a', heads + kvHeads, 'tensor', context.tensor, [heads, kvHeads]);
  const two = dim('2', 2);
  const statistics = { 'qk-norm': [each], 'qk-norm-heads': [each, two], 'qk-norm-all': [two] }[kernel];
  builder.declare('qkr', [dims.sWhole, dims.b, kept]);
  builder.declare('stq', [...statistics, dims.sWhole, dims.b], { dtype: 'fp32' });
  const attributes = { ...attributesOf(builder), epsilon: context.model.normEpsilon };
  builder.compute(kernel, ['qkv', 'qn.w', 'kn.w'], ['qkv', 'qkr', 'stq'], attributes);
}

/** qkv -> o. Blockwise attention keeps `lse` only; unfused attention keeps probabilities and their dropout. */
export function attentionCore(builder: Builder): void {
  const { dims, context } = builder;
  const { rotary } = context.layer.attention;
  const attributes = coreAttributes(builder);
  const normed = queryKeyNormOf(builder);
  if (normed) queryKeyNorm(builder, normed);
  if (rotary) builder.compute('rope', ['qkv'], ['qkv'], ropeAttributes(builder));
  if (context.context > 1) return contextForward(builder, attributes);
  builder.declare('o', [dims.sWhole, dims.b, dims.o]);
  if (context.attention === 'flash') {
    builder.declare('lse', [dims.heads, dims.sWhole, dims.b], { dtype: 'fp32' });
    builder.compute('attention', hasSinks(builder) ? ['qkv', 'sinks'] : ['qkv'], ['o', 'lse'], attributes);
    return;
  }
  const probabilities = scores(builder, 'model');
  builder.compute('context', [probabilities, 'qkv'], ['o'], attributes);
}

/** do -> dqkv. Selective recomputation makes the probabilities again instead of keeping them. */
export function attentionCoreBackward(builder: Builder): void {
  const { dims, context } = builder;
  const { rotary } = context.layer.attention;
  const attributes = coreAttributes(builder);
  builder.declare('dqkv', [dims.sWhole, dims.b, dims.qkv]);
  if (context.context > 1) {
    contextBackward(builder, attributes);
  } else if (context.attention === 'flash') {
    const [reads, writes] = hasSinks(builder) ? [['sinks'], ['G.sinks+=']] : [[], []];
    builder.compute('attention.dx', ['do', 'qkv', 'o', 'lse', ...reads], ['dqkv', ...writes], attributes);
  } else {
    const again = context.recompute === 'selective';
    const dropped = context.dropout > 0;
    const probabilities = again ? scores(builder, 'recompute') : dropped ? 'pd' : 'pr';
    builder.declare('dpr', scoreDims(builder));
    builder.declare('dsc', scoreDims(builder));
    if (dropped) {
      builder.declare('dpd', scoreDims(builder));
      builder.compute('context.dx', ['do', probabilities, 'qkv'], ['dpd', 'dqkv'], attributes);
      builder.compute('dropout.dx', ['dpd', 'mka'], ['dpr'], { p: context.dropout });
    } else {
      builder.compute('context.dx', ['do', probabilities, 'qkv'], ['dpr', 'dqkv'], attributes);
    }
    if (hasSinks(builder)) builder.compute('softmax-sinks.dx', ['dpr', 'pr'], ['dsc', 'G.sinks+=']);
    else builder.compute('softmax.dx', ['dpr', 'pr'], ['dsc']);
    builder.compute('scores.dx', ['dsc', 'qkv'], ['dqkv+='], attributes);
  }
  if (rotary) builder.compute('rope.dx', ['dqkv'], ['dqkv'], ropeAttributes(builder));
  const normed = queryKeyNormOf(builder);
  if (!normed) return;
  const gradients = ['dqkv', 'G.qn.w+=', 'G.kn.w+='];
  builder.compute(`${normed}.dx`, ['dqkv', 'qkr', 'stq', 'qn.w', 'kn.w'], gradients, attributesOf(builder));
}

const scoreDims = ({ dims }: Builder) => [dims.heads, dims.b, dims.sWhole, dims.sWhole];

/** Writes scores, probabilities and their dropout; gives the name of what the value product reads. */
function scores(builder: Builder, rule: 'model' | 'recompute'): string {
  const { context } = builder;
  builder.declare('sc', scoreDims(builder));
  builder.declare('pr', scoreDims(builder));
  builder.compute('scores', ['qkv'], ['sc'], coreAttributes(builder), rule);
  if (hasSinks(builder)) builder.compute('softmax-sinks', ['sc', 'sinks'], ['pr'], undefined, rule);
  else builder.compute('softmax', ['sc'], ['pr'], undefined, rule);
  if (context.dropout === 0) return 'pr';
  builder.declare('pd', scoreDims(builder));
  builder.declare('mka', scoreDims(builder), { dtype: 'u8' });
  builder.compute('dropout', ['pr'], ['pd', 'mka'], { p: context.dropout, site: 'attention' }, rule);
  return 'pd';
}

/** Declares the fused projection's output. */
export function declareQkv(builder: Builder): void {
  const { dims } = builder;
  builder.declare('qkv', [dims.sWhole, dims.b, dims.qkv]);
  builder.declare('do', [dims.sWhole, dims.b, dim('o', dims.o.size, 'tensor', builder.context.tensor)]);
}
