import { expect, test } from 'vitest';
import { call, expectGradient, hasKernel, like, tensorDraws, zeroTensor } from './gradient.fixture.ts';
import { tensorKernels } from './index.ts';
import { type Tensor, wholeTensor } from './tensor.ts';

const randomTensor = tensorDraws();

const S = 5;
const B = 2;
const H = 6;
const heads = { heads: 4, kvHeads: 2, headSize: 4 };
const P = 4 * (4 + 2 * 2);

test('every backward row of the table has a kernel', () => {
  expect(Object.keys(tensorKernels).filter((name) => !hasKernel(name))).toEqual([]);
});

test('gradients of a product with bias are those of finite differences', () => {
  const [x, w, bias, y] = [randomTensor([S, B, H]), randomTensor([3, H]), randomTensor([3]), zeroTensor([S, B, 3])];
  const dy = randomTensor([S, B, 3]);
  const [dx, dw, db, dbAlone] = [like(x), like(w), like(bias), like(bias)];
  const run = () => call('gemm', [x, w, bias], [y]);
  call('gemm.dx', [dy, w], [dx]);
  call('gemm.dw', [dy, x], [dw, db]);
  call('bias.dw', [dy], [dbAlone]);
  expectGradient(x, dx, y, dy, run);
  expectGradient(w, dw, y, dy, run);
  expectGradient(bias, db, y, dy, run);
  expect(dbAlone.data).toEqual(db.data);
});

test.each(['layernorm', 'rmsnorm'] as const)('gradients of %s are those of finite differences', (name) => {
  const shifted = name === 'layernorm';
  const [x, w, b, y] = [randomTensor([S, B, H]), randomTensor([H]), randomTensor([H]), zeroTensor([S, B, H])];
  const st = zeroTensor([shifted ? 2 : 1, S, B]);
  const [dy, residual] = [randomTensor([S, B, H]), randomTensor([S, B, H])];
  const [dx, dw, db] = [like(x), like(w), like(b)];
  const run = () => call(name, shifted ? [x, w, b] : [x, w], [y, st], { epsilon: 1e-5 });
  run();
  call(`${name}.dx`, [dy, x, st, w, undefined], shifted ? [dx, dw, db] : [dx, dw], {});
  expectGradient(x, dx, y, dy, run);
  expectGradient(w, dw, y, dy, run);
  if (shifted) expectGradient(b, db, y, dy, run);
  const withResidual = like(x);
  call(`${name}.dx`, [dy, x, st, w, residual], [withResidual, dw, db], {});
  expect([...withResidual.data]).toEqual([...dx.data].map((each, index) => each + residual.data[index]!));
});

test('the gradient of rotary positions is the rotation back', () => {
  const [x, y, dy] = [randomTensor([S, B, P]), zeroTensor([S, B, P]), randomTensor([S, B, P])];
  const dx = like(x);
  const run = () => call('rope', [x], [y], { ...heads, theta: 100 });
  call('rope.dx', [dy], [dx], { ...heads, theta: 100 });
  expectGradient(x, dx, y, dy, run);
});

test('a part of each head turns, and the rest passes', () => {
  const [x, y, dy] = [randomTensor([S, B, P]), zeroTensor([S, B, P]), randomTensor([S, B, P])];
  const dx = like(x);
  const attributes = { ...heads, theta: 100, turned: 2 };
  const run = () => call('rope', [x], [y], attributes);
  call('rope.dx', [dy], [dx], attributes);
  expectGradient(x, dx, y, dy, run);
  expect([2, 3, 6, 7].map((place) => y.data[place])).toEqual([2, 3, 6, 7].map((place) => x.data[place]));
});

test('gradients of norms on queries and keys are those of finite differences', () => {
  const [qkv, qn, kn, out] = [randomTensor([S, B, P]), randomTensor([4]), randomTensor([4]), zeroTensor([S, B, P])];
  const [raw, st, dy] = [zeroTensor([S, B, 24]), zeroTensor([6, S, B]), randomTensor([S, B, P])];
  const [dx, dqn, dkn] = [like(qkv), like(qn), like(kn)];
  const run = () => call('qk-norm', [qkv, qn, kn], [out, raw, st], { ...heads, epsilon: 1e-5 });
  run();
  call('qk-norm.dx', [dy, raw, st, qn, kn], [dx, dqn, dkn], heads);
  expectGradient(qkv, dx, out, dy, run);
  expectGradient(qn, dqn, out, dy, run);
  expectGradient(kn, dkn, out, dy, run);
});

test('gradients of norms over all queries and all keys are those of finite differences', () => {
  const [qkv, qn, kn, out] = [randomTensor([S, B, P]), randomTensor([16]), randomTensor([8]), zeroTensor([S, B, P])];
  const [raw, st, dy] = [zeroTensor([S, B, 24]), zeroTensor([2, S, B]), randomTensor([S, B, P])];
  const [dx, dqn, dkn] = [like(qkv), like(qn), like(kn)];
  const run = () => call('qk-norm-all', [qkv, qn, kn], [out, raw, st], { ...heads, epsilon: 1e-5 });
  run();
  call('qk-norm-all.dx', [dy, raw, st, qn, kn], [dx, dqn, dkn], heads);
  expectGradient(qkv, dx, out, dy, run);
  expectGradient(qn, dqn, out, dy, run);
  expectGradient(kn, dkn, out, dy, run);
});

test('a factor on a product and on an embedding passes into their gradients', () => {
  const [x, w, bias, y] = [randomTensor([S, B, H]), randomTensor([3, H]), randomTensor([3]), zeroTensor([S, B, 3])];
  const dy = randomTensor([S, B, 3]);
  const [dx, dw, db] = [like(x), like(w), like(bias)];
  const run = () => call('gemm', [x, w, bias], [y], { factor: 0.5 });
  call('gemm.dx', [dy, w], [dx], { factor: 0.5 });
  call('gemm.dw', [dy, x], [dw, db], { factor: 0.5 });
  expectGradient(x, dx, y, dy, run);
  expectGradient(w, dw, y, dy, run);
  expectGradient(bias, db, y, dy, run);
});

test.each([heads, { ...heads, window: 2 }, { ...heads, cap: 0.5 }])(
  'gradients of blockwise attention: %j',
  (attributes) => {
    const [qkv, o, lse] = [randomTensor([S, B, P]), zeroTensor([S, B, 16]), zeroTensor([4, S, B])];
    const [dO, dqkv] = [randomTensor([S, B, 16]), zeroTensor([S, B, P])];
    const run = () => call('attention', [qkv], [o, lse], attributes);
    run();
    call('attention.dx', [dO, qkv, o, lse], [dqkv], attributes);
    expectGradient(qkv, dqkv, o, dO, run);
  },
);

test('gradients of unfused attention, dropout inside, are those of finite differences', () => {
  const labels = ['a', 'b', 's', 's'];
  const qkv = randomTensor([S, B, P]);
  const [sc, pr, pd] = [1, 2, 3].map(() => zeroTensor([4, B, S, S], labels)) as [Tensor, Tensor, Tensor];
  const mask = wholeTensor(new Uint8Array(4 * B * S * S), [4, B, S, S], labels);
  const [o, dO] = [zeroTensor([S, B, 16]), randomTensor([S, B, 16])];
  const run = () => {
    call('scores', [qkv], [sc], heads);
    call('softmax', [sc], [pr]);
    call('dropout', [pr], [pd, mask], { p: 0.3 });
    call('context', [pd, qkv], [o], heads);
  };
  run();
  const [dpd, dpr, dsc, values, queries] = [like(sc), like(sc), like(sc), like(qkv), like(qkv)];
  call('context.dx', [dO, pd, qkv], [dpd, values], heads);
  call('dropout.dx', [dpd, mask], [dpr], { p: 0.3 });
  call('softmax.dx', [dpr, pr], [dsc]);
  call('scores.dx', [dsc, qkv], [queries], heads);
  const sum = like(qkv);
  sum.data.set([...values.data].map((each, index) => each + queries.data[index]!));
  expectGradient(qkv, sum, o, dO, run);
});

test.each(['gelu', 'gelu-tanh', 'silu', 'relu'])('gradients of %s, alone and gated, are finite differences', (name) => {
  const [x, y, dy, dx] = [randomTensor([S, H]), zeroTensor([S, H]), randomTensor([S, H]), zeroTensor([S, H])];
  call('activation.dx', [dy, x], [dx], { function: name });
  expectGradient(x, dx, y, dy, () => call('activation', [x], [y], { function: name }));
  const [g, z, dz, dg] = [randomTensor([S, 2 * H]), zeroTensor([S, H]), randomTensor([S, H]), zeroTensor([S, 2 * H])];
  call('gated.dx', [dz, g], [dg], { function: name });
  expectGradient(g, dg, z, dz, () => call('gated', [g], [z], { function: name }));
});

test('gradients of dropout on a branch are those of finite differences', () => {
  const labels = ['s', 'b', 'h'];
  const branch = randomTensor([S, B, H], labels);
  const [bias, residual, y] = [randomTensor([H]), randomTensor([S, B, H], labels), zeroTensor([S, B, H], labels)];
  const mask = wholeTensor(new Uint8Array(S * B * H), [S, B, H], labels);
  const [dy, dx, db] = [randomTensor([S, B, H]), zeroTensor([S, B, H]), zeroTensor([H])];
  const run = () => call('dropout-add', [branch, bias, residual], [y, mask], { p: 0.4 });
  run();
  call('dropout.dx', [dy, mask], [dx], { p: 0.4 });
  call('bias.dw', [dx], [db]);
  expectGradient(branch, dx, y, dy, run);
  expectGradient(bias, db, y, dy, run);
  expectGradient(residual, dy, y, dy, run);
});

test('gradients of embeddings are those of finite differences', () => {
  const tokens = wholeTensor(
    Int32Array.from({ length: S * B }, (_, index) => (index * 3) % 4),
    [S, B],
  );
  const [w, y, dy, dw] = [randomTensor([4, H]), zeroTensor([S, B, H]), randomTensor([S, B, H]), zeroTensor([4, H])];
  call('embedding.dw', [tokens, dy], [dw]);
  expectGradient(w, dw, y, dy, () => call('embedding', [tokens, w], [y]));
  const [x, table, dTable] = [randomTensor([S, B, H]), randomTensor([8, H]), zeroTensor([8, H])];
  call('position.dw', [dy], [dTable]);
  expectGradient(table, dTable, y, dy, () => call('position', [x, table], [y]));
});

test('the gradient of the loss is that of finite differences', () => {
  const V = 7;
  const labels = wholeTensor(
    Int32Array.from({ length: S * B }, (_, index) => (index * 5) % V),
    [S, B],
  );
  const [z, mx, se, tl] = [randomTensor([S, B, V]), zeroTensor([S, B]), zeroTensor([S, B]), zeroTensor([S, B])];
  const scale = wholeTensor(Float64Array.of(0.25), []);
  const [loss, one, dz] = [zeroTensor([]), wholeTensor(Float64Array.of(1), []), zeroTensor([S, B, V])];
  const run = () => {
    call('rowmax', [z], [mx]);
    call('rowsumexp', [z, mx, labels], [se, tl]);
    call('nll', [mx, se, tl, scale], [loss]);
  };
  run();
  call('cross-entropy.dx', [z, mx, se, labels, scale], [dz]);
  expectGradient(z, dz, loss, one, run);
});

test('gradients of routed experts are those of finite differences', () => {
  const [E, T, F] = [4, 2, 3];
  const [rl, x, w] = [randomTensor([S, B, E]), randomTensor([S, B, H]), randomTensor([E, F, H])];
  const [rw, ri] = [zeroTensor([S, B, T]), wholeTensor(new Int32Array(S * B * T), [S, B, T])];
  const [xe, ce, c] = [zeroTensor([S, B, T, H]), zeroTensor([S, B, T, F]), zeroTensor([S, B, F])];
  const run = () => {
    call('topk', [rl], [rw, ri]);
    call('dispatch', [x, ri], [xe]);
    call('grouped-gemm', [xe, w, ri], [ce]);
    call('combine', [ce, rw], [c]);
  };
  run();
  const dc = randomTensor([S, B, F]);
  const [dce, drw, drl, dxe, dx, dw] = [like(ce), like(rw), like(rl), like(xe), like(x), like(w)];
  call('combine.dx', [dc, ce, rw], [dce, drw]);
  call('topk.dx', [drw, rw, ri], [drl]);
  call('grouped-gemm.dx', [dce, w, ri], [dxe]);
  call('dispatch.dx', [dxe, ri], [dx]);
  call('grouped-gemm.dw', [dce, xe, ri], [dw]);
  expectGradient(rl, drl, c, dc, run);
  expectGradient(x, dx, c, dc, run);
  expectGradient(w, dw, c, dc, run);
});
