import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { quantile, regret, spearman, summarise } from './statistics.ts';

describe('errors of many rows', () => {
  it('are mean, bias, median, p90 and worst', () => {
    const summary = summarise([-0.1, 0.1, -0.3, 0.05]);
    expect(summary).toMatchObject({ rows: 4, worst: 0.3 });
    expect(summary?.mape).toBeCloseTo(0.1375, 12);
    expect(summary?.bias).toBeCloseTo(-0.0625, 12);
    expect(summary?.median).toBeCloseTo(0.1, 12);
    expect(summary?.p90).toBeCloseTo(0.24, 12);
  });
  it('of none are none', () => {
    expect(summarise([])).toBeUndefined();
  });
  it('have quantiles between their neighbours', () => {
    expect(quantile([1, 2, 4], 0.75)).toBe(3);
    expect(quantile([7], 0.9)).toBe(7);
  });
});

describe('order', () => {
  it('is 1 for what rises together, -1 for the opposite, ties count half', () => {
    expect(spearman([1, 2, 3], [10, 20, 40])).toBe(1);
    expect(spearman([1, 2, 3], [3, 2, 1])).toBe(-1);
    expect(spearman([1, 1, 2], [1, 2, 3])).toBeCloseTo(0.866, 3);
  });
  it('does not change with a rising function', () => {
    const values = fc.array(fc.double({ min: 0.1, max: 1e3, noNaN: true }), { minLength: 2, maxLength: 12 });
    fc.assert(
      fc.property(values, (list) => {
        const other = list.map((_, index) => (index * 7) % list.length);
        const squared = list.map((each) => each * 2);
        expect(spearman(list, other)).toBeCloseTo(spearman(squared, other), 9);
      }),
    );
  });
  it('costs what the chosen layout takes over the best', () => {
    expect(regret([2, 1, 3], [10, 12, 11])).toBeCloseTo(0.2, 12);
    expect(regret([2, 1, 3], [10, 8, 11])).toBe(0);
  });
});
