import { expect, test } from 'vitest';
import { call, expectGradient, like, tensorDraws, zeroTensor } from './gradient.fixture.ts';
import { type Tensor, zigzagPlaces } from './tensor.ts';

const draw = tensorDraws();
const [ranks, rank, size, B] = [2, 1, 4, 2];
const heads = { heads: 2, kvHeads: 1, headSize: 3 };
const [Q, K] = [6, 6];

/** A tensor of one rank's zigzag pieces of a sequence. */
function inZigzag(tensor: Tensor): Tensor {
  const places = zigzagPlaces(size * ranks, ranks, rank);
  const [first, ...rest] = tensor.dims;
  return { ...tensor, dims: [{ ...first!, globalSize: size * ranks, places, zigzag: { ranks, rank } }, ...rest] };
}

test.each([
  ['all before', {}],
  ['a window', { window: 3 }],
  ['a cap', { cap: 1.5 }],
] as const)('gradients of a ring of blocks of attention, to %s, are those of finite differences', (_name, more) => {
  const qkv = inZigzag(draw([size, B, Q + K]));
  const keys = Array.from({ length: ranks }, () => inZigzag(draw([size, B, K])));
  const results = keys.map(() => ({ o: zeroTensor([size, B, Q]), lse: zeroTensor([2, size, B]) }));
  const run = (): void => {
    for (const [hop, kv] of keys.entries()) {
      const before = results[hop - 1];
      const { o, lse } = results[hop]!;
      call('attention.block', [qkv, kv, before?.o, before?.lse], [o, lse], { ...heads, ...more, hop });
    }
  };
  run();
  const { o, lse } = results.at(-1)!;
  const slope = draw([size, B, Q]);
  const dq = zeroTensor([size, B, Q]);
  for (const [hop, kv] of keys.entries()) {
    const part = like(dq);
    const dkv = like(kv);
    call('attention.block.dx', [slope, qkv, kv, o, lse], [part, dkv], { ...heads, ...more, hop });
    for (const [index, each] of part.data.entries()) dq.data[index]! += each;
    expectGradient(kv, dkv, o, slope, run);
  }
  const dqkv = like(qkv);
  call('join-qkv', [dq, zeroTensor([size, B, K])], [dqkv]);
  expectGradient(qkv, dqkv, o, slope, run);
  expect(dq.data.some((each) => each !== 0)).toBe(true);
});
