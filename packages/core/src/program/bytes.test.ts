import { describe, expect, it } from 'vitest';
import { bytesSent, collectiveBytes } from './bytes.ts';
import { toyProgram } from './fixtures/toy.fixture.ts';

describe('bytes sent by the example program', () => {
  const { lists, totalBytes } = bytesSent(toyProgram());
  const [first, second] = lists;

  it('equal the closed forms of section 6 on each axis', () => {
    const axes = (list: typeof first) => ['tensor', 'pipeline', 'data'].map((axis) => list?.byAxis[axis]?.bytes);
    expect(axes(first)).toEqual([1092, 324, 1672]);
    expect(axes(second)).toEqual([1124, 324, 1628]);
    expect(totalBytes).toBe(24_656);
  });

  it('are split by rule', () => {
    expect(first?.byRule['sum-tied']).toEqual({ bytes: 256, exchanges: 1 });
    expect(first?.byRule['sum-whole-parameters']).toEqual({ bytes: 320, exchanges: 1 });
    expect(second?.byRule['vocabulary-parallel']).toEqual({ bytes: 96, exchanges: 6 });
    expect(second?.byRule['mean-loss']).toEqual({ bytes: 4, exchanges: 1 });
  });

  it('book a named group on the axis that it lies along', () => {
    expect(first?.exchanges.find(({ over }) => over === 'ends')).toMatchObject({ axis: 'pipeline', bytes: 256 });
  });

  it('sum to the total of a list', () => {
    for (const { total, exchanges } of lists) {
      expect(exchanges.reduce((sum, each) => sum + each.bytes, 0)).toBe(total.bytes);
    }
  });
});

describe('bytes of a collective', () => {
  it('are 2 (N - 1) / N for a ring all-reduce and half for its halves', () => {
    expect(collectiveBytes('all-reduce', 'ring', 4, 1024)).toBe(1536);
    expect(collectiveBytes('reduce-scatter', 'ring', 4, 1024)).toBe(768);
    expect(collectiveBytes('all-gather', 'ring', 4, 1024)).toBe(768);
  });
  it('are N - 1 times the buffer for a direct all-reduce', () => {
    expect(collectiveBytes('all-reduce', 'direct', 8, 4)).toBe(28);
  });
});
