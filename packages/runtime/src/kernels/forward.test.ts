import { describe, expect, test } from 'vitest';
import { roundToBf16 } from '../numbers/bf16.ts';
import { mix, normal, uniform } from '../numbers/hash.ts';
import { errorFunction } from './activation.ts';
import { attention } from './attention.ts';
import { context, scores, softmax } from './attention-unfused.ts';
import { embedding, position } from './embedding.ts';
import { tensorDraws, zeroTensor } from './gradient.fixture.ts';
import { nll, rowmax, rowsumexp } from './loss.ts';
import { adamw, clipFactor, sgd, squareSum } from './optimizer.ts';
import { dropout } from './residual.ts';
import { rope } from './rope.ts';
import { plainRouting, topk } from './routing.ts';
import type { Tensor } from './tensor.ts';
import { wholeTensor } from './tensor.ts';

const randomTensor = tensorDraws();

const close = (got: ArrayLike<number>, want: ArrayLike<number>, bound = 1e-12): void => {
  expect(got.length).toBe(want.length);
  for (let index = 0; index < got.length; index++) expect(Math.abs(got[index]! - want[index]!)).toBeLessThan(bound);
};

/** A piece of a tensor along one dim, as a rank holds it. */
function pieceOf(tensor: Tensor, dim: number, origin: number, size: number): Tensor {
  const sizes = tensor.dims.map((each) => each.size);
  const inner = sizes.slice(dim + 1).reduce((product, each) => product * each, 1);
  const outer = sizes.slice(0, dim).reduce((product, each) => product * each, 1);
  const data = new Float64Array(outer * size * inner);
  for (let o = 0; o < outer; o++) {
    for (let index = 0; index < size * inner; index++) {
      data[o * size * inner + index] = tensor.data[(o * sizes[dim]! + origin) * inner + index] ?? 0;
    }
  }
  const dims = tensor.dims.map((each, place) =>
    place === dim ? { ...each, size, origin, valid: Math.min(size, each.size - origin) } : each,
  );
  return { data, dims };
}

test('blockwise attention equals scores, softmax and values', () => {
  const counts = { heads: 4, kvHeads: 2, headSize: 2 };
  const qkv = randomTensor([6, 2, 16]);
  const [o, lse, sc, pr, want] = [
    zeroTensor([6, 2, 8]),
    zeroTensor([4, 6, 2]),
    zeroTensor([4, 2, 6, 6]),
    zeroTensor([4, 2, 6, 6]),
    zeroTensor([6, 2, 8]),
  ];
  attention(qkv, undefined, { o_SBAD: o, lse_ASB: lse }, counts);
  scores(qkv, sc, counts);
  softmax(sc, pr);
  context(pr, qkv, want, counts);
  close(o.data, want.data);
  expect(pr.data[1]).toBe(0);
});

test('after rotation a score depends on the distance of two positions only', () => {
  const counts = { heads: 1, kvHeads: 1, headSize: 4 };
  const qkv = zeroTensor([4, 1, 12]);
  const row = [0.3, -1, 2, 0.5, 1, 0.2, -0.7, 0.9, 0, 0, 0, 0];
  for (let s = 0; s < 4; s++) qkv.data.set(row, s * 12);
  rope(qkv, qkv, counts, { theta: 10_000, turned: 4 });
  const product = (i: number, j: number): number =>
    [0, 1, 2, 3].reduce((sum, d) => sum + qkv.data[i * 12 + d]! * qkv.data[j * 12 + 4 + d]!, 0);
  expect(product(1, 0)).toBeCloseTo(product(3, 2), 12);
  expect(product(2, 0)).toBeCloseTo(product(3, 1), 12);
  expect(product(1, 0)).not.toBeCloseTo(product(2, 0), 3);
  close(qkv.data.subarray(0, 12), row);
});

test('the error function has its published values', () => {
  expect(errorFunction(0)).toBe(0);
  expect(errorFunction(0.5)).toBeCloseTo(0.520499877813046537, 14);
  expect(errorFunction(-2)).toBeCloseTo(-0.995322265018952734, 14);
  expect(errorFunction(7)).toBe(1);
});

describe('a vocabulary cut over two ranks, the second one padded', () => {
  const V = 7;
  const tokens = wholeTensor(Int32Array.from([0, 3, 6, 4]), [4, 1]);
  const pieces = [
    { origin: 0, size: 4 },
    { origin: 4, size: 4 },
  ];

  test('embeddings of the pieces add up to the whole', () => {
    const w = randomTensor([V, 3]);
    const whole = zeroTensor([4, 1, 3]);
    embedding(tokens, w, whole);
    const parts = pieces.map(({ origin, size }) => {
      const part = zeroTensor([4, 1, 3]);
      embedding(tokens, pieceOf(w, 0, origin, size), part);
      return part;
    });
    close(
      whole.data,
      [...parts[0]!.data].map((each, index) => each + parts[1]!.data[index]!),
    );
  });

  test('the loss from reduced pieces is -log of the label softmax', () => {
    const z = randomTensor([4, 1, V]);
    const locals = pieces.map(({ origin, size }) => pieceOf(z, 2, origin, size));
    const mx = zeroTensor([4, 1]);
    const maxima = locals.map((local) => {
      const each = zeroTensor([4, 1]);
      rowmax(local, each);
      return each;
    });
    mx.data.set([0, 1, 2, 3].map((r) => Math.max(...maxima.map((each) => each.data[r]!))));
    const [se, tl] = [zeroTensor([4, 1]), zeroTensor([4, 1])];
    for (const local of locals) {
      const [sum, logit] = [zeroTensor([4, 1]), zeroTensor([4, 1])];
      rowsumexp({ z_RV: local, mx_R: mx, labels_R: tokens }, { se_R: sum, tl_R: logit });
      for (let r = 0; r < 4; r++) {
        se.data[r]! += sum.data[r]!;
        tl.data[r]! += logit.data[r]!;
      }
    }
    const loss = zeroTensor([]);
    nll({ mx_R: mx, se_R: se, tl_R: tl, scale: wholeTensor(Float64Array.of(0.5), []) }, loss);
    let want = 0;
    for (let r = 0; r < 4; r++) {
      const row = [...z.data.subarray(r * V, (r + 1) * V)];
      want -= Math.log(Math.exp(row[tokens.data[r]!]!) / row.reduce((sum, each) => sum + Math.exp(each), 0)) / 2;
    }
    expect(loss.data[0]).toBeCloseTo(want, 12);
  });
});

test('a sequence shard takes its own rows of the position table', () => {
  const [x, w] = [randomTensor([4, 1, 2]), randomTensor([6, 2])];
  const whole = zeroTensor([4, 1, 2]);
  position(x, w, whole);
  const shard = zeroTensor([2, 1, 2]);
  position(pieceOf(x, 0, 2, 2), w, shard);
  close(shard.data, whole.data.subarray(4));
});

test('dropout is the same for a shard of the sequence and another micro-batch', () => {
  const labels = ['s', 'b', 'h'];
  const ones = (sizes: readonly number[]): Tensor =>
    wholeTensor(new Float64Array(sizes.reduce((product, size) => product * size, 1)).fill(1), sizes, labels);
  const whole = ones([4, 4, 8]);
  const [y, mask] = [ones([4, 4, 8]), ones([4, 4, 8])];
  dropout(whole, y, mask, 0.5, { seed: 9, firstSample: 0 });
  const shard = pieceOf(pieceOf(whole, 0, 2, 2), 1, 0, 2);
  const part = { ...shard, dims: shard.dims.map((dim) => (dim.label === 'b' ? { ...dim, origin: 0 } : dim)) };
  const [z, partMask] = [ones([2, 2, 8]), ones([2, 2, 8])];
  dropout(part, z, partMask, 0.5, { seed: 9, firstSample: 2 });
  close(z.data, pieceOf(pieceOf(y, 0, 2, 2), 1, 2, 2).data);
  const kept = [...mask.data].reduce((sum, each) => sum + each, 0) / mask.data.length;
  expect(kept).toBeGreaterThan(0.35);
  expect(kept).toBeLessThan(0.65);
});

test('the router takes the largest logits and renormalises over them', () => {
  const [rw, ri] = [zeroTensor([1, 2]), wholeTensor(new Int32Array(2), [1, 2])];
  topk(wholeTensor(Float64Array.of(1, 3, 3, 0), [1, 4]), undefined, { rw_RT: rw, ri_RT: ri }, plainRouting);
  expect([...ri.data]).toEqual([1, 2]);
  close(rw.data, [0.5, 0.5]);
});

describe('optimizer steps over a shard', () => {
  const shard = () => ({
    ranges: [{ from: 1, length: 2, decay: true, counted: true }],
    gradient: Float64Array.of(Number.NaN, 3, -4, 5),
    weight: Float64Array.of(9, 1, 2, 9),
    master: undefined,
    m: new Float64Array(4),
    v: new Float64Array(4),
  });

  test('only counted elements enter the norm, and the factor clips to the limit', () => {
    expect(squareSum([shard()])).toBe(25);
    expect(clipFactor(25, 1)).toBe(0.2);
    expect(clipFactor(25, 10)).toBe(1);
  });

  test('the first AdamW step moves by the learning rate and decays', () => {
    const state = shard();
    const constants = { beta1: 0.9, beta2: 0.95, epsilon: 0, weightDecay: 0.1 };
    adamw(state, { factor: 0.5, learningRate: 0.01, step: 1 }, constants);
    close(state.weight, [9, 1 * 0.999 - 0.01, 2 * 0.999 + 0.01, 9]);
  });

  test('momentum adds up over SGD steps', () => {
    const state = shard();
    const inputs = { factor: 1, learningRate: 0.1, step: 1 };
    sgd(state, inputs, { momentum: 0.5, weightDecay: 0 });
    sgd(state, { ...inputs, step: 2 }, { momentum: 0.5, weightDecay: 0 });
    close(state.weight, [9, 1 - 0.3 - 0.45, 2 + 0.4 + 0.6, 9]);
  });
});

test('bfloat16 rounds to nearest, ties to even', () => {
  const values = Float32Array.of(1 + 2 ** -8, 1 + 3 * 2 ** -8, 1 + 2 ** -7, -1.2345678, Number.NaN, Infinity, 3e38);
  roundToBf16(values, 0, values.length);
  expect([...values]).toEqual([
    1,
    1 + 2 ** -6,
    1 + 2 ** -7,
    -1.234375,
    Number.NaN,
    Infinity,
    expect.closeTo(3.0e38, -36),
  ]);
});

test('draws repeat, spread over the unit interval and have the moments of a normal', () => {
  expect(mix(1, 2)).toBe(mix(1, 2));
  expect(mix(1, 2)).not.toBe(mix(2, 1));
  const draws = Array.from({ length: 20_000 }, (_, index) => normal(5, index));
  const mean = draws.reduce((sum, each) => sum + each, 0) / draws.length;
  const variance = draws.reduce((sum, each) => sum + each * each, 0) / draws.length;
  expect(Math.abs(mean)).toBeLessThan(0.03);
  expect(Math.abs(variance - 1)).toBeLessThan(0.05);
  expect(uniform(3, 2 ** 33)).not.toBe(uniform(3, 0));
});
