import { describe, expect, it } from 'vitest';
import { firstScenario } from '../scenario/scenario.ts';
import { laneRows } from '../views/timeline/lanes.ts';
import { readDrop } from './drop.ts';
import { traceDetail } from './trace.ts';

const shown = (json: unknown): readonly (readonly [number, string, readonly (readonly [number, number])[]])[] => {
  const detail = traceDetail(json);
  if (typeof detail === 'string') throw new Error(detail);
  return laneRows(detail).map(({ rank, lane, start, end }) => [
    rank,
    lane,
    [...start].map((each, index) => [each, end[index] ?? 0] as const),
  ]);
};

describe('a trace', () => {
  it('of trace events has a lane for each named thread, from its first event on', () => {
    const traceEvents = [
      { ph: 'M', name: 'thread_name', pid: 3, tid: 7, args: { name: 'compute' } },
      { ph: 'X', name: 'forward', pid: 3, tid: 7, ts: 100, dur: 2 },
      { ph: 'B', name: 'all-reduce', pid: 3, tid: 8, ts: 101 },
      { ph: 'E', pid: 3, tid: 8, ts: 104 },
      { ph: 'i', name: 'instant', pid: 3, tid: 8, ts: 101 },
    ];
    expect(shown({ traceEvents })).toEqual([
      [3, 'compute', [[0, 2000]]],
      [3, 'thread 8', [[1000, 4000]]],
    ]);
    const detail = traceDetail({ traceEvents });
    expect(typeof detail === 'object' && [...detail.kind].map((kind) => detail.kinds[kind])).toEqual([
      'forward',
      'collective',
    ]);
  });

  it('shows what runs within another slice on a lane below', () => {
    const events = [
      { ph: 'X', name: 'step', pid: 0, tid: 0, ts: 0, dur: 10 },
      { ph: 'X', name: 'gemm', pid: 0, tid: 0, ts: 2, dur: 3 },
      { ph: 'X', name: 'gemm', pid: 0, tid: 0, ts: 6, dur: 1 },
    ];
    expect(shown({ traceEvents: events })).toEqual([
      [0, 'thread 0', [[0, 10_000]]],
      [
        0,
        'thread 0 \u203a 1',
        [
          [2000, 5000],
          [6000, 7000],
        ],
      ],
    ]);
  });

  it('of a run has the lanes of its ranks', () => {
    const timeline = {
      lanes: ['compute', 'data'],
      rank: [0, 1],
      lane: [0, 1],
      operation: [0, 4],
      start: [5, 9],
      end: [8, 12],
    };
    const run = JSON.stringify({ schema: 'meshwright.run/1', job: 'toy', layout: 'dp=2', timeline });
    const read = readDrop('run.json', `{"step": 1}\n${run}\n`, firstScenario);
    if (read.kind !== 'trace') throw new Error(read.says);
    expect(laneRows(read.detail).map(({ rank, lane }) => [rank, lane])).toEqual([
      [0, 'compute'],
      [1, 'data'],
    ]);
    expect(read.detail.seconds).toBeCloseTo(7e-9, 15);
  });

  it('without operations is refused with the reason', () => {
    expect(readDrop('trace.json', '{"traceEvents": []}', firstScenario)).toMatchObject({
      kind: 'refused',
      says: 'trace.json is a trace that cannot be drawn: it has no operation with a beginning and an end; nothing was changed.',
    });
  });
});
