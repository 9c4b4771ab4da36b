import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type LinkFault, networkOf } from '../../cost/index.ts';
import { pricesOf, simulateProgram, simulateShared } from '../index.ts';
import { type SharedCase, sharedCase, sharedLayouts } from './shared.fixture.ts';

const clusters = ['2x dgx-h100', '2x dgx-a100', { preset: 'dgx-h100', nodes: 2, inter: { Gbps: 40 } }] as const;
const cases: readonly SharedCase[] = clusters.flatMap((cluster) =>
  sharedLayouts.map((layout) => sharedCase(layout, cluster)),
);
const anyCase = fc.constantFrom(...cases);
const faults: fc.Arbitrary<readonly LinkFault[]> = fc.uniqueArray(
  fc.record({
    family: fc.constantFrom('device' as const, 'nic' as const, 'leaf' as const),
    index: fc.nat({ max: 15 }),
    speed: fc.double({ min: 0.2, max: 1, noNaN: true }),
  }),
  { maxLength: 2, selector: ({ family, index }) => `${family} ${index}` },
);
const slowDown = { compute: 1.189, exchange: 1.05 };

const secondsOf = ({ program, prices, cluster }: SharedCase, links: readonly LinkFault[]): number =>
  simulateShared(program, { prices, network: networkOf(cluster, links), slowDown }).seconds;

describe('a slower link', () => {
  it('speeds a step up by less than 2 %, in 1,000 generated cases', () => {
    const healthy = new Map(cases.map((each) => [each, secondsOf(each, [])]));
    fc.assert(
      fc.property(anyCase, faults, (each, links) => {
        expect(1 - secondsOf(each, links) / (healthy.get(each) ?? 0)).toBeLessThan(0.02);
      }),
      { numRuns: 1000 },
    );
  }, 600_000);

  it('gains 0.01 % at most in those: an exchange that is late leaves a link to one that is waited for', () => {
    const each = sharedCase(sharedLayouts[4] ?? {}, clusters[2]);
    const slow = secondsOf(each, [
      { family: 'device', index: 6, speed: 0.2909556499583241 },
      { family: 'device', index: 2, speed: 0.6585845278460524 },
    ]);
    const gain = 1 - slow / secondsOf(each, []);
    expect(gain).toBeGreaterThan(0);
    expect(gain).toBeLessThan(0.0002);
  });
});

describe('identical hosts', () => {
  it('can be renamed: a fault on one node takes as long as the same fault on the other', () => {
    for (const each of cases) {
      for (const family of ['device', 'nic'] as const) {
        const on = (index: number): number => secondsOf(each, [{ family, index, speed: 0.5 }]);
        // Nodes of one stage are alike where data runs over nodes; stages differ by their place in the pipeline.
        if (each.program.lists.length === 1) expect(on(11) / on(3)).toBeCloseTo(1, 9);
      }
    }
  });
});

describe('without sharing', () => {
  it('a step is as long with a network as without one', () => {
    fc.assert(
      fc.property(anyCase, (each) => {
        const alone = simulateProgram(each.program, pricesOf(each.program, each.prices)).seconds;
        const shared = simulateShared(each.program, { prices: each.prices, network: networkOf(each.cluster) }).seconds;
        expect(shared).toBeGreaterThanOrEqual(alone * (1 - 1e-12));
        expect(shared).toBeLessThan(2.5 * alone);
      }),
      { numRuns: 40 },
    );
  });
});
