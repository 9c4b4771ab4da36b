import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { balancedSplit, equalCosts, type SplitCosts } from './split.ts';

/** Loads of the stages of a split; of the chunks when `chunks` is 1. */
function stageLoads(costs: SplitCosts, split: readonly number[], pipeline: number): readonly number[] {
  const loads = new Array<number>(pipeline).fill(0);
  let layer = 0;
  split.forEach((layers, position) => {
    let load = (position === 0 ? costs.embed : 0) + (position === split.length - 1 ? costs.head : 0);
    for (let end = layer + layers; layer < end; layer++) load += costs.layers[layer] ?? 0;
    loads[position % pipeline] = (loads[position % pipeline] ?? 0) + load;
  });
  return loads;
}

/** All ways to write `total` as `parts` numbers of at least 1. */
function* compositions(total: number, parts: number): Generator<number[]> {
  if (parts === 1) return yield [total];
  for (let first = 1; first <= total - parts + 1; first++) {
    for (const rest of compositions(total - first, parts - 1)) yield [first, ...rest];
  }
}

const slowest = (loads: readonly number[]) => Math.max(...loads);
const squares = (loads: readonly number[]) => loads.reduce((sum, load) => sum + load * load, 0);

function bestOf(costs: SplitCosts, pipeline: number, chunks: number) {
  let best = { slowest: Number.POSITIVE_INFINITY, squares: Number.POSITIVE_INFINITY };
  for (const split of compositions(costs.layers.length, pipeline * chunks)) {
    const loads = stageLoads(costs, split, pipeline);
    const found = { slowest: slowest(loads), squares: squares(loads) };
    if (found.slowest < best.slowest || (found.slowest === best.slowest && found.squares < best.squares)) best = found;
  }
  return best;
}

const ends = fc.record({ embed: fc.nat(30), head: fc.nat(30) });

describe('balancedSplit', () => {
  it('splits 32 layers over 4 stages evenly', () => {
    expect(balancedSplit(equalCosts(32), 4)).toEqual([8, 8, 8, 8]);
  });
  it('gives fewer layers to the ends when it cannot be even', () => {
    expect(balancedSplit(equalCosts(7), 3)).toEqual([2, 3, 2]);
    expect(balancedSplit(equalCosts(126), 16)).toEqual([7, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 7]);
    expect(balancedSplit(equalCosts(5), 4)).toEqual([1, 1, 2, 1]);
  });
  it('counts embedding and head', () => {
    expect(balancedSplit({ ...equalCosts(10), head: 3 }, 2)).toEqual([6, 4]);
    expect(balancedSplit({ ...equalCosts(18), embed: 1, head: 3 }, 4)).toEqual([4, 6, 6, 2]);
  });
  it('lets the stage count, not its chunks, when there are several', () => {
    expect(balancedSplit({ ...equalCosts(16), head: 2 }, 2, 2)).toEqual([4, 4, 5, 3]);
  });
  it('minimises the slowest chunk, then the squares, against all splits of unequal layers', () => {
    fc.assert(
      fc.property(
        fc.array(fc.nat(20), { minLength: 1, maxLength: 9 }),
        ends,
        fc.nat(8),
        (layers, { embed, head }, seed) => {
          const costs = { layers, embed, head };
          const chunks = 1 + (seed % layers.length);
          const split = balancedSplit(costs, chunks);
          const loads = stageLoads(costs, split, chunks);
          expect(split).toHaveLength(chunks);
          expect(Math.min(...split)).toBeGreaterThanOrEqual(1);
          expect({ slowest: slowest(loads), squares: squares(loads) }).toEqual(bestOf(costs, chunks, 1));
        },
      ),
      { numRuns: 300 },
    );
  });
  it('minimises the slowest stage against all splits of equal layers into several chunks', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 10 }),
        fc.integer({ min: 1, max: 12 }),
        ends,
        fc.integer({ min: 1, max: 4 }),
        fc.integer({ min: 1, max: 3 }),
        (layers, cost, { embed, head }, pipeline, wanted) => {
          const chunks = pipeline === 1 ? 1 : wanted;
          fc.pre(pipeline * chunks <= layers);
          const costs = { layers: new Array<number>(layers).fill(cost), embed, head };
          const split = balancedSplit(costs, pipeline, chunks);
          const loads = stageLoads(costs, split, pipeline);
          expect(split.reduce((sum, each) => sum + each, 0)).toBe(layers);
          expect({ slowest: slowest(loads), squares: squares(loads) }).toEqual(bestOf(costs, pipeline, chunks));
        },
      ),
    );
  });
  it('is exact for real costs, where sums round', () => {
    fc.assert(
      fc.property(
        fc.array(fc.double({ min: 0.1, max: 1, noNaN: true }), { minLength: 2, maxLength: 8 }),
        fc.nat(7),
        (layers, seed) => {
          const costs = { layers, embed: 0.3, head: 0.7 };
          const chunks = 1 + (seed % layers.length);
          const loads = stageLoads(costs, balancedSplit(costs, chunks), chunks);
          expect(slowest(loads)).toBeCloseTo(bestOf(costs, chunks, 1).slowest, 12);
        },
      ),
    );
  });
});
