import { describe, expect, it } from 'vitest';
import { elementwiseTraffic, eraOf, expertTraffic, type FrameworkFact, frameworkNames, frameworks } from './index.ts';

const factsOf = (value: object): readonly FrameworkFact<unknown>[] =>
  Object.values(value).flatMap((each) =>
    each !== null && typeof each === 'object' && 'source' in each ? [each as FrameworkFact<unknown>] : [],
  );

describe('profiles', () => {
  it.each(frameworkNames)('%s has its own name, and a source and a date for every fact', (name) => {
    const profile = frameworks[name];
    expect(profile.name).toBe(name);
    const facts = [profile, ...profile.eras].flatMap(factsOf);
    expect(facts.length).toBeGreaterThan(15);
    for (const { source, asOf } of facts) {
      expect(source.length).toBeGreaterThan(3);
      expect(asOf).toMatch(/^20\d\d-\d\d$/);
    }
  });
  it.each(frameworkNames)('%s has eras in order, the last one without an end', (name) => {
    const ends = frameworks[name].eras.map(({ until }) => until);
    expect(ends.at(-1)).toBeUndefined();
    const years = ends.slice(0, -1);
    expect(years).toEqual([...years].sort());
  });
  it('answer with the habits of a year, and with the newest when none is given', () => {
    expect(eraOf(frameworks.megatron, 2020).accumulation.value).toBe('separate');
    expect(eraOf(frameworks.megatron, 2022).attention.value).toBe('unfused');
    expect(eraOf(frameworks.megatron, 2030)).toBe(eraOf(frameworks.megatron));
    expect(eraOf(frameworks.megatron).attention.value).toBe('vendor');
  });
  it('never move less than one fused pass', () => {
    for (const plan of ['fused', 'engine', 'compiled', 'flash-attn', 'eager'] as const) {
      for (const factor of Object.values(elementwiseTraffic(plan))) expect(factor).toBeGreaterThanOrEqual(1);
    }
    expect(Object.keys(elementwiseTraffic('eager'))).toEqual(
      expect.arrayContaining(Object.keys(elementwiseTraffic('compiled'))),
    );
    expect(elementwiseTraffic('eager')['rmsnorm']).toBe(9);
  });
  it('count the passes of biased experts with clamped gates where they are eager', () => {
    const experts = { activation: 'clamped-silu', bias: true, gated: true, width: 2880 };
    const traffic = expertTraffic('engine', experts, 2880);
    expect(traffic['gated']).toBeCloseTo((8 + 8 + 6) / 6, 12);
    expect(traffic['gated.dx']).toBeCloseTo((10 + 12 + 8) / 10, 12);
    // A third of the rows' values gets the second bias; the first is added by its product.
    expect(traffic['row-bias']).toBeCloseTo(28 / 4 / 3, 12);
    expect(traffic['row-bias.dw']).toBeCloseTo(40 / 2 / 3, 12);
    expect(expertTraffic('engine', { activation: 'silu', gated: true, width: 768 }, 2048)).toEqual({});
    for (const plan of ['fused', 'compiled', 'eager'] as const) expect(expertTraffic(plan, experts, 2880)).toEqual({});
  });
});
