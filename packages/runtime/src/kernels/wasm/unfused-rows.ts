/** @file Rows of attention with its scores in memory. */
import { distanceSlope, type HeadCounts, headLayout, headOffsets } from '../heads.ts';
import { headsOf } from '../index.ts';
import { dimAt, type KernelCall, readOf as r, rowsOf, sizeAt, type Tensor, writeOf as w } from '../tensor.ts';
import { causalSight } from './attention-rows.ts';
import type { Places, Rows } from './places.ts';

/** Every head of every sample: first bytes of its scores, queries, keys and values, by the begin of the fused dim. */
function* headsIn(qkv: Tensor, counts: HeadCounts) {
  const layout = headLayout(qkv, counts);
  const { S, B, A, D, P } = layout;
  for (let a = 0; a < A; a++) {
    const { q, k, v } = headOffsets(layout, a);
    for (let b = 0; b < B; b++) {
      const at = 4 * b * P;
      yield { a, scores: 4 * (a * B + b) * S * S, q: at + 4 * q, k: at + 4 * k, v: at + 4 * v, o: 4 * (b * A + a) * D };
    }
  }
}

function scores(places: Places, c: KernelCall): void {
  const { kernels, pointer: at, pack } = places;
  const [qkv, sc, counts] = [r(c, 0), w(c, 0), headsOf(c)];
  const { S, B, D, P } = headLayout(qkv, counts);
  const sight = causalSight(places, S, counts);
  const { origin } = dimAt(sc, 0);
  const [x, to] = [at(qkv.data), at(sc.data)];
  for (const head of headsIn(qkv, counts)) {
    const result = to + head.scores;
    kernels.gemm(S, S, D, x + head.q, B * P, 1, x + head.k, 1, B * P, result, S, 0, 0, pack);
    const fall = distanceSlope(origin + head.a, counts);
    kernels.maskRows(S, S, result, sight.at, 1 / Math.sqrt(D), counts.cap ?? 0, fall, Number.NEGATIVE_INFINITY);
  }
}

/** The value part of the result stays zero. */
function scoresDx({ kernels, pointer: at, pack }: Places, c: KernelCall): void {
  const [dsc, qkv, dqkv, counts] = [r(c, 0), r(c, 1), w(c, 0), headsOf(c)];
  const { S, B, D, P } = headLayout(qkv, counts);
  dqkv.data.fill(0);
  const [slopes, x, dx] = [at(dsc.data), at(qkv.data), at(dqkv.data)];
  for (const { scores: place, q, k } of headsIn(qkv, counts)) {
    const row = B * P;
    kernels.gemm(S, D, S, slopes + place, S, 1, x + k, row, 1, dx + q, row, 1, 0, pack);
    kernels.gemm(S, D, S, slopes + place, 1, S, x + q, row, 1, dx + k, row, 1, 0, pack);
  }
  kernels.scale(dx, dqkv.data.length, 1 / Math.sqrt(D));
}

function context({ kernels, pointer: at, pack }: Places, c: KernelCall): void {
  const [pr, qkv, o, counts] = [r(c, 0), r(c, 1), w(c, 0), headsOf(c)];
  const { S, B, A, D, P } = headLayout(qkv, counts);
  const [from, x, to] = [at(pr.data), at(qkv.data), at(o.data)];
  for (const head of headsIn(qkv, counts)) {
    kernels.gemm(S, D, S, from + head.scores, S, 1, x + head.v, B * P, 1, to + head.o, B * A * D, 0, 0, pack);
  }
}

/** Of the fused result the value part is written, and the rest is zero. */
function contextDx(places: Places, c: KernelCall): void {
  const { kernels, pointer: at, pack } = places;
  const [dO, pr, qkv, counts] = [r(c, 0), r(c, 1), r(c, 2), headsOf(c)];
  const [dpr, dqkv] = [w(c, 0), w(c, 1)];
  const { S, B, A, D, P } = headLayout(qkv, counts);
  const sight = causalSight(places, S, {});
  dqkv.data.fill(0);
  const [slopes, from, x, to, dx] = [dO, pr, qkv, dpr, dqkv].map(({ data }) => at(data)) as [
    number,
    number,
    number,
    number,
    number,
  ];
  const [row, out] = [B * P, B * A * D];
  for (const { scores: place, v, o } of headsIn(qkv, counts)) {
    kernels.gemm(S, S, D, slopes + o, out, 1, x + v, 1, row, to + place, S, 0, 0, pack);
    kernels.maskRows(S, S, to + place, sight.at, 1, 0, 0, 0);
    kernels.gemm(S, D, S, from + place, 1, S, slopes + o, out, 1, dx + v, row, 1, 0, pack);
  }
}

export function unfusedRows(places: Places): Rows {
  const { kernels, pointer: at } = places;
  const softmax = (c: KernelCall, sinks: Tensor | undefined): void => {
    const [R, S] = [rowsOf(r(c, 0)), sizeAt(r(c, 0), -1)];
    const perSink = sinks ? R / sizeAt(sinks, 0) : R;
    kernels.softmaxRows(R, S, at(r(c, 0).data), at(w(c, 0).data), sinks ? at(sinks.data) : 0, perSink);
  };
  return {
    scores: (c) => scores(places, c),
    'scores.dx': (c) => (headsOf(c).cap === undefined ? scoresDx(places, c) : 'plain'),
    softmax: (c) => softmax(c, undefined),
    'softmax-sinks': (c) => softmax(c, r(c, 1)),
    'softmax.dx': (c) => {
      const operands = [r(c, 0), r(c, 1), w(c, 0)].map(({ data }) => at(data)) as [number, number, number];
      kernels.softmaxRowsDx(rowsOf(r(c, 1)), sizeAt(r(c, 1), -1), ...operands);
    },
    context: (c) => context(places, c),
    'context.dx': (c) => contextDx(places, c),
  };
}
