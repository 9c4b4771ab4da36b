import { describe, expect, it } from 'vitest';
import { placed, reordered } from './order.tsx';

describe('the order of ranks', () => {
  it('is any: an axis goes to any place, the others keep theirs among themselves', () => {
    const axes = ['tensor', 'data', 'pipeline'] as const;
    expect(placed(axes, 2, 0)).toEqual(['pipeline', 'tensor', 'data']);
    expect(placed(axes, 0, 2)).toEqual(['data', 'pipeline', 'tensor']);
    expect(placed(axes, 1, 1)).toEqual(axes);
  });

  it('leaves axes that split nothing where they stand', () => {
    const order = ['tensor', 'context', 'expert', 'data', 'pipeline'] as const;
    expect(reordered(order, ['pipeline', 'tensor', 'data'])).toEqual([
      'pipeline',
      'context',
      'expert',
      'tensor',
      'data',
    ]);
  });
});
