/** @file Latent attention (MLA): keys, values and, in most models, queries are made from narrow vectors.
 *
 * The narrow products are whole on every tensor rank and work on the rank's own tokens; what is gathered over the sequence
 * is narrow, not the hidden state. The products that widen them are cut by heads. So backward sums the gradients of the
 * narrow vectors over tensor, and what comes out of it is complete. Source: Megatron-LM,
 * megatron/core/transformer/multi_latent_attention.py (from memory); [deepseek2024], section 2.1.
 */
import type { LatentAttention } from '../../model/index.ts';
import type { WhyRule } from '../../program/index.ts';
import type { Dim } from '../../tensor/index.ts';
import { dim } from '../context.ts';
import { keptOutput } from './attend.ts';
import { branchFactor } from './branch.ts';
import { type Builder, overTensor } from './builder.ts';

interface Latent {
  readonly spec: LatentAttention;
  readonly query: Dim;
  /** The narrow query; absent where queries come straight from the hidden state. */
  readonly narrow: Dim | undefined;
  readonly down: Dim;
  readonly kept: Dim;
  readonly rope: Dim;
  readonly keyValue: Dim;
  readonly out: Dim;
}

function latentOf({ context }: Builder): Latent {
  const { attention: spec } = context.layer;
  if (spec.kind !== 'latent') throw new Error('internal: no latent attention in this layer.');
  const { heads, headSize, queryRank, keyValueRank, nopeSize, ropeSize, valueSize } = spec;
  const { tensor } = context;
  return {
    spec,
    query: dim('q', heads * headSize, 'tensor', tensor),
    narrow: queryRank === undefined ? undefined : dim('r', queryRank),
    down: dim('l', keyValueRank + ropeSize),
    kept: dim('c', keyValueRank),
    rope: dim('d', ropeSize),
    keyValue: dim('kv', heads * (nopeSize + valueSize), 'tensor', tensor),
    out: dim('o', heads * valueSize, 'tensor', tensor),
  };
}

const ropeAttributes = ({ spec }: Latent, nopeSize: number) => ({
  nopeSize,
  ropeSize: spec.ropeSize,
  theta: spec.rotary?.theta ?? 0,
});

const coreAttributes = ({ spec: { heads, nopeSize, ropeSize, valueSize } }: Latent) => ({
  heads,
  nopeSize,
  ropeSize,
  valueSize,
});

/** `input` (the rank's own tokens) -> `a`, partial over tensor. */
export function latentAttend(builder: Builder, input: 'n1'): void {
  const { dims, compute, declare } = builder;
  const latent = latentOf(builder);
  const queried = narrowQuery(builder, latent, input);
  narrowKeys(builder, latent, input);
  const keys = builder.gather('kc', 'kcg', 'gather-sequence', latent.kept);
  const turned = builder.gather('kr', 'krg', 'gather-sequence', latent.rope);
  widen(builder, latent, queried, keys, 'model');
  declare('krt', [dims.sWhole, dims.b, latent.rope]);
  compute('rope-part', [turned], ['krt'], ropeAttributes(latent, 0));
  declare('o', [dims.sWhole, dims.b, latent.out]);
  declare('lse', [dims.heads, dims.sWhole, dims.b], { dtype: 'fp32' });
  compute('latent-attention', ['qw', 'kv', 'krt'], ['o', 'lse'], coreAttributes(latent));
  declare('a', [dims.sWhole, dims.b, dims.h], { role: 'exchange', partial: overTensor });
  compute('gemm', [builder.narrow('o', 'oq'), 'proj.w', 'none'], ['a'], branchFactor(builder));
}

/** What queries are widened from, of the whole sequence. */
function narrowQuery(builder: Builder, { narrow, spec }: Latent, input: string): string {
  const { dims, compute, declare, context } = builder;
  if (narrow === undefined) return builder.gather(input, `${input}g`);
  const shard = [dims.s, dims.b, narrow];
  compute('gemm', [input, 'qa.w', spec.qkvBias ? 'qa.b' : 'none'], [declare('ql', shard)]);
  declare('stl', [dim('1', 1), dims.s, dims.b], { dtype: 'fp32' });
  compute('rmsnorm', ['ql', 'qan.w'], [declare('qn', shard, { dtype: context.kept }), 'stl'], {
    epsilon: context.model.normEpsilon,
  });
  return builder.gather('qn', 'qng', 'gather-sequence', narrow);
}

/** The narrow keys and values `kc`, normalised, and the rotary part of the key `kr`. */
function narrowKeys(builder: Builder, { down, kept, rope, spec }: Latent, input: string): void {
  const { dims, compute, declare, context } = builder;
  const shard = (width: Dim): readonly Dim[] => [dims.s, dims.b, width];
  compute('gemm', [input, 'kva.w', spec.qkvBias ? 'kva.b' : 'none'], [declare('kl', shard(down))]);
  declare('stk', [dim('1', 1), dims.s, dims.b], { dtype: 'fp32' });
  const written = [declare('kc', shard(kept)), declare('kr', shard(rope)), 'stk'];
  compute('latent-norm', ['kl', 'kvan.w'], written, { epsilon: context.model.normEpsilon });
}

/** Queries `qw` with their positions, and keys and values `kv`, of the rank's heads. */
function widen(builder: Builder, latent: Latent, queried: string, keys: string, rule: WhyRule): void {
  const { dims, compute, declare } = builder;
  declare('qw', [dims.sWhole, dims.b, latent.query]);
  declare('kv', [dims.sWhole, dims.b, latent.keyValue]);
  compute('gemm', [queried, 'q.w', 'none'], ['qw'], undefined, rule);
  compute('rope-part', ['qw'], ['qw'], ropeAttributes(latent, latent.spec.nopeSize), rule);
  compute('gemm', [keys, 'kvb.w', 'none'], ['kv'], undefined, rule);
}

/** Gradient `dag` of the output (whole sequence) -> gradient of the rank's own input, complete; gives its name. Selective
 * recomputation widens the narrow vectors again instead of keeping what comes out.
 */
export function latentAttendBackward(builder: Builder, dag: string, input: 'n1'): string {
  const { dims, compute, declare, context } = builder;
  const latent = latentOf(builder);
  const whole = (width: Dim): readonly Dim[] => [dims.sWhole, dims.b, width];
  declare('do', whole(latent.out));
  compute('gemm.dx', [dag, 'proj.w'], ['do'], branchFactor(builder));
  compute('gemm.dw', [dag, keptOutput(builder)], ['G.proj.w+='], branchFactor(builder));
  const from = latent.narrow === undefined ? input : 'qn';
  const queried = gatheredAgain(builder, from, latent.narrow ?? dims.h);
  const keys = gatheredAgain(builder, 'kc', latent.kept);
  if (context.recompute === 'selective') widen(builder, latent, queried, keys, 'recompute');
  declare('dq', whole(latent.query));
  declare('dkv', whole(latent.keyValue));
  declare('dkrg', whole(latent.rope), { role: 'exchange', partial: overTensor });
  const reads = ['do', 'qw', 'kv', 'krt', 'o', 'lse'];
  compute('latent-attention.dx', reads, ['dq', 'dkv', 'dkrg'], coreAttributes(latent));
  compute('rope-part.dx', ['dq'], ['dq'], ropeAttributes(latent, latent.spec.nopeSize));
  compute('rope-part.dx', ['dkrg'], ['dkrg'], ropeAttributes(latent, 0));
  const dn1 = queryBackward(builder, latent, queried, input);
  keysBackward(builder, latent, keys, input, dn1);
  return dn1;
}

/** What forward gathered: kept, or gathered once more. */
function gatheredAgain(builder: Builder, input: string, width: Dim): string {
  const { context } = builder;
  if (!context.sequenceParallel) return input;
  return context.keepGathered ? `${input}g` : builder.gather(input, `${input}h`, 'gather-again', width);
}

/** `dq` -> the gradient of the input; gives its name. */
function queryBackward(builder: Builder, { narrow, spec }: Latent, queried: string, input: string): string {
  const { dims, compute, declare, context } = builder;
  if (narrow === undefined) {
    declare('dn1g', [dims.sWhole, dims.b, dims.h], { role: 'exchange', partial: overTensor });
    compute('gemm.dx', ['dq', 'q.w'], ['dn1g']);
    const dn1 = builder.reduce('dn1g', 'dn1');
    compute('gemm.dw', ['dq', queried], ['G.q.w+=']);
    return dn1;
  }
  declare('dqng', [dims.sWhole, dims.b, narrow], { role: 'exchange', partial: overTensor });
  compute('gemm.dx', ['dq', 'q.w'], ['dqng']);
  const dqn = builder.reduce('dqng', 'dqn', narrow);
  compute('gemm.dw', ['dq', queried], ['G.q.w+=']);
  declare('dql', [dims.s, dims.b, narrow]);
  const { normEpsilon: epsilon } = context.model;
  compute('rmsnorm.dx', [dqn, 'ql', 'stl', 'qan.w', 'none'], ['dql', 'G.qan.w+='], { epsilon });
  declare('dn1', [dims.s, dims.b, dims.h]);
  compute('gemm.dx', ['dql', 'qa.w'], ['dn1']);
  compute('gemm.dw', ['dql', input], spec.qkvBias ? ['G.qa.w+=', 'G.qa.b+='] : ['G.qa.w+=']);
  return 'dn1';
}

/** `dkv` and `dkrg` -> added to the gradient of the input. */
function keysBackward(builder: Builder, latent: Latent, keys: string, input: string, dn1: string): void {
  const { dims, compute, declare, context } = builder;
  declare('dkcg', [dims.sWhole, dims.b, latent.kept], { role: 'exchange', partial: overTensor });
  compute('gemm.dx', ['dkv', 'kvb.w'], ['dkcg']);
  const dkc = builder.reduce('dkcg', 'dkc', latent.kept);
  const dkr = builder.reduce('dkrg', 'dkr', latent.rope);
  compute('gemm.dw', ['dkv', keys], ['G.kvb.w+=']);
  declare('dkl', [dims.s, dims.b, latent.down]);
  const { normEpsilon: epsilon } = context.model;
  compute('latent-norm.dx', [dkc, dkr, 'kl', 'stk', 'kvan.w'], ['dkl', 'G.kvan.w+='], { epsilon });
  compute('gemm.dx', ['dkl', 'kva.w'], [`${dn1}+=`]);
  compute('gemm.dw', ['dkl', input], latent.spec.qkvBias ? ['G.kva.w+=', 'G.kva.b+='] : ['G.kva.w+=']);
}
