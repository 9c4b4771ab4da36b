import { expect, test } from 'vitest';
import { cosineRate, rateAt } from './rate.ts';

test('rises over a tenth of the steps to the peak and falls to a tenth of it', () => {
  const rate = cosineRate(1, 100);
  expect(rateAt(rate, 1)).toBeCloseTo(0.1, 12);
  expect(rateAt(rate, 10)).toBe(1);
  expect(rateAt(rate, 55)).toBeCloseTo(0.55, 12);
  expect(rateAt(rate, 100)).toBeCloseTo(0.1, 12);
});

test('a number is the rate of every step', () => {
  expect(rateAt(0.01, 1)).toBe(0.01);
  expect(rateAt(0.01, 1000)).toBe(0.01);
});
