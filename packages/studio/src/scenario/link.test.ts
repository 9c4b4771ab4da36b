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
  it('opens what it was made of', async () => {
    await fc.assert(
      fc.asyncProperty(places, async (place) => {
        const { place: read, notice } = await readLink(await linkOf(place));
        expect(notice).toBeUndefined();
        expect(read).toEqual(place);
      }),
      { numRuns: 60 },
    );
  });

  it('of another version is explained', async () => {
    const link = await linkOf(firstPlace);
    const old = await readLink(link.replace('#1.', '#0.'));
    expect(old.notice).toContain('made by an older studio (version 0; this one reads version 1)');
    expect(old.place).toEqual(firstPlace);
    expect((await readLink(link.replace('#1.', '#9.'))).notice).toContain('a newer studio');
  });

  it('that is damaged or foreign is explained, and never throws', async () => {
    await fc.assert(
      fc.asyncProperty(fc.oneof(fc.string(), fc.stringMatching(/^#1\.[\w-]+$/)), async (hash) => {
        const { place, notice } = await readLink(hash);
        if (hash === '' || hash === '#') return;
        expect(place).toEqual(firstPlace);
        expect(notice).toMatch(/first scenario is shown/);
      }),
      { numRuns: 200 },
    );
  });

  it('that would inflate to more than a link holds is not read', async () => {
    const place = { ...firstPlace, scenario: { ...firstPlace.scenario, model: 'x'.repeat(500_000) } };
    expect((await readLink(await linkOf(place))).notice).toContain('This link is damaged');
  });

  it('that an older studio made opens as it did', async () => {
    const old =
      '#1.PY7bDoIwEET_ZZ6LAY1G-zdru0KTXrCtKCH8uwuJvu45MzsLiuFI2SXoBSFZ9tDwngI1p0PXXO9QiHIu0EeFIZUq3PafZujaVljh54uj2fn5ouA59nWAvnY38cfMxhWXooTuj-4iAU9zeknJsq4Kk-O3oMAh5XlrqzxK0_K3YKmSgN-ymnZtoGxd7KFPCo9MgaFbBcuV3GaZ5D2b6iaZJV9G6jdh_QI';
    const { place, notice } = await readLink(old);
    expect([place.view, place.scenario.model, notice]).toEqual(['memory', 'llama-3.1-8b', undefined]);
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
