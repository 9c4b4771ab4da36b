import { describe, expect, it } from 'vitest';
import { createCluster } from '../cluster/index.ts';
import { createMesh } from '../mesh/index.ts';
import type { AttentionWork, GemmWork, MemoryWork } from '../program/index.ts';
import { createPrices, type PriceOptions } from './index.ts';

const cluster = createCluster('dgx-h100', 2);
const mesh = createMesh({ tensor: 8, data: 2 });
const pricesUnder = (options: PriceOptions) => createPrices(cluster, mesh, options);
const plain = pricesUnder({});

const product: GemmWork = {
  kind: 'gemm',
  m: 8192,
  n: 8192,
  k: 8192,
  batch: 1,
  dtype: 'bf16',
  accumulate: false,
  flops: 2 * 8192 ** 3,
  bytesRead: 4 * 8192 ** 2,
  bytesWritten: 2 * 8192 ** 2,
};
const attention: AttentionWork = {
  kind: 'attention',
  direction: 'forward',
  sequence: 8192,
  batch: 1,
  heads: 32,
  kvHeads: 8,
  headSize: 128,
  dtype: 'bf16',
  flops: 2 * 8192 ** 2 * 32 * 128,
  bytesRead: 1e8,
  bytesWritten: 1e8,
};
const norm: MemoryWork = { kind: 'memory', flops: 0, bytesRead: 1e9, bytesWritten: 1e9 };

describe('habits of a framework in prices', () => {
  it('change nothing where none is given', () => {
    const none = pricesUnder({ traffic: {}, attention: { forward: 1, backward: 1 }, spread: 0, rings: 'tiers' });
    for (const work of [product, attention, norm]) expect(none.compute(work)).toBe(plain.compute(work));
  });
  it('run products in fp8, but not the head', () => {
    const eight = pricesUnder({ fp8: { vocabulary: 8 * 16_032 } });
    expect(eight.compute(product)).toBeLessThan(0.7 * plain.compute(product));
    const head = { ...product, n: 16_032 };
    expect(eight.compute(head)).toBe(plain.compute(head));
    const byRow = pricesUnder({ fp8: { vocabulary: 128_256, casts: 2 } });
    expect(byRow.compute(product)).toBeGreaterThan(eight.compute(product));
  });
  it('cast what a product reads in fp32', () => {
    const wide: GemmWork = { ...product, dtype: 'fp32', bytesRead: 6 * 8192 ** 2 };
    const casting = pricesUnder({ castsProducts: true });
    expect(casting.compute(wide)).toBeGreaterThan(plain.compute(product));
    expect(casting.compute(wide)).toBeLessThan(plain.compute(wide));
  });
  it('add weight gradients in a kernel of its own, 10 bytes an element', () => {
    const gradient = { ...product, accumulate: true };
    const separate = pricesUnder({ addsSeparately: true });
    const rate = cluster.device.memoryBandwidth.value * cluster.device.memoryEfficiency.value;
    expect(separate.compute(gradient) - plain.compute(product)).toBeCloseTo((10 * 8192 ** 2) / rate + 2e-6, 9);
  });
  it('slow attention, move more bytes, wait for the slowest of all devices', () => {
    expect(pricesUnder({ attention: { forward: 0.5, backward: 1 } }).compute(attention)).toBeCloseTo(
      2 * plain.compute(attention),
      4,
    );
    expect(pricesUnder({ traffic: { rmsnorm: 9 } }).compute(norm, 'rmsnorm')).toBeCloseTo(9 * plain.compute(norm), 4);
    expect(pricesUnder({ traffic: { rmsnorm: 9 } }).compute(norm, 'adamw')).toBe(plain.compute(norm));
    const slowest = 1 + 0.01 * Math.sqrt(2 * Math.log(16));
    expect(pricesUnder({ spread: 0.01 }).compute(norm)).toBeCloseTo(slowest * plain.compute(norm), 9);
  });
  it('hide a share of tensor exchanges, and run flat rings over data', () => {
    const gather = { kind: 'all-gather', algorithm: 'ring', bytes: 1e8 } as const;
    const tensor = { ...gather, axes: ['tensor'] } as const;
    expect(pricesUnder({ tensorHidden: 0.75 }).exchange(tensor)).toBeCloseTo(0.25 * plain.exchange(tensor), 9);
    const whole = createMesh({ data: 16 });
    const over = { ...gather, axes: ['data'] } as const;
    const flat = createPrices(cluster, whole, { rings: 'flat' });
    expect(flat.exchange(over)).toBeGreaterThan(createPrices(cluster, whole).exchange(over));
  });
});
