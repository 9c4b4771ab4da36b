/** Gradients of what blocks of other families add, against central differences. */
import { describe, expect, test } from 'vitest';
import { call, expectGradient, like, tensorDraws, zeroTensor } from './gradient.fixture.ts';
import { distanceSlope, firstSeen } from './heads.ts';
import { type Tensor, wholeTensor } from './tensor.ts';

const randomTensor = tensorDraws();

const [S, B, H, E, T] = [5, 2, 6, 4, 2];
const heads = { heads: 4, kvHeads: 2, headSize: 4 };
const P = 4 * (4 + 2 * 2);
const chosen = (): Tensor => wholeTensor(new Int32Array(S * B * T), [S, B, T]);

describe('attention', () => {
  test.each([
    { ...heads, window: 2, chunked: 1 },
    { ...heads, alibi: 1 },
  ])('blockwise: %j', (attributes) => {
    const [qkv, o, lse] = [randomTensor([S, B, P]), zeroTensor([S, B, 16]), zeroTensor([4, S, B])];
    const [dO, dqkv] = [randomTensor([S, B, 16]), zeroTensor([S, B, P])];
    const run = () => call('attention', [qkv], [o, lse], attributes);
    run();
    call('attention.dx', [dO, qkv, o, lse], [dqkv], attributes);
    expectGradient(qkv, dqkv, o, dO, run);
  });

  test('with sinks, blockwise and unfused, which agree', () => {
    const [qkv, sinks, o, lse] = [
      randomTensor([S, B, P]),
      randomTensor([4]),
      zeroTensor([S, B, 16]),
      zeroTensor([4, S, B]),
    ];
    const [dO, dqkv, dsinks] = [randomTensor([S, B, 16]), zeroTensor([S, B, P]), zeroTensor([4])];
    const attributes = { ...heads, sinks: 1, window: 3 };
    const run = () => call('attention', [qkv, sinks], [o, lse], attributes);
    run();
    call('attention.dx', [dO, qkv, o, lse, sinks], [dqkv, dsinks], attributes);
    expectGradient(qkv, dqkv, o, dO, run);
    expectGradient(sinks, dsinks, o, dO, run);
    const [sc, pr, other] = [zeroTensor([4, B, S, S]), zeroTensor([4, B, S, S]), like(o)];
    const [dpr, dsc, values, dsinksToo] = [like(pr), like(pr), like(qkv), like(sinks)];
    call('scores', [qkv], [sc], attributes);
    call('softmax-sinks', [sc, sinks], [pr]);
    call('context', [pr, qkv], [other], attributes);
    call('context.dx', [dO, pr, qkv], [dpr, values], attributes);
    call('softmax-sinks.dx', [dpr, pr], [dsc, dsinksToo]);
    for (const [place, each] of other.data.entries()) expect(each).toBeCloseTo(o.data[place]!, 12);
    for (const [place, each] of dsinksToo.data.entries()) expect(each).toBeCloseTo(dsinks.data[place]!, 12);
  });

  test('chunks begin anew, windows slide', () => {
    const seen = (chunked: boolean) => [0, 1, 2, 3, 4].map((i) => firstSeen(i, { window: 2, chunked }));
    expect(seen(true)).toEqual([0, 0, 2, 2, 4]);
    expect(seen(false)).toEqual([0, 0, 1, 2, 3]);
  });

  test('distances cost by the published slopes, also where heads are no power of two', () => {
    const slopes = (count: number) =>
      Array.from({ length: count }, (_, head) => distanceSlope(head, { heads: count, alibi: true }));
    expect(slopes(8)).toEqual([1, 2, 3, 4, 5, 6, 7, 8].map((i) => 2 ** -i));
    expect(slopes(6).map(Math.log2)).toEqual([-2, -4, -6, -8, -1, -3]);
  });
});

test('a layer norm for each head has weights of its own', () => {
  const [qkv, qn, kn, out] = [
    randomTensor([S, B, P]),
    randomTensor([4, 4]),
    randomTensor([2, 4]),
    zeroTensor([S, B, P]),
  ];
  const [raw, st, dy] = [zeroTensor([S, B, 24]), zeroTensor([6, 2, S, B]), randomTensor([S, B, P])];
  const [dx, dqn, dkn] = [like(qkv), like(qn), like(kn)];
  const run = () => call('qk-norm-heads', [qkv, qn, kn], [out, raw, st], { ...heads, epsilon: 1e-5 });
  run();
  call('qk-norm-heads.dx', [dy, raw, st, qn, kn], [dx, dqn, dkn], heads);
  expectGradient(qkv, dx, out, dy, run);
  expectGradient(qn, dqn, out, dy, run);
  expectGradient(kn, dkn, out, dy, run);
});

describe('routing', () => {
  test.each([
    { scoring: 'softmax-all' },
    { scoring: 'softmax-all', factor: 3 },
    { scoring: 'sigmoid', factor: 2.5 },
    { scoring: 'sigmoid', normalized: 1, factor: 2.5, groups: 2, groupsChosen: 1, groupTop: 2 },
    { factor: 0.5 },
  ])('weights of the chosen: %j', (attributes) => {
    const [rl, c, rw, ri] = [randomTensor([S, B, E]), randomTensor([E]), zeroTensor([S, B, T]), chosen()];
    const [drw, drl] = [randomTensor([S, B, T]), like(rl)];
    const run = () => call('topk', [rl, c], [rw, ri], attributes);
    run();
    const scores = 'scoring' in attributes ? [rl] : [];
    call('topk.dx', [drw, rw, ri, ...scores], [drl], attributes);
    expectGradient(rl, drl, rw, drw, run);
  });

  test('a correction moves the choice and not the weight', () => {
    const [rw, ri] = [zeroTensor([1, 1]), wholeTensor(new Int32Array(1), [1, 1])];
    const rl = wholeTensor(Float64Array.of(2, 1, 0, -1), [1, 4]);
    call('topk', [rl, wholeTensor(Float64Array.of(0, 0, 5, 0), [4])], [rw, ri], { scoring: 'sigmoid' });
    expect([...ri.data]).toEqual([2]);
    expect([...rw.data]).toEqual([0.5]);
  });

  test('only the best groups take part, by the sum of their best experts', () => {
    const [rw, ri] = [zeroTensor([1, 2]), wholeTensor(new Int32Array(2), [1, 2])];
    const rl = wholeTensor(Float64Array.of(4, -9, 2, 3), [1, 4]);
    const groups = { scoring: 'sigmoid', groups: 2, groupsChosen: 1 };
    call('topk', [rl], [rw, ri], { ...groups, groupTop: 2 });
    expect([...ri.data]).toEqual([3, 2]);
    call('topk', [rl], [rw, ri], { ...groups, groupTop: 1 });
    expect([...ri.data]).toEqual([0, 1]);
  });

  test('weights on the inputs of experts', () => {
    const [x, rw, y, dy] = [
      randomTensor([S, B, H]),
      randomTensor([S, B, 1]),
      zeroTensor([S, B, H]),
      randomTensor([S, B, H]),
    ];
    const [dx, drw] = [like(x), like(rw)];
    const run = () => call('weigh', [x, rw], [y]);
    call('weigh.dx', [dy, x, rw], [dx, drw]);
    expectGradient(x, dx, y, dy, run);
    expectGradient(rw, drw, y, dy, run);
  });

  test('outputs without weights, and with a factor', () => {
    const [ce, c, dc, dce] = [
      randomTensor([S, B, T, H]),
      zeroTensor([S, B, H]),
      randomTensor([S, B, H]),
      zeroTensor([S, B, T, H]),
    ];
    const run = () => call('combine', [ce, undefined], [c], { factor: 0.5 });
    call('combine.dx', [dc], [dce], { factor: 0.5 });
    expectGradient(ce, dce, c, dc, run);
  });
});

test('biases of experts', () => {
  const ri = wholeTensor(
    Int32Array.from({ length: S * B * T }, (_, index) => (index * 3) % E),
    [S, B, T],
  );
  const [x, b, y, dy] = [
    randomTensor([S, B, T, H]),
    randomTensor([E, H]),
    zeroTensor([S, B, T, H]),
    randomTensor([S, B, T, H]),
  ];
  const db = like(b);
  call('expert-bias.dw', [dy, ri], [db]);
  expectGradient(b, db, y, dy, () => call('expert-bias', [x, b, ri], [y]));
  expectGradient(x, dy, y, dy, () => call('expert-bias', [x, b, ri], [y], { factor: 0.5 }));
});

test('the gate of a shared expert', () => {
  const [so, sl, c, dc] = [
    randomTensor([S, B, H]),
    randomTensor([S, B, 1]),
    zeroTensor([S, B, H]),
    randomTensor([S, B, H]),
  ];
  const [dso, dsl] = [like(so), like(sl)];
  const run = () => call('sigmoid-gate', [so, sl], [c]);
  call('sigmoid-gate.dx', [dc, so, sl], [dso, dsl]);
  expectGradient(so, dso, c, dc, run);
  expectGradient(sl, dsl, c, dc, run);
});

test('clamped gates, inside and outside of the clamp', () => {
  const [g, z, dz, dg] = [randomTensor([S, 2 * H]), zeroTensor([S, H]), randomTensor([S, H]), zeroTensor([S, 2 * H])];
  for (let index = 0; index < g.data.length; index++) g.data[index]! *= 5;
  call('gated.dx', [dz, g], [dg], { function: 'clamped-silu' });
  expectGradient(g, dg, z, dz, () => call('gated', [g], [z], { function: 'clamped-silu' }));
  expect(g.data.some((each) => Math.abs(each) > 7)).toBe(true);
});

test('a factor on a product and its bias, and what no gradient moves', () => {
  const [x, weights, bias, y] = [
    randomTensor([S, B, H]),
    randomTensor([3, H]),
    randomTensor([3]),
    zeroTensor([S, B, 3]),
  ];
  const [dy, dw, db] = [randomTensor([S, B, 3]), like(weights), like(bias)];
  const attributes = { factor: 0.5, scalesBias: 1 };
  call('gemm.dw', [dy, x], [dw, db], attributes);
  expectGradient(bias, db, y, dy, () => call('gemm', [x, weights, bias], [y], attributes));
  call('no-gradient', [chosen()], [db]);
  expect([...db.data]).toEqual([0, 0, 0]);
  call('add-bias', [y, bias], [y]);
});

describe('latent attention', () => {
  const sizes = { heads: 3, nopeSize: 4, ropeSize: 2, valueSize: 5 };

  test('queries, keys with a rotary part that heads share, and values', () => {
    const [q, kv, kr] = [randomTensor([S, B, 18]), randomTensor([S, B, 27]), randomTensor([S, B, 2])];
    const [o, lse, dO] = [zeroTensor([S, B, 15]), zeroTensor([3, S, B]), randomTensor([S, B, 15])];
    const [dq, dkv, dkr] = [like(q), like(kv), like(kr)];
    const run = () => call('latent-attention', [q, kv, kr], [o, lse], sizes);
    run();
    call('latent-attention.dx', [dO, q, kv, kr, o, lse], [dq, dkv, dkr], sizes);
    expectGradient(q, dq, o, dO, run);
    expectGradient(kv, dkv, o, dO, run);
    expectGradient(kr, dkr, o, dO, run);
  });

  test('is attention over whole keys where these are put together', () => {
    const [q, kr] = [randomTensor([S, B, 18]), randomTensor([S, B, 2])];
    const square = { ...sizes, valueSize: 6 };
    const wide = randomTensor([S, B, 30]);
    const [o, lse] = [zeroTensor([S, B, 18]), zeroTensor([3, S, B])];
    call('latent-attention', [q, wide, kr], [o, lse], square);
    const fused = zeroTensor([S, B, 54]);
    for (let r = 0; r < S * B; r++) {
      fused.data.set(q.data.subarray(r * 18, (r + 1) * 18), r * 54);
      for (let head = 0; head < 3; head++) {
        const at = r * 30 + head * 10;
        fused.data.set(wide.data.subarray(at, at + 4), r * 54 + 18 + head * 6);
        fused.data.set(kr.data.subarray(r * 2, r * 2 + 2), r * 54 + 22 + head * 6);
        fused.data.set(wide.data.subarray(at + 4, at + 10), r * 54 + 36 + head * 6);
      }
    }
    const [want, wantLse] = [like(o), like(lse)];
    call('attention', [fused], [want, wantLse], { heads: 3, kvHeads: 3, headSize: 6 });
    for (const [place, each] of o.data.entries()) expect(each).toBeCloseTo(want.data[place]!, 12);
  });

  test('the norm of the narrow vector, whose rotary part passes', () => {
    const [kl, weights] = [randomTensor([S, B, 7]), randomTensor([5])];
    const [kc, kr, st] = [zeroTensor([S, B, 5]), zeroTensor([S, B, 2]), zeroTensor([1, S, B])];
    const [dkc, dkr, dkl, dw] = [randomTensor([S, B, 5]), randomTensor([S, B, 2]), like(kl), like(weights)];
    const run = () => call('latent-norm', [kl, weights], [kc, kr, st], { epsilon: 1e-5 });
    run();
    call('latent-norm.dx', [dkc, like(dkr), kl, st, weights], [dkl, dw]);
    expectGradient(kl, dkl, kc, dkc, run);
    expectGradient(weights, dw, kc, dkc, run);
    call('latent-norm.dx', [like(dkc), dkr, kl, st, weights], [dkl, dw]);
    expectGradient(kl, dkl, kr, dkr, run);
  });

  test('a part of each head turns and is turned back', () => {
    const [x, y, dy] = [randomTensor([S, B, 18]), zeroTensor([S, B, 18]), randomTensor([S, B, 18])];
    const dx = like(x);
    const attributes = { nopeSize: 4, ropeSize: 2, theta: 100 };
    call('rope-part.dx', [dy], [dx], attributes);
    expectGradient(x, dx, y, dy, () => call('rope-part', [x], [y], attributes));
    expect([0, 1, 2, 3].map((place) => y.data[18 + place])).toEqual([0, 1, 2, 3].map((place) => x.data[18 + place]));
  });
});
