/** @file The core of attention between the fused projection and the output product, forward and backward. */
import { dim } from '../context.ts';
import type { Builder } from './builder.ts';

const attributesOf = (builder: Builder) => {
  const { heads, kvHeads, headSize } = builder.context.layer.attention;
  return { heads, kvHeads, headSize };
};

/** The cap of scores, and the window where sequences are longer. */
function coreAttributes(builder: Builder) {
  const { scoreCap: cap, window } = builder.context.layer.attention;
  return { ...attributesOf(builder), ...(window !== undefined && { window }), ...(cap !== undefined && { cap }) };
}

/** Base of the frequencies; `turned` where only a part of each head has positions. */
function ropeAttributes(builder: Builder) {
  const { rotary, headSize } = builder.context.layer.attention;
  const turned = rotary?.fraction === undefined ? undefined : Math.round(rotary.fraction * headSize);
  return { ...attributesOf(builder), theta: rotary?.theta ?? 0, ...(turned !== undefined && { turned }) };
}

/** The kernel of norms of queries and keys: head by head, or over all heads. */
const queryKeyNormOf = ({ context }: Builder): 'qk-norm' | 'qk-norm-all' | undefined => {
  const { attention } = context.layer;
  if (attention.kind !== 'grouped-query' || attention.queryKeyNorm === undefined) return undefined;
  return attention.queryKeyNorm === 'head' ? 'qk-norm' : 'qk-norm-all';
};

/** Norms of queries and keys in place; what they were is kept for backward. */
function queryKeyNorm(builder: Builder, kernel: 'qk-norm' | 'qk-norm-all'): void {
  const { dims, context } = builder;
  const { heads, kvHeads, headSize } = context.layer.attention;
  const parts = [heads * headSize, kvHeads * headSize];
  const kept = dim('qk', (heads + kvHeads) * headSize, 'tensor', context.tensor, parts);
  const each =
    kernel === 'qk-norm' ? dim('a', heads + kvHeads, 'tensor', context.tensor, [heads, kvHeads]) : dim('2', 2);
  builder.declare('qkr', [dims.sWhole, dims.b, kept]);
  builder.declare('stq', [each, dims.sWhole, dims.b], { dtype: 'fp32' });
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
  builder.declare('o', [dims.sWhole, dims.b, dims.o]);
  if (context.attention === 'flash') {
    builder.declare('lse', [dims.heads, dims.sWhole, dims.b], { dtype: 'fp32' });
    builder.compute('attention', ['qkv'], ['o', 'lse'], attributes);
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
  if (context.attention === 'flash') {
    builder.compute('attention.dx', ['do', 'qkv', 'o', 'lse'], ['dqkv'], attributes);
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
    builder.compute('softmax.dx', ['dpr', 'pr'], ['dsc']);
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
  builder.compute('softmax', ['sc'], ['pr'], undefined, rule);
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
