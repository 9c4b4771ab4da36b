import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fillRates, type Sharing } from './fill.ts';

interface Case {
  readonly capacity: readonly number[];
  readonly exchanges: readonly { readonly on: readonly (readonly [number, number])[]; readonly most: number }[];
}

const cases: fc.Arbitrary<Case> = fc.integer({ min: 1, max: 5 }).chain((links) =>
  fc.record({
    capacity: fc.array(fc.double({ min: 1, max: 10, noNaN: true }), { minLength: links, maxLength: links }),
    exchanges: fc.array(
      fc.record({
        on: fc.uniqueArray(fc.tuple(fc.nat({ max: links - 1 }), fc.double({ min: 0.1, max: 1, noNaN: true })), {
          minLength: 1,
          selector: ([link]) => link,
        }),
        most: fc.constantFrom(1, 0.9),
      }),
      { minLength: 1, maxLength: 8 },
    ),
  }),
);

/** Rates by exchange; what an exchange asks of a link is a share of its capacity. */
function ratesOf({ capacity, exchanges }: Case) {
  const members = exchanges.map(({ on, most }, slot): Sharing => {
    const rates = Float64Array.from(on, ([link, share]) => share * (capacity[link] as number));
    return { slot, links: Uint32Array.from(on, ([link]) => link), rates, largest: Math.max(...rates), most, seen: 0 };
  });
  const filling = {
    capacity: Float64Array.from(capacity),
    residual: new Float64Array(capacity.length),
    weight: new Float64Array(capacity.length),
  };
  const rate = new Float64Array(members.length).fill(Number.NaN);
  const links = [...new Set(members.flatMap((each) => [...each.links]))];
  fillRates(filling, members, links, (slot, value) => {
    rate[slot] = value;
  });
  const used = capacity.map((_, link) =>
    members.reduce((sum, each) => {
      const index = each.links.indexOf(link);
      return index < 0 ? sum : sum + (rate[each.slot] as number) * (each.rates[index] as number);
    }, 0),
  );
  return { members, rate, used };
}

describe('rates of exchanges that share links', () => {
  it('never fill a link beyond its capacity', () => {
    fc.assert(
      fc.property(cases, (each) => {
        const { used } = ratesOf(each);
        for (const [link, sum] of used.entries())
          expect(sum).toBeLessThanOrEqual((each.capacity[link] as number) * (1 + 1e-9));
      }),
      { numRuns: 500 },
    );
  });

  it('are max-min fair: who is not at its most crosses a full link on which no flow is larger', () => {
    fc.assert(
      fc.property(cases, (each) => {
        const { members, rate, used } = ratesOf(each);
        const level = ({ slot, largest }: Sharing): number => (rate[slot] as number) * largest;
        for (const member of members) {
          expect(rate[member.slot]).toBeGreaterThan(0);
          if ((rate[member.slot] as number) >= member.most * (1 - 1e-9)) continue;
          const stops = [...member.links].some(
            (link) =>
              (used[link] as number) >= (each.capacity[link] as number) * (1 - 1e-9) &&
              members.every((other) => !other.links.includes(link) || level(other) <= level(member) * (1 + 1e-9)),
          );
          expect(stops).toBe(true);
        }
      }),
      { numRuns: 500 },
    );
  });

  it('are one over their number for equal exchanges on one link', () => {
    const exchanges = Array.from({ length: 4 }, () => ({ on: [[0, 1]] as const, most: 1 }));
    expect([...ratesOf({ capacity: [8], exchanges }).rate]).toEqual([0.25, 0.25, 0.25, 0.25]);
  });
});
