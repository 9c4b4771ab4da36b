import { describe, expect, it } from 'vitest';
import { globalElements, localElements, localSize } from './index.ts';

const degrees = (axis: string): number => ({ tensor: 4, data: 2 })[axis] ?? 1;

describe('local size of a dim', () => {
  it('cuts each fused part by itself', () => {
    expect(localSize({ label: 'qkv', size: 12, cut: ['tensor'], parts: [8, 2, 2] }, degrees)).toBe(2 + 1 + 1);
  });
  it('divides by every axis of the cut and pads up', () => {
    expect(localSize({ label: 'n', size: 17, cut: ['tensor', 'data'] }, degrees)).toBe(3);
  });
  it('leaves whole dims alone', () => {
    const dims = [
      { label: 's', size: 8, cut: ['tensor'] },
      { label: 'h', size: 5 },
    ];
    expect(localElements(dims, degrees)).toBe(10);
    expect(globalElements(dims)).toBe(40);
  });
});
