/** @file Rows of attention: blockwise over a rank's own keys, over those of another rank or of all, and of latent keys. */
import { type Block, blockOf } from '../context-attention.ts';
import { distanceSlope, firstSeen, type HeadCounts, headLayout, headOffsets } from '../heads.ts';
import { headsOf, hopOf, latentSizesOf } from '../index.ts';
import { dimAt, type KernelCall, readOf as r, sizeAt, type Tensor, writeOf as w } from '../tensor.ts';
import { type Before, backwardHead, forwardHead, type Head, type Lines, type Sight } from './flash.ts';
import { floatsAt, lend, type Places, type Rows } from './places.ts';

/** What queries of one sequence see of its keys. */
export function causalSight(places: Places, length: number, counts: Pick<HeadCounts, 'window' | 'chunked'>): Sight {
  const ranges = new Int32Array(2 * length);
  for (let i = 0; i < length; i++) {
    ranges[2 * i] = firstSeen(i, counts);
    ranges[2 * i + 1] = i + 1;
  }
  return { at: lend(places, ranges), ranges };
}

/** What the queries of a rank see of keys that ascend in place. */
function blockSight(places: Places, { queries, keys, window }: Block): Sight {
  const ranges = new Int32Array(2 * queries.length);
  let [from, to] = [0, 0];
  for (let i = 0; i < queries.length; i++) {
    const place = queries[i]!;
    while (to < keys.length && keys[to]! <= place) to++;
    while (from < to && place - keys[from]! >= window) from++;
    ranges[2 * i] = from;
    ranges[2 * i + 1] = to;
  }
  return { at: lend(places, ranges), ranges };
}

const plus = ({ at, row }: Lines, elements: number): Lines => ({ at: at + 4 * elements, row });

interface FusedCall {
  readonly qkv: Tensor;
  readonly o: Tensor;
  readonly lse: Tensor;
  readonly dqkv?: Tensor;
}

/** Every head of every sample of fused queries, keys and values, with the rows of `o` like those of its gradient. */
function* fusedHeads(places: Places, { qkv, o, lse, dqkv }: FusedCall, counts: HeadCounts) {
  const layout = headLayout(qkv, counts);
  const { S, B, A, D, P } = layout;
  const sight = causalSight(places, S, counts);
  const { origin } = dimAt(lse, 0);
  const lines = (tensor: Tensor, row: number): Lines => ({ at: places.pointer(tensor.data), row });
  const [x, out, stats] = [lines(qkv, B * P), lines(o, B * A * D), lines(lse, B)];
  const dx = dqkv && lines(dqkv, B * P);
  for (let a = 0; a < A; a++) {
    const { q, k, v } = headOffsets(layout, a);
    const fall = distanceSlope(origin + a, counts);
    for (let b = 0; b < B; b++) {
      const of = (from: Lines, part: number): Lines => plus(from, b * P + part);
      const product = { size: D, q: of(x, q), k: of(x, k), ...(dx && { dq: of(dx, q), dk: of(dx, k) }) };
      const head: Head = {
        ...{ queries: S, keys: S, products: [product], v: of(x, v), valueSize: D, sight },
        ...{ o: plus(out, (b * A + a) * D), lse: plus(stats, a * S * B + b) },
        scoring: { scale: 1 / Math.sqrt(D), cap: counts.cap ?? 0, fall },
      };
      yield { head, a, b, dv: dx && of(dx, v), oAt: (b * A + a) * D };
    }
  }
}

function attend(places: Places, c: KernelCall): void {
  const sinks = c.reads[1]?.data;
  for (const { head, a } of fusedHeads(places, { qkv: r(c, 0), o: w(c, 0), lse: w(c, 1) }, headsOf(c))) {
    forwardHead(places, head, sinks ? { sink: sinks[a]! } : {});
  }
}

function attendDx(places: Places, c: KernelCall): void {
  const [dqkv, sinks, lse] = [w(c, 0), c.reads[4], r(c, 3)];
  dqkv.data.fill(0);
  const dO = places.pointer(r(c, 0).data);
  const [S, B] = [sizeAt(lse, 1), sizeAt(lse, 2)];
  const sums = new Float64Array(sinks ? sinks.data.length : 0);
  for (const each of fusedHeads(places, { qkv: r(c, 1), o: r(c, 2), lse, dqkv }, headsOf(c))) {
    const { head, a, b, dv, oAt } = each;
    if (!dv) continue;
    const slopes: Lines = { at: dO + 4 * oAt, row: head.o.row };
    backwardHead(places, head, slopes, dv, (first, rows, at) => {
      if (!sinks) return;
      const means = floatsAt(places, at, rows);
      for (let i = 0; i < rows; i++) {
        sums[a]! -= Math.exp(sinks.data[a]! - lse.data[(a * S + first + i) * B + b]!) * means[i]!;
      }
    });
  }
  c.writes[1]?.data.set(sums);
}

interface BlockCall {
  readonly qkv: Tensor;
  readonly kv: Tensor;
  readonly o: Tensor;
  readonly lse: Tensor;
  readonly gradients?: { readonly dq: Tensor; readonly dkv: Tensor };
}

/** Every head of every sample of a rank's queries with the keys and values of another. */
function* blockHeads(places: Places, { qkv, kv, o, lse, gradients }: BlockCall, c: KernelCall) {
  const counts = headsOf(c);
  const block = blockOf(qkv, kv, counts, hopOf(c));
  const { B, A, D, P, K, queries, keys, values } = block;
  const sight = blockSight(places, block);
  const lines = (tensor: Tensor, row: number): Lines => ({ at: places.pointer(tensor.data), row });
  const [x, both, out, stats] = [lines(qkv, B * P), lines(kv, B * K), lines(o, B * A * D), lines(lse, B)];
  const slopes = gradients && { dq: lines(gradients.dq, B * A * D), dkv: lines(gradients.dkv, B * K) };
  for (let a = 0; a < A; a++) {
    for (let b = 0; b < B; b++) {
      const [row, key] = [(b * A + a) * D, b * K + block.keyAt(a)];
      const product = {
        ...{ size: D, q: plus(x, b * P + a * D), k: plus(both, key) },
        ...(slopes && { dq: plus(slopes.dq, row), dk: plus(slopes.dkv, key) }),
      };
      const stat = a * queries.length * B + b;
      const head: Head = {
        ...{ queries: queries.length, keys: keys.length, products: [product], v: plus(both, key + values) },
        ...{ valueSize: D, o: plus(out, row), lse: plus(stats, stat), sight },
        scoring: { scale: block.scale, cap: counts.cap ?? 0, fall: 0 },
      };
      yield { head, row, stat, dv: slopes && plus(slopes.dkv, key + values) };
    }
  }
}

function attendBlock(places: Places, c: KernelCall): void {
  const [o, lse] = [c.reads[2], c.reads[3]];
  const at = (tensor: Tensor, row: number, of: Lines): Lines => ({
    at: places.pointer(tensor.data) + 4 * row,
    row: of.row,
  });
  for (const { head, row, stat } of blockHeads(places, { qkv: r(c, 0), kv: r(c, 1), o: w(c, 0), lse: w(c, 1) }, c)) {
    const before: Before = o && lse ? { o: at(o, row, head.o), lse: at(lse, stat, head.lse) } : {};
    forwardHead(places, head, before);
  }
}

function attendBlockDx(places: Places, c: KernelCall): void {
  const gradients = { dq: w(c, 0), dkv: w(c, 1) };
  gradients.dq.data.fill(0);
  gradients.dkv.data.fill(0);
  const dO = places.pointer(r(c, 0).data);
  const call = { qkv: r(c, 1), kv: r(c, 2), o: r(c, 3), lse: r(c, 4), gradients };
  for (const { head, row, dv } of blockHeads(places, call, c)) {
    if (dv) backwardHead(places, head, { at: dO + 4 * row, row: head.o.row }, dv);
  }
}

interface LatentCall {
  readonly q: Tensor;
  readonly kv: Tensor;
  readonly kr: Tensor;
  readonly o: Tensor;
  readonly lse: Tensor;
  readonly gradients?: { readonly dq: Tensor; readonly dkv: Tensor; readonly dkr: Tensor };
}

/** Every head of every sample of latent attention: scores are a head's own product and one with the shared part of keys. */
function* latentHeads(places: Places, { q, kv, kr, o, lse, gradients }: LatentCall, c: KernelCall) {
  const { nopeSize: N, ropeSize: U, valueSize: V } = latentSizesOf(c);
  const [S, B, Q, K] = [sizeAt(q, 0), sizeAt(q, 1), sizeAt(q, 2), sizeAt(kv, 2)];
  const [D, W] = [N + U, sizeAt(kr, 2)];
  const A = Q / D;
  const sight = causalSight(places, S, {});
  const lines = (tensor: Tensor, row: number): Lines => ({ at: places.pointer(tensor.data), row });
  const [x, own, shared] = [lines(q, B * Q), lines(kv, B * K), lines(kr, B * W)];
  const [out, stats] = [lines(o, B * A * V), lines(lse, B)];
  const d = gradients && {
    ...{ q: lines(gradients.dq, B * Q), own: lines(gradients.dkv, B * K), shared: lines(gradients.dkr, B * W) },
  };
  for (let a = 0; a < A; a++) {
    for (let b = 0; b < B; b++) {
      const [query, key, row] = [b * Q + a * D, b * K + a * (N + V), (b * A + a) * V];
      const products = [
        {
          ...{ size: N, q: plus(x, query), k: plus(own, key) },
          ...(d && { dq: plus(d.q, query), dk: plus(d.own, key) }),
        },
        {
          ...{ size: U, q: plus(x, query + N), k: plus(shared, b * W) },
          ...(d && { dq: plus(d.q, query + N), dk: plus(d.shared, b * W) }),
        },
      ];
      const head: Head = {
        ...{ queries: S, keys: S, products, v: plus(own, key + N), valueSize: V, sight },
        ...{ o: plus(out, row), lse: plus(stats, a * S * B + b) },
        scoring: { scale: 1 / Math.sqrt(D), cap: 0, fall: 0 },
      };
      yield { head, row, dv: d && plus(d.own, key + N) };
    }
  }
}

function latentDx(places: Places, c: KernelCall): void {
  const gradients = { dq: w(c, 0), dkv: w(c, 1), dkr: w(c, 2) };
  for (const { data } of Object.values(gradients)) data.fill(0);
  const dO = places.pointer(r(c, 0).data);
  const call = { q: r(c, 1), kv: r(c, 2), kr: r(c, 3), o: r(c, 4), lse: r(c, 5), gradients };
  for (const { head, row, dv } of latentHeads(places, call, c)) {
    if (dv) backwardHead(places, head, { at: dO + 4 * row, row: head.o.row }, dv);
  }
}

/** Blocks over positions know a window and a cap, and neither chunks nor linear biases. */
const inBlocks = (c: KernelCall): boolean =>
  c.attributes['chunked'] === undefined && c.attributes['alibi'] === undefined;

export function attentionRows(places: Places): Rows {
  return {
    attention: (c) => attend(places, c),
    'attention.dx': (c) => attendDx(places, c),
    'attention.block': (c) => (inBlocks(c) ? attendBlock(places, c) : 'plain'),
    'attention.block.dx': (c) => (inBlocks(c) ? attendBlockDx(places, c) : 'plain'),
    'latent-attention': (c) => {
      const call = { q: r(c, 0), kv: r(c, 1), kr: r(c, 2), o: w(c, 0), lse: w(c, 1) };
      for (const { head } of latentHeads(places, call, c)) forwardHead(places, head, {});
    },
    'latent-attention.dx': (c) => latentDx(places, c),
  };
}
