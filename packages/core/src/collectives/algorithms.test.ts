import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { algorithms, type CollectiveKind, chooseExchange, SWITCH, timeAlone } from './index.ts';

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
      for (const kind of kinds.filter((any) => each.takes(any, 1))) {
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

/** Shares of the buffer that the busiest member sends, and that each one gets. */
function sharesOf(algorithm: (typeof algorithms)['ring'], kind: CollectiveKind, ranks: number) {
  const sent = new Float64Array(ranks);
  const received = new Float64Array(ranks);
  algorithm.flows(kind, ranks, (from, to, share) => {
    if (from !== SWITCH) sent[from] = (sent[from] as number) + share;
    if (to !== SWITCH) received[to] = (received[to] as number) + share;
  });
  return { sent: Math.max(...sent), received };
}

describe('flows between members', () => {
  it('are the bytes that the busiest member sends', () => {
    for (const algorithm of Object.values(algorithms)) {
      if (algorithm.name === 'hierarchical') continue;
      for (const kind of kinds.filter((each) => each !== 'send')) {
        for (let ranks = 1; ranks <= 40; ranks++) {
          if (!algorithm.takes(kind, ranks) || (algorithm.name === 'tree' && kind === 'broadcast')) continue;
          const { sent, received } = sharesOf(algorithm, kind, ranks);
          expect(sent, `${algorithm.name} ${kind} over ${ranks}`).toBeCloseTo(algorithm.bytesSent(kind, 1, ranks), 12);
          const busiest = Math.max(sent, ...received);
          expect(busiest, `${algorithm.name} ${kind} over ${ranks}`).toBeCloseTo(algorithm.busiest(kind, 1, ranks), 12);
        }
      }
    }
  });
  it('bring every member what it lacks', () => {
    for (const algorithm of Object.values(algorithms)) {
      for (let ranks = 2; ranks <= 40; ranks++) {
        if (algorithm.name === 'hierarchical' || !algorithm.takes('all-reduce', ranks)) continue;
        const { received } = sharesOf(algorithm, 'all-reduce', ranks);
        expect(Math.min(...received), `${algorithm.name} over ${ranks}`).toBeGreaterThanOrEqual(
          algorithm.name === 'tree' ? 0.5 : 1,
        );
      }
    }
  });
  it('of two trees make every member a leaf of one of them, but for the roots', () => {
    for (let ranks = 4; ranks <= 64; ranks++) {
      const { sent } = sharesOf(algorithms.tree, 'all-reduce', ranks);
      expect(sent).toBeLessThanOrEqual(2);
    }
  });
});

describe('the choice of a library', () => {
  const nvlink = { latencySeconds: 3.4e-6, bytesPerSecond: 360e9, link: 'nvlink', addsInSwitch: true } as const;
  const network = { latencySeconds: 9.6e-6, bytesPerSecond: 50e9, link: 'network', addsInSwitch: false } as const;
  it('is trees for small buffers of many ranks, rings for large ones, with the protocol of the size', () => {
    expect(chooseExchange('all-reduce', 4, 8, network)).toEqual({ algorithm: 'tree', protocol: 'll' });
    expect(chooseExchange('all-reduce', 1e6, 128, network)).toEqual({ algorithm: 'tree', protocol: 'll128' });
    expect(chooseExchange('all-reduce', 1e10, 16, network)).toEqual({ algorithm: 'ring', protocol: 'simple' });
  });
  it('is the switch where that can add up', () => {
    expect(chooseExchange('all-reduce', 1e9, 8, nvlink).algorithm).toBe('in-switch');
  });
  it('can be forced, as far as the way takes the kind', () => {
    expect(chooseExchange('all-reduce', 4, 8, network, { algorithm: 'halving-doubling', protocol: 'simple' })).toEqual({
      algorithm: 'halving-doubling',
      protocol: 'simple',
    });
    expect(chooseExchange('all-gather', 1e9, 12, network, { algorithm: 'tree' }).algorithm).toBe('ring');
    expect(chooseExchange('all-to-all', 1e9, 12, network).algorithm).toBe('pairwise');
  });
});

describe('a collective alone on equal links', () => {
  it('takes its steps and its bytes', () => {
    expect(timeAlone(algorithms['halving-doubling'], 'all-reduce', 8e9, 8, 1e-6, 1e9)).toBeCloseTo(14 + 6e-6, 12);
    expect(timeAlone(algorithms['halving-doubling'], 'all-reduce', 8e9, 6, 1e-6, 1e9)).toBeCloseTo(12 + 8 + 6e-6, 12);
    expect(timeAlone(algorithms['in-switch'], 'all-reduce', 8e9, 8, 1e-6, 1e9)).toBeCloseTo(9 + 2e-6, 12);
    expect(timeAlone(algorithms.pairwise, 'all-to-all', 8e9, 8, 1e-6, 1e9)).toBeCloseTo(7 + 7e-6, 12);
  });
});
