import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { clusterFromRequest, topologyOf } from '../cluster/index.ts';
import { createMesh } from '../mesh/index.ts';
import { allToAllShares, busiestOf, type DispatchWay, expectedGroups } from './dispatch.ts';
import { createNetwork } from './network/index.ts';
import { createPrices } from './prices.ts';

const { cluster } = clusterFromRequest('4x dgx-h100', 'cluster');
if (!cluster) throw new Error('internal: the fixture is broken.');
const mesh = createMesh({ expert: 32 });
const requestFor = { kind: 'all-to-all', algorithm: 'direct', bytes: 64e6, axes: ['expert'], experts: 256 } as const;
const pricesFor = (way: DispatchWay) => createPrices(cluster, mesh, { dispatch: { way, topK: 8 } });

/** Mean number of groups that any set of `topK` experts falls into, over all such sets. */
function countedGroups(experts: number, topK: number, groups: number): number {
  let sets = 0;
  let sum = 0;
  const visit = (from: number, chosen: readonly number[]): void => {
    if (chosen.length === topK) {
      sets += 1;
      sum += new Set(chosen.map((each) => Math.floor(each / (experts / groups)))).size;
      return;
    }
    for (let each = from; each < experts; each++) visit(each + 1, [...chosen, each]);
  };
  visit(0, []);
  return sum / sets;
}

describe('ranks that a token goes to', () => {
  it('are those of all sets of experts, in the mean', () => {
    for (const [experts, topK, groups] of [
      [8, 2, 4],
      [12, 4, 3],
      [9, 3, 9],
      [6, 6, 2],
      [8, 1, 2],
    ] as const) {
      expect(expectedGroups({ experts, topK }, groups)).toBeCloseTo(countedGroups(experts, topK, groups), 12);
    }
  });
});

describe('what an all-to-all of tokens sends', () => {
  it('is least between nodes with one copy to each, and never more with one to each rank than to each expert', () => {
    const degrees = fc.record({
      inDomain: fc.constantFrom(1, 2, 4, 8),
      islands: fc.constantFrom(1, 2, 4),
      each: fc.constantFrom(1, 2, 4),
      topK: fc.integer({ min: 1, max: 8 }),
    });
    fc.assert(
      fc.property(degrees, ({ inDomain, islands, each, topK }) => {
        const ranks = inDomain * islands;
        const experts = Math.max(topK, ranks * each);
        if (experts % ranks !== 0) return;
        const shares = (way: DispatchWay) =>
          allToAllShares({ ranks, inDomain, inNode: 1, islands }, { way, topK, experts });
        const [expert, rank, node] = [shares('per-expert'), shares('per-rank'), shares('per-node')];
        expect(rank.inside + rank.between).toBeLessThanOrEqual((expert.inside + expert.between) * (1 + 1e-12));
        expect(node.between).toBeLessThanOrEqual(rank.between * (1 + 1e-12));
        expect(node.inside).toBeGreaterThanOrEqual(rank.inside * (1 - 1e-12));
        expect(expert.inside + expert.between).toBeCloseTo((ranks - 1) / ranks, 12);
      }),
    );
  });

  it('are four nodes of 32 ranks: 8 copies, 7.25 ranks, 3.62 nodes', () => {
    const shape = { ranks: 32, inDomain: 8, inNode: 1, islands: 4 };
    const of = (way: DispatchWay) => allToAllShares(shape, { way, topK: 8, experts: 256 });
    expect(of('per-expert').between).toBeCloseTo(24 / 32, 12);
    expect(8 * of('per-rank').between).toBeCloseTo((24 / 32) * expectedGroups({ topK: 8, experts: 256 }, 32), 12);
    expect(8 * of('per-node').between).toBeCloseTo((3 / 4) * expectedGroups({ topK: 8, experts: 256 }, 4), 12);
    expect(expectedGroups({ topK: 8, experts: 256 }, 32)).toBeCloseTo(7.25, 1);
    expect(expectedGroups({ topK: 8, experts: 256 }, 4)).toBeCloseTo(3.62, 1);
  });

  it('takes less time by node than by expert where nodes are slow, and the same in one node with one expert a rank', () => {
    const [expert = 0, rank = 0, node = 0] = (['per-expert', 'per-rank', 'per-node'] as const).map((way) =>
      pricesFor(way).exchange(requestFor),
    );
    expect(rank).toBeLessThan(expert);
    expect(node).toBeLessThan(rank * 0.6);
    const alone = createMesh({ expert: 8 });
    const secondsOf = (way: DispatchWay): number =>
      createPrices(cluster, alone, { dispatch: { way, topK: 2 } }).exchange({ ...requestFor, experts: 8 });
    expect(secondsOf('per-node')).toBeCloseTo(secondsOf('per-expert'), 12);
  });

  it('is what the links of the simulator carry', () => {
    const topology = topologyOf(cluster);
    const set = { key: 'all', bases: Uint32Array.of(0), offsets: Uint32Array.from({ length: 32 }, (_, at) => at) };
    for (const way of ['per-expert', 'per-rank', 'per-node'] as const) {
      const network = createNetwork(topology);
      network.add(set, 'all-to-all', pricesFor(way).tiersOf(requestFor));
      const { classes, patterns } = network.build();
      const shares = allToAllShares({ ranks: 32, inDomain: 8, inNode: 1, islands: 4 }, { way, topK: 8, experts: 256 });
      const byFamily = new Map(
        classes.map(({ first }, index) => {
          const at = patterns[0]?.classes.indexOf(index) ?? -1;
          return [topology.nameOf(first).family, patterns[0]?.share[at]];
        }),
      );
      expect(byFamily.get('device')).toBeCloseTo(shares.inside, 9);
      expect(byFamily.get('nic')).toBeCloseTo(shares.between, 9);
    }
  });
});

describe('the busiest expert rank', () => {
  it('has a little more than the mean of many rows, much more of few, and equal rows where nothing spreads them', () => {
    expect(busiestOf(32_768, 8, 1)).toBeGreaterThan(1.005);
    expect(busiestOf(32_768, 8, 1)).toBeLessThan(1.02);
    expect(busiestOf(16, 8, 1)).toBeGreaterThan(1.3);
    expect(busiestOf(32_768, 8, 0)).toBe(1);
    expect(busiestOf(32_768, 1, 1)).toBe(1);
  });

  it('is no lower than the mean of the largest of drawn counts', () => {
    let state = 7;
    const draw = (): number => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
      return state / 2 ** 32;
    };
    const [ranks, rows] = [8, 500];
    let sum = 0;
    for (let turn = 0; turn < 100; turn++) {
      const counts = new Array<number>(ranks).fill(0);
      for (let row = 0; row < ranks * rows; row++) {
        const rank = Math.floor(draw() * ranks);
        counts[rank] = (counts[rank] as number) + 1;
      }
      sum += Math.max(...counts) / rows;
    }
    expect(busiestOf(rows, ranks, 1)).toBeGreaterThan(sum / 100);
    expect(busiestOf(rows, ranks, 1) - 1).toBeLessThan(2 * (sum / 100 - 1));
  });
});
