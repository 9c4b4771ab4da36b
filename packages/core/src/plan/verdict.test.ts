import { describe, expect, it } from 'vitest';
import { toyJob, toyLayout } from '../compile/toy.fixture.ts';
import { deviceMemory, worstVerdict } from './verdict.ts';

const GIB = 2 ** 30;
const verdictOf = (peak: number, resident = peak) => deviceMemory(toyJob(), toyLayout(), peak, resident);

describe('memory of a device', () => {
  it('adds communicators of each axis and the context, in whole bytes', () => {
    const { allocatedBytes, reservedBytes, deviceBytes } = verdictOf(10 * GIB);
    expect([allocatedBytes, reservedBytes]).toEqual([10 * GIB, 10 * GIB]);
    expect(deviceBytes).toBe(10 * GIB + 3 * 0.5e9 + 0.75e9);
  });
  it('loses a share of what comes and goes, not of what stays', () => {
    expect(verdictOf(10 * GIB, 4 * GIB).reservedBytes).toBe(Math.round(10 * GIB + 0.03 * 6 * GIB));
  });
  it('fits with a margin, is at risk within the range of what is assumed, and does not fit beyond it', () => {
    expect([60, 74, 76, 78].map((size) => verdictOf(size * GIB, 0).verdict)).toEqual([
      'fits',
      'at-risk',
      'does-not-fit',
      'does-not-fit',
    ]);
  });
  it('is as bad as its worst stage', () => {
    expect(worstVerdict(['fits', 'at-risk'])).toBe('at-risk');
    expect(worstVerdict(['fits', 'does-not-fit', 'at-risk'])).toBe('does-not-fit');
  });
});
