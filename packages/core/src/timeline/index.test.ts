import { expect, test } from 'vitest';
import { createTimeline, durationOf, laneOf, sliceOf } from './index.ts';

const timeline = createTimeline('simulated', [
  { rank: 1, lane: 'compute', operation: 0, start: 5.4, end: 9.6 },
  { rank: 0, lane: 'tensor', operation: 1, start: 5.4, end: 7 },
  { rank: 0, lane: 'compute', operation: 0, start: 0, end: 5.4 },
]);

test('operations stand in order of start, then rank, in whole nanoseconds', () => {
  expect(Array.from({ length: timeline.length }, (_, index) => sliceOf(timeline, index))).toEqual([
    { rank: 0, lane: 'compute', operation: 0, start: 0, end: 5 },
    { rank: 0, lane: 'tensor', operation: 1, start: 5, end: 7 },
    { rank: 1, lane: 'compute', operation: 0, start: 5, end: 10 },
  ]);
});

test('a lane of a rank lists its own operations', () => {
  expect(laneOf(timeline, 0, 'compute')).toEqual([0]);
  expect(laneOf(timeline, 1, 'tensor')).toEqual([]);
});

test('the duration ends with the last operation', () => {
  expect(durationOf(timeline)).toBe(10);
});
