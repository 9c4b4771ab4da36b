import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { clusterFromRequest } from '../cluster/index.ts';
import { createMesh } from '../mesh/index.ts';
import { createPrices, type ExchangeAlgorithm } from './index.ts';

/** Nodes of one device each: every link is the network. */
function networkOf(ranks: number) {
  const { cluster } = clusterFromRequest({ preset: 'rtx-workstation', nodes: ranks, gpusPerNode: 1 }, 'cluster');
  if (!cluster) throw new Error('internal: the fixture is broken.');
  const { rate, efficiency, latency } = cluster.inter;
  const prices = createPrices(cluster, createMesh({ data: ranks }));
  return {
    latency: latency.value,
    bandwidth: rate.value * efficiency.value,
    seconds: (algorithm: ExchangeAlgorithm, bytes: number): number =>
      prices.exchange({ kind: 'all-reduce', algorithm, bytes, axes: ['data'] }),
  };
}

/** S = N (N - 1 - log2 N) a B: where 2 (N-1) (a + S / (N B)) of a ring is 2 log2(N) a + 2 S / B of a tree. */
const equalBytes = (ranks: number, latency: number, bandwidth: number): number =>
  ranks * (ranks - 1 - Math.log2(ranks)) * latency * bandwidth;

const powers = fc.integer({ min: 3, max: 9 }).map((exponent) => 2 ** exponent);

describe('a tree and a ring', () => {
  it('take the same time at S = N (N - 1 - log2 N) a B', () => {
    for (const ranks of [8, 64, 512]) {
      const { latency, bandwidth, seconds } = networkOf(ranks);
      const bytes = equalBytes(ranks, latency, bandwidth);
      expect(seconds('tree', bytes) / seconds('ring', bytes)).toBeCloseTo(1, 9);
    }
  });

  it('the tree wins below, the ring above, and prices take the faster', () => {
    fc.assert(
      fc.property(powers, fc.double({ min: 0.01, max: 0.99, noNaN: true }), (ranks, share) => {
        const { latency, bandwidth, seconds } = networkOf(ranks);
        const [below, above] = [share, 1 / share].map((each) => each * equalBytes(ranks, latency, bandwidth)) as [
          number,
          number,
        ];
        expect(seconds('tree', below)).toBeLessThan(seconds('ring', below));
        expect(seconds('ring', above)).toBeLessThan(seconds('tree', above));
        expect(seconds('auto', below)).toBe(seconds('tree', below));
        expect(seconds('auto', above)).toBe(seconds('ring', above));
      }),
    );
  });
});
