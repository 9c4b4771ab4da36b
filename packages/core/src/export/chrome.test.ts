import { describe, expect, it } from 'vitest';
import { chromeTrace, joinChunks, perfettoTrace, type TracedStep } from './index.ts';
import { readPerfetto, tracedToy } from './traced.fixture.ts';

interface ChromeEvent {
  readonly ph: string;
  readonly name: string;
  readonly cat?: string;
  readonly pid: number;
  readonly tid: number;
  readonly ts: number;
  readonly dur?: number;
  readonly id?: number;
  readonly args: Readonly<Record<string, string | number>>;
}

const read = (step: TracedStep): readonly ChromeEvent[] =>
  (JSON.parse([...chromeTrace(step)].join('')) as { traceEvents: readonly ChromeEvent[] }).traceEvents;

/** Whole nanoseconds again. */
const nanoseconds = (microseconds: number): number => Math.round(microseconds * 1000);

describe('the trace as Chrome JSON', () => {
  const step = tracedToy({}, 'all');
  const events = read(step);
  const perfetto = readPerfetto(joinChunks(perfettoTrace(step)));

  it('has the slices, names and reasons of the trace in Perfetto format', () => {
    const threads = new Map(
      events.filter(({ name }) => name === 'thread_name').map(({ tid, args }) => [tid, args['name']]),
    );
    const slices = events
      .filter(({ ph }) => ph === 'X')
      .map(({ tid, name, cat, ts, dur, args }) => {
        const start = nanoseconds(ts);
        return [
          threads.get(tid),
          name,
          cat,
          start,
          start + nanoseconds(dur ?? 0),
          args['why'],
          args['micro-batch'],
        ].join(' ');
      });
    expect(slices.sort()).toEqual(
      perfetto.slices
        .map(({ thread, name, category, start, end, notes }) =>
          [thread, name, category, start, end, notes['why'], notes['micro-batch']].join(' '),
        )
        .sort(),
    );
  });

  it('has the same flows, each with a beginning and an end', () => {
    const ids = (phase: string) =>
      events
        .filter(({ ph }) => ph === phase)
        .map(({ id }) => id ?? 0)
        .sort((a, b) => a - b);
    expect(ids('s')).toEqual(ids('f'));
    expect(ids('s')).toEqual(perfetto.slices.flatMap(({ flows }) => flows).sort((a, b) => a - b));
  });

  it('has the same counters', () => {
    const points = events
      .filter(({ ph }) => ph === 'C')
      .map(({ name, ts, args }) => [name, nanoseconds(ts), ...Object.values(args)]);
    expect(points).toEqual(
      [...perfetto.counters].flatMap(([name, each]) => each.map(([at, value]) => [name, at, value])),
    );
  });
});
