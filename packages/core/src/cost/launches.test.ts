import { describe, expect, it } from 'vitest';
import { createCluster } from '../cluster/index.ts';
import { createMesh } from '../mesh/index.ts';
import type { GemmWork, KernelName } from '../program/index.ts';
import { createPrices } from './prices.ts';

const cluster = createCluster('dgx-h100');
const mesh = createMesh({ expert: 8 });
const pricesUnder = (expertProducts: 'grouped' | 'each') => createPrices(cluster, mesh, { expertProducts });

/** Products of 16 experts. */
const products = (experts: number): GemmWork => ({
  kind: 'gemm',
  m: 2048,
  n: 1536,
  k: 2048,
  batch: experts,
  dtype: 'bf16',
  accumulate: false,
  flops: 2 * 2048 * 1536 * 2048 * experts,
  bytesRead: 2 * experts * 2048 * (2048 + 1536),
  bytesWritten: 2 * experts * 2048 * 1536,
});

const ofExperts: readonly KernelName[] = ['expert-gemm', 'expert-gemm.dx', 'expert-gemm.dw', 'grouped-gemm'];

describe('products of experts', () => {
  it.each(ofExperts)('%s takes as many launches as the rank has experts where they run one by one', (kernel) => {
    const [grouped, each] = [pricesUnder('grouped'), pricesUnder('each')];
    for (const experts of [1, 2, 16, 64]) {
      const work = products(experts);
      expect(grouped.launch(work, kernel)).toBe(grouped.launchCompute);
      expect(each.launch(work, kernel)).toBeCloseTo(experts * each.launchCompute, 15);
    }
  });
  it('start four at a time on the device where they run one by one', () => {
    const [grouped, each] = [pricesUnder('grouped'), pricesUnder('each')];
    const extra = (experts: number): number =>
      each.compute(products(experts), 'expert-gemm') - grouped.compute(products(experts), 'expert-gemm');
    expect(extra(1)).toBe(0);
    expect(extra(4)).toBe(0);
    expect(extra(16)).toBeGreaterThan(0);
    // 16 experts start 4 times in place of once, 64 start 16 times.
    expect(extra(64)).toBeCloseTo(5 * extra(16), 12);
  });
  it('are the only kernels of several launches: scores of attention are one product for all heads', () => {
    const each = pricesUnder('each');
    for (const kernel of ['gemm', 'scores', 'context', undefined] as const) {
      expect(each.launch(products(16), kernel)).toBe(each.launchCompute);
      expect(each.compute(products(16), kernel)).toBe(pricesUnder('grouped').compute(products(16), kernel));
    }
  });
});
