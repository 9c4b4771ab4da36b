import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { clusterFromRequest, createCluster, presetNames } from '../cluster/index.ts';
import { algorithms } from '../collectives/index.ts';
import { type AxisName, createMesh } from '../mesh/index.ts';
import { createPriceBook, createPrices, type ExchangeRequest, type Prices } from './index.ts';

const clusterOf = (value: unknown) => {
  const { cluster, issues } = clusterFromRequest(value, 'cluster');
  if (!cluster) throw new Error(issues.map((each) => each.message).join());
  return cluster;
};
const kinds = ['all-reduce', 'reduce-scatter', 'all-gather', 'broadcast', 'all-to-all', 'send'] as const;
const time = (prices: Prices, kind: ExchangeRequest['kind'], bytes: number, axis: AxisName, more = {}): number =>
  prices.exchange({ kind, algorithm: 'ring', bytes, axes: [axis], ...more });

describe('one rank of each node', () => {
  const prices = createPrices(createCluster('dgx-h100', 16), createMesh({ tensor: 8, data: 16 }));
  const start = time(prices, 'all-gather', 0, 'data') - 15 * 8e-6;
  it.each(['all-reduce', 'reduce-scatter', 'all-gather'] as const)('is the closed form of a ring: %s', (kind) => {
    const sent = algorithms.ring.bytesSent(kind, 1e9, 16);
    const expected = start + algorithms.ring.steps(kind, 16) * 8e-6 + sent / (50e9 * 0.94);
    expect(time(prices, kind, 1e9, 'data')).toBeCloseTo(expected, 12);
  });
  it('takes a tree for small buffers when it may choose', () => {
    const small = { kind: 'all-reduce', bytes: 1e5, axes: ['data'] } as const;
    expect(prices.exchange({ ...small, algorithm: 'auto' })).toBeLessThan(
      prices.exchange({ ...small, algorithm: 'ring' }),
    );
    const large = { kind: 'all-reduce', bytes: 1e10, axes: ['data'] } as const;
    expect(prices.exchange({ ...large, algorithm: 'auto' })).toBe(prices.exchange({ ...large, algorithm: 'ring' }));
  });
  it('sends all tensor ranks at once, each over its own card', () => {
    const mesh = createMesh({ tensor: 8, pipeline: 2 });
    const own = createPrices(clusterOf({ preset: 'dgx-h100', nodes: 2 }), mesh);
    const shared = createPrices(clusterOf({ preset: 'dgx-h100', nodes: 2, inter: { gpusPerNic: 4 } }), mesh);
    expect(time(own, 'send', 1e9, 'pipeline')).toBeCloseTo(1e9 / 47e9, 4);
    expect(time(shared, 'send', 1e9, 'pipeline') / time(own, 'send', 1e9, 'pipeline')).toBeCloseTo(4, 2);
  });
});

describe('a group that spans tiers', () => {
  const prices = createPrices(createCluster('dgx-h100', 8), createMesh({ data: 64 }));
  it('is described by its slowest link', () => {
    expect(prices.linkOf(['data'])).toMatchObject({
      name: 'InfiniBand 400 Gb/s',
      tier: 'inter',
      crossesNode: true,
      ranks: 64,
      ranksInDomain: 8,
      islands: 8,
    });
    expect(prices.linkOf(['tensor']).tier).toBe('none');
  });
  it('is several times faster in tiers than as one flat ring', () => {
    const tiers = time(prices, 'all-gather', 1e9, 'data');
    const flat = time(prices, 'all-gather', 1e9, 'data', { algorithm: 'flat-ring' });
    expect(flat / tiers).toBeGreaterThan(4);
  });
  it('lies between the slower tier alone and both one after the other', () => {
    const inside = createPrices(createCluster('dgx-h100'), createMesh({ data: 8 }));
    const outside = createPrices(createCluster('dgx-h100', 8), createMesh({ tensor: 8, data: 8 }));
    const parts = [time(inside, 'all-reduce', 1e9, 'data'), time(outside, 'all-reduce', 1e9 / 8, 'data')] as const;
    expect(time(prices, 'all-reduce', 1e9, 'data')).toBeGreaterThan(Math.max(...parts));
    expect(time(prices, 'all-reduce', 1e9, 'data')).toBeLessThan(parts[0] + parts[1]);
  });
  it('is within a quarter of what two and four nodes of a cloud took for 0.5 GB and more', () => {
    const presets: Record<string, string> = { 'A100-SXM': 'dgx-a100', 'H100-SXM': 'dgx-h100', 'B200-SXM': 'dgx-b200' };
    const rows = readFileSync(new URL('../../../../data/collectives.csv', import.meta.url), 'utf8')
      .split('\n')
      .map((line) => line.split(','))
      .filter(([use, , , , nodes, bytes]) => use === 'check' && nodes !== '1' && Number(bytes) >= 5e8);
    expect(rows.length).toBeGreaterThan(10);
    for (const [, gpu, , ranks, nodes, bytes, microseconds, Gbps] of rows) {
      const cluster = clusterOf({ preset: presets[gpu ?? ''], nodes: Number(nodes), inter: { Gbps: Number(Gbps) } });
      const predicted = createPrices(cluster, createMesh({ data: Number(ranks) })).exchange({
        kind: 'all-reduce',
        algorithm: 'auto',
        bytes: Number(bytes),
        axes: ['data'],
      });
      const ratio = (predicted * 1e6) / Number(microseconds);
      expect(ratio, `${gpu} ${bytes}`).toBeGreaterThan(0.75);
      expect(ratio, `${gpu} ${bytes}`).toBeLessThan(1.2);
    }
  });
});

describe('inside a node', () => {
  const rows = readFileSync(new URL('../../../../data/collectives.csv', import.meta.url), 'utf8')
    .split('\n')
    .map((line) => line.split(','))
    .filter(([use, gpu]) => use === 'fit' && gpu !== 'GB200');
  const presets: Record<string, string> = {
    'A100-SXM': 'dgx-a100',
    'H100-SXM': 'dgx-h100',
    'H200-SXM': 'dgx-h200',
    'B200-SXM': 'dgx-b200',
  };
  it('is within 5 % (median) of the measured curves, 3 % above 16 MB', () => {
    const errors: { bytes: number; error: number }[] = rows.map(([, gpu, kind, ranks, , bytes, microseconds]) => {
      const prices = createPrices(clusterOf({ preset: presets[gpu ?? ''] }), createMesh({ data: Number(ranks) }));
      const predicted = time(prices, kind as (typeof kinds)[number], Number(bytes), 'data') * 1e6;
      return { bytes: Number(bytes), error: Math.abs(predicted / Number(microseconds) - 1) };
    });
    const median = (some: typeof errors): number =>
      some.map((each) => each.error).sort((a, b) => a - b)[Math.floor(some.length / 2)] ?? 1;
    expect(errors.length).toBe(480);
    expect(median(errors)).toBeLessThan(0.05);
    expect(median(errors.filter((each) => each.bytes >= 16e6))).toBeLessThan(0.03);
  });
  it('takes numbers of ranks between the measured ones between their times', () => {
    const cluster = createCluster('dgx-h100');
    const of = (ranks: number): number =>
      time(createPrices(cluster, createMesh({ tensor: ranks })), 'all-gather', 1e8, 'tensor');
    expect(of(6)).toBeGreaterThan(of(4));
    expect(of(6)).toBeLessThan(of(8));
  });
  it('crosses PCIe between pairs, and PCIe alone is slower', () => {
    const mesh = createMesh({ tensor: 4 });
    const bridge = createPrices(createCluster('bridge-4x-a100'), mesh);
    const plain = createPrices(clusterOf({ preset: 'pcie-8x-a100', gpusPerNode: 4 }), mesh);
    expect(bridge.linkOf(['tensor'])).toMatchObject({ tier: 'pcie', ranksInDomain: 2, domainsInNode: 2 });
    expect(time(plain, 'all-reduce', 1e9, 'tensor')).toBeGreaterThan(time(bridge, 'all-reduce', 1e9, 'tensor'));
    const pair = createPrices(createCluster('bridge-4x-a100'), createMesh({ tensor: 2, data: 2 }));
    expect(pair.linkOf(['tensor'])).toMatchObject({ tier: 'intra', name: 'NVLink 3 bridge' });
    expect(pair.linkOf(['data'])).toMatchObject({ tier: 'pcie' });
    expect(time(pair, 'all-reduce', 1e9, 'data')).toBeGreaterThan(5 * time(pair, 'all-reduce', 1e9, 'tensor'));
  });
  it('shares an uplink among groups that run at once', () => {
    const cluster = createCluster('pcie-8x-a100');
    const neighbours = createPrices(cluster, createMesh({ tensor: 8 }));
    const strided = createPrices(cluster, createMesh({ tensor: 4, data: 2 }));
    expect(strided.linkOf(['data']).bandwidth).toBeLessThan(neighbours.linkOf(['tensor']).bandwidth);
  });
  it('keeps a domain larger than a node off the network', () => {
    const prices = createPrices(createCluster('gb200-nvl72'), createMesh({ tensor: 8, data: 9 }));
    expect(prices.linkOf(['tensor'])).toMatchObject({ tier: 'intra', crossesNode: true, name: 'NVLink 5' });
    expect(prices.linkOf(['data'])).toMatchObject({ tier: 'intra', ranks: 9 });
  });
});

describe('any exchange', () => {
  const books = presetNames.map((name) => createPriceBook(createCluster(name, name === 'gb200-nvl72' ? 32 : 4)));
  const meshes = fc.record({
    tensor: fc.constantFrom(1, 2, 3, 4, 8),
    data: fc.constantFrom(1, 2, 3, 4),
    pipeline: fc.constantFrom(1, 2, 3),
  });
  it('takes longer with more bytes, never less than nothing', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...books),
        meshes,
        fc.constantFrom(...kinds),
        fc.constantFrom('auto', 'ring', 'flat-ring', 'tree', 'direct') as fc.Arbitrary<ExchangeRequest['algorithm']>,
        fc.constantFrom('tensor', 'data', 'pipeline') as fc.Arbitrary<AxisName>,
        fc.integer({ min: 1, max: 1e9 }),
        (book, degrees, kind, algorithm, axis, bytes) => {
          const { nodes, gpusPerNode } = book.cluster;
          fc.pre(degrees.tensor * degrees.data * degrees.pipeline <= nodes * gpusPerNode);
          const prices = book.pricesOf(createMesh(degrees));
          const less = time(prices, kind, bytes, axis, { algorithm });
          const more = time(prices, kind, 2 * bytes, axis, { algorithm });
          if (degrees[axis as keyof typeof degrees] === 1) expect(less).toBe(0);
          else expect(less).toBeGreaterThan(0);
          expect(Number.isFinite(more)).toBe(true);
          expect(more).toBeGreaterThanOrEqual(less);
        },
      ),
    );
  });
  it('lists what is assumed, with a range that holds the value', () => {
    for (const book of books) {
      const { assumptions } = book.pricesOf(createMesh({}));
      expect(assumptions.length).toBeGreaterThan(6);
      for (const { value, low, high, source } of assumptions) {
        expect(low <= value && value <= high && source.length > 0).toBe(true);
      }
    }
  });
});
