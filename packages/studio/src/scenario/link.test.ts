import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { firstPlace, linkOf, type Place, readLink, views } from './link.ts';
import { neighbour } from './scenario.ts';

const places: fc.Arbitrary<Place> = fc.record({
  scenario: fc.record({
    model: fc.oneof(
      fc.string({ minLength: 1, maxLength: 30 }),
      fc.record({ name: fc.string(), config: fc.dictionary(fc.stringMatching(/^[a-z_]+$/), fc.integer()) }),
    ),
    nodes: fc.integer({ min: 1, max: 65536 }),
    host: fc.string({ minLength: 1, maxLength: 20 }),
    gpu: fc.string({ maxLength: 20 }),
    linkGbps: fc.option(fc.integer({ min: 1, max: 3200 }), { nil: undefined }),
    sequences: fc.integer({ min: 1, max: 1e6 }),
    length: fc.integer({ min: 1, max: 1e6 }),
    precision: fc.constantFrom('bf16', 'fp16', 'fp32'),
    layout: fc.record({ tensor: fc.integer({ min: 1, max: 8 }) }, { requiredKeys: [] }),
  }),
  view: fc.constantFrom(...views),
  selected: fc.option(fc.string({ maxLength: 80 }), { nil: undefined }),
  steps: fc.record({
    layout: fc.constantFrom('data', 'sharded', 'tensor', 'pipeline', 'three-axes', 'mine'),
    model: fc.string({ maxLength: 40 }),
    sharding: fc.constantFrom(1, 2, 3),
    frame: fc.nat(),
    detail: fc.constantFrom('collectives', 'hops'),
    beside: fc.option(fc.constantFrom('data', 'pipeline'), { nil: undefined }),
  }),
  page: fc.integer({ min: 0, max: 9 }),
});

describe('a link', () => {
  it('opens what it was made of', () => {
    fc.assert(
      fc.property(places, (place) => {
        const { place: read, notice } = readLink(linkOf(place));
        expect(notice).toBeUndefined();
        expect(read).toEqual(place);
      }),
      { numRuns: 60 },
    );
  });

  it('of another version is explained', () => {
    const old = readLink(linkOf(firstPlace).replace('#1.', '#0.'));
    expect(old.notice).toContain('made by an older studio (version 0; this one reads version 1)');
    expect(old.place).toEqual(firstPlace);
    expect(readLink(linkOf(firstPlace).replace('#1.', '#9.')).notice).toContain('a newer studio');
  });

  it('that is damaged or foreign is explained, and never throws', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.stringMatching(/^#1\.[\w-]+$/)), (hash) => {
        const { place, notice } = readLink(hash);
        if (hash === '' || hash === '#') return;
        expect(place).toEqual(firstPlace);
        expect(notice).toMatch(/first scenario is shown/);
      }),
      { numRuns: 200 },
    );
  });
});

describe('arrow keys', () => {
  it('step through powers of two', () => {
    expect([
      neighbour(8, true),
      neighbour(8, false),
      neighbour(100, true),
      neighbour(100, false),
      neighbour(1, false),
    ]).toEqual([16, 4, 128, 64, 1]);
  });
});
