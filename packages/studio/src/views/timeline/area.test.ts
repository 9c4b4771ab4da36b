import { describe, expect, it } from 'vitest';
import { areaBetween, linesOf } from './area.ts';
import { laneRows } from './lanes.ts';

const rows = laneRows({
  ranks: [0, 1],
  lanes: ['compute', 'tensor'],
  rank: Uint32Array.from([0, 0, 0, 1, 1]),
  lane: Uint8Array.from([0, 1, 0, 0, 1]),
  start: Float64Array.from([0, 5, 20, 0, 12]),
  end: Float64Array.from([10, 15, 30, 10, 20]),
  kind: Uint8Array.from([0, 3, 1, 0, 3]),
});

describe('an area of the timeline', () => {
  it('sums what runs in it, by lane and kind, with what computing of the same rank hides', () => {
    expect(linesOf(rows, { from: 0, to: 30, firstRow: 0, lastRow: 3 })).toEqual([
      { lane: 'compute', kind: 0, slices: 2, busy: 20, hidden: 0 },
      { lane: 'tensor', kind: 3, slices: 2, busy: 18, hidden: 5 },
      { lane: 'compute', kind: 1, slices: 1, busy: 10, hidden: 0 },
    ]);
  });

  it('counts slices that reach out of it with the part inside, and no other row', () => {
    expect(linesOf(rows, { from: 8, to: 14, firstRow: 1, lastRow: 1 })).toEqual([
      { lane: 'tensor', kind: 3, slices: 1, busy: 6, hidden: 2 },
    ]);
    expect(linesOf(rows, { from: 16, to: 19, firstRow: 0, lastRow: 1 })).toEqual([]);
  });

  it('lies between two corners whichever comes first, inside of the step', () => {
    const expected = { from: 0, to: 20, firstRow: 0, lastRow: 2 };
    expect(areaBetween({ time: 20, row: -1 }, { time: -3, row: 2 }, 4, 30)).toEqual(expected);
    expect(areaBetween({ time: -3, row: 2 }, { time: 20, row: -1 }, 4, 30)).toEqual(expected);
  });
});
