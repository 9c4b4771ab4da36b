import { describe, expect, it } from 'vitest';
import { clusterFromRequest } from '../cluster/index.ts';
import { algorithms, protocols, timeAlone } from '../collectives/index.ts';
import { createMesh } from '../mesh/index.ts';
import { createPrices, type ExchangeWays } from './index.ts';

function pricesOf(request: string, degrees: { tensor?: number; data?: number }, ways: ExchangeWays) {
  const { cluster } = clusterFromRequest(request, 'cluster');
  if (!cluster) throw new Error('internal: no cluster.');
  const prices = createPrices(cluster, createMesh(degrees), { ways });
  const timeOf = (kind: 'all-reduce' | 'all-gather', bytes: number, axis: 'tensor' | 'data'): number =>
    prices.exchange({ kind, algorithm: 'ring', bytes, axes: [axis] });
  return { cluster, prices, timeOf };
}

describe('exchanges whose way is chosen', () => {
  it('take their closed form alone on a link, for every algorithm and protocol', () => {
    for (const algorithm of ['ring', 'tree', 'halving-doubling', 'in-switch', 'direct'] as const) {
      for (const protocol of ['ll', 'll128', 'simple'] as const) {
        const { cluster, timeOf } = pricesOf('1x dgx-h100', { tensor: 8 }, { algorithm, protocol });
        const { intra } = cluster;
        const { share, latency } = protocols[protocol];
        const form = timeAlone(
          algorithms[algorithm],
          'all-reduce',
          1e8,
          8,
          intra.latency.value * latency.nvlink,
          intra.bandwidth.value * intra.efficiency.value * share,
        );
        expect(timeOf('all-reduce', 1e8, 'tensor') / form).toBeCloseTo(1, 12);
      }
    }
  });

  it('work in tiers: pieces of the bytes on the network, the slower one whole and the other by its overlap', () => {
    const { cluster, timeOf } = pricesOf('4x dgx-h100', { data: 32 }, { algorithm: 'ring', protocol: 'simple' });
    const { intra, inter } = cluster;
    const inside = (1.75 * 1e9) / (intra.bandwidth.value * intra.efficiency.value);
    const between = (1.5 * 1.25e8) / (inter.rate.value * inter.efficiency.value);
    const latency = 14 * intra.latency.value + 6 * inter.latency.value;
    const form = latency + Math.max(inside, between) + 0.15 * Math.min(inside, between);
    expect(timeOf('all-reduce', 1e9, 'data') / form).toBeCloseTo(1, 12);
  });

  it('take another way for collectives that theirs does not take', () => {
    const ring = pricesOf('1x dgx-h100', { tensor: 8 }, { algorithm: 'ring', protocol: 'simple' });
    const tree = pricesOf('1x dgx-h100', { tensor: 8 }, { algorithm: 'tree', protocol: 'simple' });
    expect(tree.timeOf('all-gather', 1e8, 'tensor')).toBe(ring.timeOf('all-gather', 1e8, 'tensor'));
  });

  it('are as libraries choose: no forced way is faster', () => {
    const library = pricesOf('4x dgx-h100', { tensor: 8, data: 4 }, { algorithm: 'library' });
    for (const bytes of [64, 1e4, 1e6, 1e8]) {
      const best = library.timeOf('all-reduce', bytes, 'tensor');
      for (const algorithm of ['ring', 'tree', 'in-switch'] as const) {
        const forced = pricesOf('4x dgx-h100', { tensor: 8, data: 4 }, { algorithm });
        expect(best).toBeLessThanOrEqual(forced.timeOf('all-reduce', bytes, 'tensor') * (1 + 1e-12));
      }
    }
  });

  it('load the links as their algorithm does', () => {
    const { prices } = pricesOf('4x dgx-h100', { tensor: 8, data: 4 }, { algorithm: 'tree' });
    const tiers = prices.tiersOf({ kind: 'all-reduce', algorithm: 'ring', bytes: 1e6, axes: ['data'] });
    expect(tiers.between.name).toBe('tree');
  });
});
