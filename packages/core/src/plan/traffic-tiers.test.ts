import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { clusterFromRequest } from '../cluster/index.ts';
import { createPrices } from '../cost/index.ts';
import { createMesh } from '../mesh/index.ts';
import { tiersOf } from './traffic-tiers.ts';

const clusterOf = (text: string) => {
  const { cluster } = clusterFromRequest(text, 'cluster');
  if (!cluster) throw new Error('internal: the fixture is broken.');
  return cluster;
};
const tiers = (cluster: string, tensor: number, data: number, collective: string, bytes: number) => {
  const spec = clusterOf(cluster);
  const prices = createPrices(spec, createMesh({ tensor, data }));
  return tiersOf(spec, prices.linkOf(['data']), collective, bytes);
};

describe('bytes by link', () => {
  it('of a ring over two nodes of eight: seven eighths stay inside, a sixteenth crosses', () => {
    const sent = 15;
    expect(tiers('2x dgx-h100', 1, 16, 'all-gather', sent)).toEqual([
      { link: 'NVLink 4', bytesPerRank: 14 },
      { link: 'InfiniBand 400 Gb/s', bytesPerRank: 1 },
    ]);
  });

  it('cross whole where every member sits on a node of its own, and where neighbours send', () => {
    expect(tiers('8x dgx-h100', 8, 8, 'all-reduce', 100)).toEqual([{ link: 'InfiniBand 400 Gb/s', bytesPerRank: 100 }]);
    expect(tiers('2x dgx-h100', 1, 16, 'send', 7)).toEqual([{ link: 'InfiniBand 400 Gb/s', bytesPerRank: 7 }]);
  });

  it('of an all-to-all go to each peer alike', () => {
    expect(tiers('2x dgx-h100', 1, 16, 'all-to-all', 15).map(({ bytesPerRank }) => bytesPerRank)).toEqual([7, 8]);
  });

  it('add up to what is sent', () => {
    const clusters = fc.constantFrom('4x dgx-h100', '4x pcie-8x-a100', '8x bridge-4x-a100');
    fc.assert(
      fc.property(
        clusters,
        fc.constantFrom(1, 2, 4, 8),
        fc.constantFrom('all-reduce', 'all-to-all'),
        (name, tensor, kind) => {
          const rows = tiers(name, tensor, 32 / tensor, kind, 1e6);
          expect(rows.reduce((sum, row) => sum + row.bytesPerRank, 0)).toBeCloseTo(1e6, 3);
        },
      ),
    );
  });
});
