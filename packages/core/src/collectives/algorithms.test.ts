import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { algorithms, type CollectiveKind, chooseAlgorithm } from './index.ts';

const { ring, direct, tree, hierarchical } = algorithms;
const kinds: readonly CollectiveKind[] = [
  'all-reduce',
  'reduce-scatter',
  'all-gather',
  'broadcast',
  'all-to-all',
  'send',
];

describe('bytes sent per rank', () => {
  it('are 2 (n-1)/n of the buffer in 2 (n-1) steps for a ring all-reduce, and half each for its halves', () => {
    expect(ring.bytesSent('all-reduce', 800, 8)).toBe(1400);
    expect(ring.steps('all-reduce', 8)).toBe(14);
    expect(ring.bytesSent('reduce-scatter', 800, 8)).toBe(700);
    expect(ring.bytesSent('all-gather', 800, 8)).toBe(700);
    expect(ring.steps('all-gather', 8)).toBe(7);
  });
  it('are (n-1) x the buffer in one step for a direct all-reduce', () => {
    expect(direct.bytesSent('all-reduce', 4, 8)).toBe(28);
    expect(direct.steps('all-reduce', 8)).toBe(1);
  });
  it('are twice the buffer for trees, in steps that grow with log2', () => {
    expect(tree.bytesSent('all-reduce', 100, 16)).toBe(200);
    expect(tree.steps('all-reduce', 16)).toBe(8);
  });
  it('are nothing for one rank', () => {
    for (const each of Object.values(algorithms)) {
      for (const kind of each.kinds) {
        expect(each.bytesSent(kind, 100, 1), `${each.name} ${kind}`).toBe(0);
        expect(each.steps(kind, 1), `${each.name} ${kind}`).toBe(0);
      }
    }
  });
  it('are the same for tiers of rings and for one ring, in fewer steps', () => {
    const degrees = fc.tuple(fc.integer({ min: 1, max: 8 }), fc.integer({ min: 1, max: 64 }));
    fc.assert(
      fc.property(degrees, fc.constantFrom(...kinds), ([inner, outer], kind) => {
        const ranks = inner * outer;
        // Reduce-scatter inside, ring outside on 1/inner, gather inside.
        const tiers =
          kind === 'broadcast' || kind === 'send'
            ? ring.bytesSent(kind, 1, ranks)
            : ring.bytesSent(kind, 1, inner) + ring.bytesSent(kind, 1 / inner, outer);
        if (kind !== 'all-to-all') expect(hierarchical.bytesSent(kind, 1, ranks, inner)).toBeCloseTo(tiers, 12);
        expect(hierarchical.steps(kind, ranks, inner)).toBeLessThanOrEqual(ring.steps(kind, ranks));
      }),
    );
  });
});

describe('the choice of an algorithm', () => {
  it('is direct for scalars, trees for small buffers of many ranks, rings for large ones', () => {
    expect(chooseAlgorithm('all-reduce', 4, 8, 5e-6, 50e9)).toBe('direct');
    expect(chooseAlgorithm('all-reduce', 1e6, 128, 5e-6, 50e9)).toBe('tree');
    expect(chooseAlgorithm('all-reduce', 1e10, 16, 5e-6, 50e9)).toBe('ring');
  });
});
