import { expect, test } from 'vitest';
import { expectGradient, tensorDraws, zeroTensor } from './gradient.fixture.ts';
import { tensorKernels } from './index.ts';
import { type Tensor, wholeTensor } from './tensor.ts';

const randomTensor = tensorDraws();

const [S, B, H, N, E, T] = [4, 2, 3, 5, 3, 2];
const M = S * B * T;

const call = (name: keyof typeof tensorKernels, reads: readonly Tensor[], writes: readonly Tensor[]): void =>
  tensorKernels[name]({ reads, writes, attributes: {}, draw: { seed: 7, firstSample: 3 } });

const like = (tensor: Tensor): Tensor => zeroTensor(tensor.dims.map((dim) => dim.size));
/** Rows of E experts: the kernels ask the first dim for E and the data for the number of rows. */
const rows = (width: number, make: (sizes: readonly number[]) => Tensor): Tensor => {
  const { data } = make([M, width]);
  return { data, dims: wholeTensor(data, [E, M / E, width]).dims };
};
/** Two different experts for each token; expert 1 has most, expert 2 few. */
const ri = wholeTensor(Int32Array.from([0, 1, 1, 0, 1, 2, 0, 1, 1, 0, 1, 2, 1, 0, 0, 1]), [S, B, T]);
const rc = wholeTensor(new Int32Array(E), [1, E]);

test('rows are counted by expert', () => {
  call('count-rows', [ri], [rc]);
  expect([...rc.data]).toEqual([6, 8, 2]);
});

test('rows stand by expert, in an expert by token, and go back to their tokens', () => {
  const x = wholeTensor(
    Float64Array.from({ length: S * B }, (_, token) => token),
    [S, B, 1],
  );
  const xs = rows(1, zeroTensor);
  call('permute', [x, ri], [xs]);
  expect([...xs.data]).toEqual([0, 1, 3, 4, 6, 7, 0, 1, 2, 3, 4, 5, 6, 7, 2, 5]);
  const half = wholeTensor(new Float64Array(M).fill(0.5), [S, B, T]);
  const back = like(x);
  call('unpermute', [xs, half, ri], [back]);
  expect(back.data).toEqual(x.data);
});

test('gradients of routed rows are those of finite differences', () => {
  call('count-rows', [ri], [rc]);
  const [x, w, rw] = [randomTensor([S, B, H]), randomTensor([E, N, H]), randomTensor([S, B, T])];
  const [xs, y] = [rows(H, zeroTensor), rows(N, zeroTensor)];
  const c = zeroTensor([S, B, N]);
  const dc = randomTensor([S, B, N]);
  const run = () => {
    call('permute', [x, ri], [xs]);
    call('expert-gemm', [xs, w, rc], [y]);
    call('unpermute', [y, rw, ri], [c]);
  };
  run();
  const [dy, drw, dxs, dw, dx] = [rows(N, zeroTensor), like(rw), rows(H, zeroTensor), like(w), like(x)];
  call('unpermute.dx', [dc, y, rw, ri], [dy, drw]);
  call('expert-gemm.dx', [dy, w, rc], [dxs]);
  call('expert-gemm.dw', [dy, xs, rc], [dw]);
  call('permute.dx', [dxs, ri], [dx]);
  expectGradient(rw, drw, c, dc, run);
  expectGradient(w, dw, c, dc, run);
  expectGradient(x, dx, c, dc, run);
});
