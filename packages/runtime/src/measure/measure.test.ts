import { expect, test } from 'vitest';
import { programOf, smallJob } from '../parity/layouts.fixture.ts';
import { measureExchanges } from './exchanges.ts';
import { measureKernels } from './kernels.ts';

test('every kernel of the programs is measured on each of its shapes once', async () => {
  const programs = [programOf(smallJob('gpt2')), programOf(smallJob('llama', { optimizer: 'sgd' }))];
  const told: string[] = [];
  const times = await measureKernels({
    ...{ programs, kernels: 'wasm', cores: 2, steps: 2 },
    onProgress: (done, all) => told.push(`${done}/${all}`),
  });
  const kernels = new Set(times.map(({ kernel }) => kernel));
  for (const kernel of ['gemm', 'gemm.dx', 'attention.dx', 'layernorm', 'rmsnorm', 'adamw', 'sgd'] as const) {
    expect(kernels).toContain(kernel);
  }
  const shapes = times.map(({ kernel, flops, bytes, bytesWritten }) => `${kernel} ${flops} ${bytes} ${bytesWritten}`);
  expect(new Set(shapes).size).toBe(times.length);
  for (const { seconds, between } of times) {
    expect(seconds).toBeGreaterThan(0);
    expect(between).toBeGreaterThan(0);
  }
  expect(told).toEqual(['0/2', '1/2', '2/2']);
});

test('rows that only several ranks have are measured where the cores are enough', async () => {
  const programs = [programOf(smallJob('moe'), { data: 2, expert: 2 }), programOf(smallJob('gpt2'), { context: 2 })];
  const times = await measureKernels({ programs, kernels: 'wasm', cores: 2, steps: 2 });
  const kernels = new Set(times.map(({ kernel }) => kernel));
  for (const kernel of ['expert-gemm.dw', 'permute', 'unpermute.dx', 'attention.block.dx'] as const) {
    expect(kernels).toContain(kernel);
  }
  expect(times.every(({ seconds, between }) => seconds > 0 && between === undefined)).toBe(true);
  expect(await measureKernels({ programs, kernels: 'wasm', cores: 1, steps: 2 })).toEqual([]);
});

test('every collective is measured with every size between every number of ranks', async () => {
  const times = await measureExchanges({ ranks: [2, 4], bytes: [1024, 65_536], steps: 2 });
  expect(times).toHaveLength(2 * 4 * 2);
  expect(new Set(times.map(({ kind, ranks, bytes }) => `${kind} ${ranks} ${bytes}`)).size).toBe(16);
  for (const { seconds } of times) {
    expect(seconds).toBeGreaterThan(0);
    expect(seconds).toBeLessThan(Infinity);
  }
});
