import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { clusterFromRequest, createCluster } from '../cluster/index.ts';
import { createMesh } from '../mesh/index.ts';
import type { AttentionWork, GemmWork } from '../program/index.ts';
import { createPrices } from './index.ts';

const one = createMesh({});
const gemm = (m: number, n: number, k: number, more: Partial<GemmWork> = {}): GemmWork => {
  const batch = more.batch ?? 1;
  const width = more.dtype === 'fp8' ? 1 : 2;
  return {
    kind: 'gemm',
    m,
    n,
    k,
    batch,
    dtype: 'bf16',
    accumulate: false,
    flops: 2 * batch * m * n * k,
    bytesRead: width * batch * (m * k + k * n),
    bytesWritten: 2 * batch * m * n,
    ...more,
  };
};

const table = readFileSync(new URL('../../../../data/gemm.csv', import.meta.url), 'utf8')
  .trim()
  .split('\n')
  .slice(1)
  .map((line) => line.split(','))
  .map(([gpu, dtype, op, batch, m, n, k, , time, tflops]) => {
    const work = gemm(Number(m), Number(n), Number(k), { batch: Number(batch), dtype: dtype as GemmWork['dtype'] });
    return { gpu, dtype, op, work, seconds: time ? Number(time) * 1e-6 : work.flops / (Number(tflops) * 1e12) };
  });

const devices: readonly (readonly [string, string, string, number])[] = [
  ['A100-SXM', 'A100-80GB-SXM', 'bf16', 7],
  ['A100-PCIe', 'A100-80GB-PCIe', 'bf16', 4],
  ['H100-SXM', 'H100-80GB-SXM', 'bf16', 4],
  ['H100-SXM', 'H100-80GB-SXM', 'fp8', 4],
  ['H200-SXM', 'H200-141GB-SXM', 'bf16', 4],
  ['H200-SXM', 'H200-141GB-SXM', 'fp8', 4],
  ['B200-SXM', 'B200-SXM', 'bf16', 5.5],
  ['B200-SXM', 'B200-SXM', 'fp8', 5],
  ['B300-SXM', 'B300-SXM', 'bf16', 7],
  ['B300-SXM', 'B300-SXM', 'fp8', 5],
  ['GB300', 'GB300', 'bf16', 5],
  ['GB300', 'GB300', 'fp8', 4],
  ['GB200', 'GB200', 'bf16', 7],
  ['GB200', 'GB200', 'fp8', 6],
];

describe('products against the table that they were fitted to (burst rates)', () => {
  it.each(devices)('%s as %s %s has a mean error below %d %%', (gpu, name, dtype, bound) => {
    const { cluster } = clusterFromRequest({ gpu: name }, 'cluster');
    if (!cluster) throw new Error('no cluster');
    const prices = createPrices(cluster, one, { sustained: 1 });
    const rows = table.filter((row) => row.gpu === gpu && row.dtype === dtype && /^gemm(-tn|-nn)?$/.test(row.op ?? ''));
    expect(rows.length).toBeGreaterThan(70);
    const errors = rows.map((row) => Math.abs(prices.compute(row.work) / row.seconds - 1) * 100);
    expect(errors.reduce((sum, each) => sum + each, 0) / errors.length).toBeLessThan(bound);
  });
});

describe('products', () => {
  const prices = createPrices(createCluster('dgx-h100'), one);
  const rate = (work: GemmWork): number => work.flops / prices.compute(work) / 1e12;
  it('run at what training keeps up, 630 to 680 TFLOP/s of an H100, when they are large', () => {
    expect(rate(gemm(8192, 8192, 8192))).toBeGreaterThan(630);
    expect(rate(gemm(8192, 8192, 8192))).toBeLessThan(680);
  });
  it('lose most of it when they are small or shallow', () => {
    expect(rate(gemm(512, 512, 512))).toBeLessThan(200);
    expect(rate(gemm(4096, 4096, 64))).toBeLessThan(300);
  });
  it('pay for adding into the output and for many small ones', () => {
    expect(prices.compute(gemm(8192, 8192, 4096, { accumulate: true }))).toBeGreaterThan(
      prices.compute(gemm(8192, 8192, 4096)),
    );
    expect(prices.compute(gemm(1024, 4096, 4096, { batch: 8 }))).toBeGreaterThan(
      prices.compute(gemm(8192, 4096, 4096)),
    );
  });
  it('take longer with more of any dim', () => {
    const size = fc.integer({ min: 1, max: 20_000 });
    fc.assert(
      fc.property(size, size, size, fc.integer({ min: 1, max: 4000 }), (m, n, k, more) => {
        const base = prices.compute(gemm(m, n, k));
        expect(prices.compute(gemm(m + more, n, k))).toBeGreaterThanOrEqual(base);
        expect(prices.compute(gemm(m, n, k + more))).toBeGreaterThanOrEqual(base);
      }),
    );
  });
  it('apply the derate once', () => {
    const burst = createPrices(createCluster('dgx-h100'), one, { sustained: 1 });
    const work = gemm(8192, 8192, 8192);
    expect(burst.compute(work) / prices.compute(work)).toBeCloseTo(0.8, 2);
  });
  it('split the depth of a weight gradient that has few tiles', () => {
    const deep = { m: 512, n: 512, k: 65_536 };
    expect(prices.compute(gemm(deep.m, deep.n, deep.k, { accumulate: true }))).toBeLessThan(
      0.6 * prices.compute(gemm(deep.m, deep.n, deep.k)),
    );
  });
});

describe('attention', () => {
  const prices = createPrices(createCluster('dgx-h100'), one);
  const attention = (more: Partial<AttentionWork>): AttentionWork => {
    const work = { sequence: 4096, batch: 1, heads: 32, headSize: 128, direction: 'forward' as const, ...more };
    const flops =
      2 * work.batch * work.heads * work.sequence ** 2 * work.headSize * (work.direction === 'forward' ? 1 : 2.5);
    return { kind: 'attention', kvHeads: 8, dtype: 'bf16', bytesRead: 0, bytesWritten: 0, flops, ...work };
  };
  const share = (work: AttentionWork): number => work.flops / prices.compute(work) / 989e12;
  it('reaches about half of peak on long sequences, less backward, for head size 64 and for few heads', () => {
    expect(share(attention({ sequence: 16_384 }))).toBeGreaterThan(0.5);
    expect(share(attention({ sequence: 16_384 }))).toBeLessThan(0.62);
    expect(share(attention({ direction: 'backward' }))).toBeLessThan(share(attention({})));
    expect(share(attention({ headSize: 64 }))).toBeLessThan(0.85 * share(attention({})));
    expect(share(attention({ heads: 2 }))).toBeLessThan(0.6 * share(attention({})));
    expect(share(attention({ sequence: 512, batch: 8 }))).toBeLessThan(0.75 * share(attention({})));
  });
  it('under a window runs at the rate of the keys that a query meets, whatever the length of the sequence', () => {
    const window = (sequence: number, keys: number, farEdge = true): number =>
      share(attention({ sequence, seen: { keys, farEdge } }));
    expect(window(65_536, 1024)).toBeCloseTo(window(32_768, 1024), 1);
    expect(window(32_768, 1024)).toBeLessThan(0.9 * share(attention({ sequence: 32_768 })));
    expect(window(32_768, 128)).toBeLessThan(0.5 * share(attention({ sequence: 32_768 })));
    // Chunks have no far edge: a query meets half of its chunk, as in a sequence of that length.
    expect(window(32_768, 512, false)).toBeGreaterThan(window(32_768, 512));
    expect(window(32_768, 16_384, false)).toBeCloseTo(share(attention({ sequence: 32_768 })), 9);
  });
});

it('prices memory-bound work by bytes over the measured bandwidth', () => {
  const prices = createPrices(createCluster('dgx-a100'), one);
  const time = prices.compute({ kind: 'memory', flops: 0, bytesRead: 1e9, bytesWritten: 0.7e9 });
  expect(time).toBeCloseTo(1.7e9 / (2.039e12 * 0.834) + 2e-6, 9);
});

it('states the host floor: a forward layer of 14 kernels is late below 0.3 to 0.45 ms', () => {
  const { launchCompute } = createPrices(createCluster('dgx-h100'), one);
  expect(14 * launchCompute).toBeGreaterThan(0.3e-3);
  expect(14 * launchCompute).toBeLessThan(0.45e-3);
});
