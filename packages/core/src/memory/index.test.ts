import { describe, expect, it } from 'vitest';
import { toyProgram } from '../program/fixtures/toy.fixture.ts';
import { memoryOf } from './index.ts';

describe('memory of the example program', () => {
  const { lists, largest } = memoryOf(toyProgram());

  it('splits the peak into parts', () => {
    for (const { parts, peakBytes } of lists) {
      expect(Object.values(parts).reduce((sum, bytes) => sum + bytes, 0)).toBe(peakBytes);
    }
    expect(lists[0]?.parts).toMatchObject({ weights: 556 * 2, gradients: 556 * 4, optimizer: (556 * 12) / 2 });
  });

  it('holds logits on the last stage only', () => {
    expect(lists[0]?.parts.logits).toBe(0);
  });

  it('names the largest list and what is alive at its peak', () => {
    expect(largest?.peakBytes).toBe(Math.max(...lists.map((list) => list.peakBytes)));
    expect(largest?.alive[0]?.bytes).toBeGreaterThanOrEqual(largest?.alive[1]?.bytes ?? 0);
  });
});
