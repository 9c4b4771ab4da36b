import { describe, expect, it } from 'vitest';
import { busyByLane } from '../sim/index.ts';
import { joinChunks, perfettoTrace, type TracedStep } from './index.ts';
import { readPerfetto, tracedToy } from './traced.fixture.ts';
import { takesNoTime } from './traced.ts';

const read = (step: TracedStep) => readPerfetto(joinChunks(perfettoTrace(step)));

/** Slices of a timeline as text: rank, list, lane, times. */
function slicesOf({ timeline, lists, ranks }: TracedStep): readonly string[] {
  const found: string[] = [];
  for (let index = 0; index < timeline.length; index++) {
    for (const { rank, list, timedAs } of ranks) {
      if (timedAs !== timeline.rank[index]) continue;
      const { operation } = lists[list]?.operations[timeline.operation[index] ?? 0] ?? {};
      if (operation === undefined || takesNoTime(operation)) continue;
      const lane = timeline.lanes[timeline.lane[index] ?? 0];
      found.push(`rank ${rank} P${list} ${lane} ${timeline.start[index]} ${timeline.end[index]}`);
    }
  }
  return found.sort();
}

describe('the trace in Perfetto format', () => {
  it('has the slices of the timeline, each once', () => {
    for (const which of ['one-per-list', 'all'] as const) {
      const step = tracedToy({}, which);
      const { slices } = read(step);
      expect(slices.map(({ thread, start, end }) => `${thread} ${start} ${end}`).sort()).toEqual(slicesOf(step));
    }
  });

  it('has the busy time of each lane', () => {
    const step = tracedToy();
    const { slices } = read(step);
    for (const [list] of step.lists.entries()) {
      for (const [lane, seconds] of Object.entries(busyByLane(step.step, list))) {
        const thread = `rank ${step.ranks[list]?.rank} P${list} ${lane}`;
        const busy = slices
          .filter((slice) => slice.thread === thread)
          .reduce((sum, { start, end }) => sum + end - start, 0);
        expect(Math.abs(busy - seconds * 1e9)).toBeLessThanOrEqual(slices.length);
      }
    }
  });

  it('has a process for each host and a thread for each lane of a rank', () => {
    const { processes, threads } = read(tracedToy({}, 'all'));
    expect(processes).toEqual(['host 0', 'host 1']);
    expect(threads.map(({ name, process }) => [Number(name.split(' ')[1]) < 4, process])).toEqual(
      threads.map(({ process }) => [process === 1, process]),
    );
    expect(new Set(threads.map(({ thread }) => thread)).size).toBe(threads.length);
    expect(threads.filter(({ name }) => name.endsWith(' compute'))).toHaveLength(8);
  });

  it('leads from each send to its receive by a flow', () => {
    const step = tracedToy({}, 'all');
    const { slices } = read(step);
    const sends = slices.filter(({ category }) => category === 'send');
    const receives = slices.filter(({ category }) => category === 'recv');
    expect(sends.length).toBe(receives.length);
    expect(sends.length).toBeGreaterThan(0);
    expect(new Set(sends.flatMap(({ flows }) => flows)).size).toBe(sends.length);
    for (const { flows, end, thread, name } of sends) {
      const [to] = receives.filter(({ flowEnds }) => flowEnds[0] === flows[0]);
      expect({ flows, end: to?.end }).toEqual({ flows: to?.flowEnds, end });
      const [from, peer] = [thread, to?.thread ?? ''].map((each) => Number(each.split(' ')[1]));
      expect(Math.abs((from ?? 0) - (peer ?? 0))).toBe(4);
      expect(to?.name).toBe(name.replace('send', 'recv'));
    }
  });

  it('says why, in which block and for which micro-batch', () => {
    const { slices } = read(tracedToy());
    const [first] = slices.filter(({ name }) => name === 'layernorm n1');
    expect(first?.notes).toMatchObject({ block: 'layer 0', 'micro-batch': 0 });
    expect(slices.every(({ notes }) => String(notes['why']).includes(', because '))).toBe(true);
    expect(new Set(slices.map(({ name }) => name)).size).toBeLessThan(100);
  });

  it('counts memory and what ranks send', () => {
    const { counters } = read(tracedToy());
    expect([...counters.keys()].filter((name) => name.startsWith('rank 0'))).toEqual([
      'rank 0 memory',
      'rank 0 sends data',
      'rank 0 sends tensor (NVLink)',
      'rank 0 sends pipeline',
    ]);
    for (const [name, points] of counters) {
      if (!name.includes('sends')) continue;
      expect(points.at(-1)?.[1]).toBe(0);
      expect(points.every(([, value]) => value >= 0)).toBe(true);
    }
  });

  it('is written in pieces', () => {
    const step = tracedToy({}, 'all');
    const many = { ...step, ranks: Array.from({ length: 40 }, () => step.ranks).flat() };
    const chunks = [...perfettoTrace(many)];
    expect(chunks.length).toBeGreaterThan(2);
    expect(Math.max(...chunks.map((chunk) => chunk.length))).toBeLessThan(1.1 * 2 ** 20);
  });
});
