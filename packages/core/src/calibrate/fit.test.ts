import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type CostSample, fitCost } from './fit.ts';

const cost = fc.record({
  start: fc.double({ min: 1e-6, max: 1e-4, noNaN: true }),
  perFlop: fc.double({ min: 1e-12, max: 1e-9, noNaN: true }),
  perByte: fc.double({ min: 1e-11, max: 1e-9, noNaN: true }),
});
const sizes = [
  [1e4, 1e3],
  [1e6, 3e4],
  [3e7, 2e5],
  [1e5, 5e6],
  [2e8, 1e6],
] as const;

describe('costs of samples', () => {
  it('are found again where samples have them', () => {
    fc.assert(
      fc.property(cost, ({ start, perFlop, perByte }) => {
        const samples = sizes.map(
          ([flops, bytes]): CostSample => ({ flops, bytes, seconds: start + flops * perFlop + bytes * perByte }),
        );
        const found = fitCost(samples);
        for (const { flops, bytes, seconds } of samples) {
          expect(found.start + flops * found.perFlop + bytes * found.perByte).toBeCloseTo(seconds, 9);
        }
      }),
    );
  });

  it('are never below nothing, whatever was measured', () => {
    const sample = fc.record({
      flops: fc.double({ min: 0, max: 1e9, noNaN: true }),
      bytes: fc.double({ min: 0, max: 1e7, noNaN: true }),
      seconds: fc.double({ min: 1e-7, max: 1, noNaN: true }),
    });
    fc.assert(
      fc.property(fc.array(sample, { maxLength: 8 }), (samples) => {
        for (const each of Object.values(fitCost(samples))) expect(each).toBeGreaterThanOrEqual(0);
      }),
    );
  });

  it('of one sample are that sample', () => {
    expect(fitCost([{ flops: 0, bytes: 100, seconds: 2e-6 }])).toEqual({ start: 2e-6, perFlop: 0, perByte: 0 });
  });
});
