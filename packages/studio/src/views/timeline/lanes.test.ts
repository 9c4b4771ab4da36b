import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { laneRows, moved, sliceAt, zoomed } from './lanes.ts';

const timeline = {
  ranks: [0, 4],
  lanes: ['compute', 'tensor'],
  rank: Uint32Array.from([0, 0, 4, 0]),
  lane: Uint8Array.from([0, 1, 0, 0]),
  start: Float64Array.from([0, 5, 5, 20]),
  end: Float64Array.from([10, 5, 9, 30]),
};

describe('rows of a timeline', () => {
  it('hold the slices of a lane in order, and leave out lanes without any', () => {
    const rows = laneRows(timeline);
    expect(rows.map(({ rank, lane, slices }) => [rank, lane, [...slices]])).toEqual([
      [0, 'compute', [0, 3]],
      [4, 'compute', [2]],
    ]);
  });

  it('find the slice at a time, and none where the lane is idle', () => {
    const [row] = laneRows(timeline);
    if (!row) throw new Error('no row');
    expect([0, 9, 10, 15, 20, 29, 30].map((time) => sliceAt(row, timeline, time))).toEqual([0, 0, -1, -1, 3, 3, -1]);
  });
});

describe('the window', () => {
  it('stays inside of the step however it is zoomed and moved', () => {
    const step = fc.record({
      factor: fc.double({ min: 0.1, max: 10, noNaN: true }),
      at: fc.double({ min: 0, max: 1, noNaN: true }),
      by: fc.double({ min: -3, max: 3, noNaN: true }),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 20 }), (steps) => {
        let window = { from: 0, to: 1e9 };
        for (const { factor, at, by } of steps) {
          window = moved(zoomed(window, factor, window.from + at * (window.to - window.from), 1e9), by, 1e9);
          expect(window.from).toBeGreaterThanOrEqual(0);
          expect(window.to).toBeLessThanOrEqual(1e9 + 1e-3);
          expect(window.to).toBeGreaterThan(window.from);
        }
      }),
      { numRuns: 100 },
    );
  });
});
