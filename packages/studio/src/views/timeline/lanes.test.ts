import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { laneRows, moved, sliceAt, zoomed } from './lanes.ts';
import { rasterOf } from './raster.ts';

const timeline = {
  ranks: [0, 4],
  lanes: ['compute', 'tensor'],
  rank: Uint32Array.from([0, 0, 4, 0]),
  lane: Uint8Array.from([0, 1, 0, 0]),
  start: Float64Array.from([0, 5, 5, 20]),
  end: Float64Array.from([10, 5, 9, 30]),
  kind: Uint8Array.from([0, 3, 1, 2]),
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
    expect([0, 9, 10, 15, 20, 29, 30].map((time) => sliceAt(row, time))).toEqual([0, 0, -1, -1, 3, 3, -1]);
  });
});

describe('many slices as pixels', () => {
  const rows = laneRows(timeline);
  it('show the last slice that touches each, and nothing where a lane is idle', () => {
    expect([...rasterOf(rows, { from: 0, to: 30 }, 6)]).toEqual([1, 1, 0, 0, 3, 3, 0, 2, 0, 0, 0, 0]);
    // Half a pixel is one, and slices that lie in one pixel are too.
    expect([...rasterOf(rows, { from: 0, to: 60 }, 2)]).toEqual([3, 0, 2, 0]);
  });

  it('begin and end with slices that reach beyond the window', () => {
    expect([...rasterOf(rows, { from: 5, to: 25 }, 4)]).toEqual([1, 0, 0, 3, 2, 0, 0, 0]);
    expect([...rasterOf(rows, { from: 22, to: 26 }, 2)]).toEqual([3, 3, 0, 0]);
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
