/** @file The core of attention where context ranks share a sequence: qkv -> o and back, by the kind of the layout.
 *
 * ring: keys and values are handed on around the ranks, and each block of them is merged into the output while the next
 * one travels; in backward their gradients travel along, every rank adds its part, and one hop more brings them home.
 * all-gather: keys and values of all at once; their gradients are summed and scattered.
 * all-to-all: each rank takes whole sequences of its share of the heads, attention is that of one rank, and tokens come back.
 * hybrid: neighbours swap heads, a ring joins their groups.
 * Sources: docs/sources.md, "Context".
 */
import type { Collective, Compute, WhyRule } from '../../program/index.ts';
import type { Dim } from '../../tensor/index.ts';
import { contextGroups, cutDim } from '../context.ts';
import type { Builder } from './builder.ts';

type Attributes = NonNullable<Compute['attributes']>;

/** What attention itself sees: the tokens and heads of this rank once heads have been swapped. */
interface Inside {
  readonly s: Dim;
  readonly qkv: Dim;
  readonly kv: Dim;
  readonly o: Dim;
  readonly heads: Dim;
  /** The axis or group of ranks whose keys still have to be met; undefined where the sequence is whole. */
  readonly around: string | undefined;
  readonly ranks: number;
  readonly swaps: boolean;
}

function insideOf({ context, dims }: Builder): Inside {
  const { tensor, contextKind, contextHeads } = context;
  const { heads, kvHeads, headSize } = context.layer.attention;
  const { swap, ring } = contextGroups(context);
  const ranks = context.context / contextHeads;
  const swaps = contextHeads > 1;
  const ways = [
    ['tensor', tensor],
    [swap, contextHeads],
  ] as const;
  const [query, key] = [heads * headSize, kvHeads * headSize];
  const s = swaps ? cutDim('s', context.length, [[ring, ranks]], { zigzag: true }) : dims.sWhole;
  return {
    s,
    qkv: cutDim('qkv', query + 2 * key, ways, { parts: [query, key, key] }),
    kv: cutDim('kv', 2 * key, ways, { parts: [key, key] }),
    o: cutDim('o', query, ways),
    heads: cutDim('a', heads, ways),
    around: contextKind === 'all-to-all' ? undefined : ring,
    ranks,
    swaps,
  };
}

/** qkv -> o; keeps `lse`, and with swapped heads what attention itself read and wrote. */
export function contextForward(builder: Builder, attributes: Attributes): void {
  const { dims, declare, compute } = builder;
  const inside = insideOf(builder);
  const [qkv, o] = inside.swaps ? (['qkvh', 'oh'] as const) : (['qkv', 'o'] as const);
  declare('o', [dims.sWhole, dims.b, dims.o]);
  declare('lse', [inside.heads, inside.s, dims.b], { dtype: 'fp32' });
  if (inside.swaps) {
    declare('qkvh', [inside.s, dims.b, inside.qkv]);
    declare('oh', [inside.s, dims.b, inside.o]);
    swapHeads(builder, 'qkv', 'qkvh', 's');
  }
  if (inside.around === undefined) compute('attention', [qkv], [o, 'lse'], attributes);
  else if (builder.context.contextKind === 'all-gather') gatheredForward(builder, inside, inside.around, attributes);
  else ringForward(builder, inside, inside.around, qkv, o, attributes);
  if (inside.swaps) swapHeads(builder, 'oh', 'o', 'o');
}

/** do -> dqkv. */
export function contextBackward(builder: Builder, attributes: Attributes): void {
  const { dims, declare, compute } = builder;
  const inside = insideOf(builder);
  const { swaps, around } = inside;
  const [qkv, o, dO, dqkv] = swaps ? ['qkvh', 'oh', 'doh', 'dqkvh'] : ['qkv', 'o', 'do', 'dqkv'];
  if (swaps) {
    declare('doh', [inside.s, dims.b, inside.o]);
    declare('dqkvh', [inside.s, dims.b, inside.qkv]);
    swapHeads(builder, 'do', 'doh', 's');
  }
  const operands: Operands = { qkv: qkv ?? '', o: o ?? '', dO: dO ?? '', dqkv: dqkv ?? '' };
  if (around === undefined)
    compute('attention.dx', [operands.dO, operands.qkv, operands.o, 'lse'], [operands.dqkv], attributes);
  else {
    declare('dq', [inside.s, dims.b, inside.o]);
    if (builder.context.contextKind === 'all-gather') gatheredBackward(builder, inside, around, operands, attributes);
    else ringBackward(builder, inside, around, operands, attributes);
  }
  if (swaps) swapHeads(builder, 'dqkvh', 'dqkv', 'qkv');
}

interface Operands {
  readonly qkv: string;
  readonly o: string;
  readonly dO: string;
  readonly dqkv: string;
}

/** Two buffers that are written in turn: while one is read, the next one arrives. */
const turns = (name: string, hop: number): string => `${name}${hop % 2 === 0 ? 'a' : 'b'}`;

function ringForward(
  builder: Builder,
  inside: Inside,
  around: string,
  qkv: string,
  o: string,
  attributes: Attributes,
): void {
  const { compute } = builder;
  declareKeys(builder, inside, 'kv');
  compute('kv', [qkv], [turns('kv', 0)], attributes);
  for (let hop = 0; hop < inside.ranks; hop++) {
    passKeys(builder, inside, around, hop);
    const before = hop > 0 ? [o, 'lse'] : ['none', 'none'];
    compute('attention.block', [qkv, turns('kv', hop), ...before], [o, 'lse'], { ...attributes, hop });
  }
}

function ringBackward(
  builder: Builder,
  inside: Inside,
  around: string,
  operands: Operands,
  attributes: Attributes,
): void {
  const { declare, compute, dims } = builder;
  const { qkv, o, dO, dqkv } = operands;
  declareKeys(builder, inside, 'kv');
  declareKeys(builder, inside, 'dkv');
  declare('dkvp', [inside.s, dims.b, inside.kv]);
  compute('kv', [qkv], [turns('kv', 0)], attributes, 'recompute');
  for (let hop = 0; hop < inside.ranks; hop++) {
    passKeys(builder, inside, around, hop);
    const gradient = turns('dkv', hop);
    const part = hop > 0 ? 'dkvp' : gradient;
    const reads = [dO, qkv, turns('kv', hop), o, 'lse'];
    compute('attention.block.dx', reads, [hop > 0 ? 'dq+=' : 'dq', part], { ...attributes, hop });
    if (hop > 0) compute('add', [part, 'none', gradient], [gradient]);
    exchange(builder, around, 'shift', gradient, turns('dkv', hop + 1), 'pass-key-gradients');
  }
  compute('join-qkv', ['dq', turns('dkv', inside.ranks)], [dqkv], attributes);
}

function passKeys(builder: Builder, { ranks }: Inside, around: string, hop: number): void {
  if (hop < ranks - 1) exchange(builder, around, 'shift', turns('kv', hop), turns('kv', hop + 1), 'pass-keys');
}

function declareKeys({ declare, dims }: Builder, { s, kv }: Inside, name: 'kv' | 'dkv'): void {
  for (const hop of [0, 1]) declare(turns(name, hop), [s, dims.b, kv], { role: 'exchange' });
}

function gatheredForward(builder: Builder, inside: Inside, around: string, attributes: Attributes): void {
  gatherKeys(builder, inside, around, attributes, 'model');
  builder.compute('attention.block', ['qkv', 'kvg', 'none', 'none'], ['o', 'lse'], attributes);
}

/** Keys and values of all are not kept: they are gathered once more. */
function gatheredBackward(
  builder: Builder,
  inside: Inside,
  around: string,
  { qkv, o, dO, dqkv }: Operands,
  attributes: Attributes,
): void {
  const { declare, compute, dims, context } = builder;
  gatherKeys(builder, inside, around, attributes, 'recompute');
  const all = cutDim('s', context.length, []);
  declare('dkvg', [all, dims.b, inside.kv], { role: 'exchange', partial: [{ over: around, reduce: 'sum' }] });
  declare('dkv', [inside.s, dims.b, inside.kv]);
  compute('attention.block.dx', [dO, qkv, 'kvg', o, 'lse'], ['dq', 'dkvg'], attributes);
  exchange(builder, around, 'reduce-scatter', 'dkvg', 'dkv', 'scatter-key-gradients');
  compute('join-qkv', ['dq', 'dkv'], [dqkv], attributes);
}

function gatherKeys(
  builder: Builder,
  { s, kv }: Inside,
  around: string,
  attributes: Attributes,
  rule: 'model' | 'recompute',
): void {
  const { declare, compute, dims, context } = builder;
  declare('kv', [s, dims.b, kv], { role: 'exchange' });
  declare('kvg', [cutDim('s', context.length, []), dims.b, kv], { role: 'exchange' });
  compute('kv', ['qkv'], ['kv'], attributes, rule);
  exchange(builder, around, 'all-gather', 'kv', 'kvg', 'gather-keys');
}

/** `dim` is the one that is gathered. */
function swapHeads(builder: Builder, from: string, to: string, dim: string): void {
  const { swap } = contextGroups(builder.context);
  exchange(builder, swap, 'all-to-all', from, to, 'heads-for-tokens', dim);
}

function exchange(
  { operations }: Builder,
  over: string,
  collective: Collective['collective'],
  from: string,
  to: string,
  rule: WhyRule,
  dim = 's',
): void {
  operations.push({
    kind: 'collective',
    lane: 'context',
    collective,
    axis: over,
    ...(collective !== 'shift' && { dim }),
    ...(collective === 'reduce-scatter' && { reduce: 'sum' as const }),
    factor: 1,
    algorithm: 'ring',
    reads: [from],
    writes: [{ buffer: to }],
    why: { rule, axis: over },
  });
}
