import { describe, expect, it } from 'vitest';
import { compileProgram } from '../compile/index.ts';
import { toyLayout } from '../compile/toy.fixture.ts';
import { createPrices } from '../cost/index.ts';
import { smallJob } from '../sim/compiled.fixture.ts';
import { pricesOf, simulateProgram, timelineOf } from '../sim/index.ts';
import { chromeTrace, joinChunks, perfettoTrace, type TracedStep, tracedRanks } from './index.ts';
import { readPerfetto } from './traced.fixture.ts';

/** Eight hosts of eight ranks. */
function tracedRanksOf64(): TracedStep {
  const job = smallJob(4, 32, '8x dgx-h100');
  const layout = toyLayout({
    tensor: 2,
    pipeline: 4,
    data: 8,
    layersPerStage: [1, 1, 1, 1],
    schedule: 'zero-bubble-h1',
  });
  const program = compileProgram(job, layout);
  const step = simulateProgram(program, pricesOf(program, createPrices(job.cluster, program.mesh)));
  const lists = step.lists.map(({ expanded }) => expanded);
  return { program, lists, timeline: timelineOf(step), ranks: tracedRanks(program, 'all', 8), links: {} };
}

type Slice = readonly [thread: string, name: string, start: number, end: number];

/** Reads Chrome's format as its viewer does: microseconds, threads by their metadata. */
function chromeSlices(step: TracedStep): readonly Slice[] {
  const { traceEvents } = JSON.parse([...chromeTrace(step)].join('')) as {
    readonly traceEvents: readonly {
      readonly ph: string;
      readonly name: string;
      readonly tid: number;
      readonly ts: number;
      readonly dur: number;
      readonly args: Readonly<Record<string, string>>;
    }[];
  };
  const threads = new Map(
    traceEvents.flatMap(({ name, tid, args }) => (name === 'thread_name' ? [[tid, args['name'] ?? '']] : [])),
  );
  return traceEvents.flatMap(({ ph, name, tid, ts, dur }): readonly Slice[] => {
    const start = Math.round(ts * 1000);
    return ph === 'X' ? [[threads.get(tid) ?? '', name, start, start + Math.round(dur * 1000)]] : [];
  });
}

function busyOf(slices: readonly Slice[]): Readonly<Record<string, number>> {
  const busy: Record<string, number> = {};
  for (const [thread, , start, end] of slices) busy[thread] = (busy[thread] ?? 0) + end - start;
  return busy;
}

describe('a trace of 64 ranks', () => {
  it('has the same slices and busy time in both formats, read by decoders that are not ours', () => {
    const step = tracedRanksOf64();
    const perfetto = readPerfetto(joinChunks(perfettoTrace(step))).slices.map(
      ({ thread, name, start, end }): Slice => [thread, name, start, end],
    );
    const chrome = chromeSlices(step);
    expect(new Set(perfetto.map(([thread]) => thread.split(' ')[1])).size).toBe(64);
    expect(perfetto.map(String).sort()).toEqual(chrome.map(String).sort());
    expect(busyOf(perfetto)).toEqual(busyOf(chrome));
  });
});
