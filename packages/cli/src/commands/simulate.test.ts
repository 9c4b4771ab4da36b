import { describe, expect, it } from 'vitest';
import { type Ran, runIn } from '../host.fixture.ts';
import { toyJob } from './job.fixture.ts';

const simulate = (...args: readonly string[]): Promise<Ran> =>
  runIn(['simulate', 'job.yaml', ...args], { files: { 'job.yaml': toyJob, 'there.json': '{}' } });

describe('meshwright simulate', () => {
  it('answers with the seconds and what the critical path consists of', async () => {
    const { code, out, err } = await simulate();
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out.split('\n')[0]).toMatch(/^[\d.]+ m?s a step~: the critical path is \d+ % launches by the host/);
    for (const head of [
      'critical path ',
      'compute lane of the last list',
      'axis ',
      'lane ',
      ' operations on 2 lists',
    ]) {
      expect(out).toContain(head);
    }
  });

  it('gives the object of show and the timeline, which agree', async () => {
    const { out } = await simulate('--json');
    const { schema, step, timeline, traceFile, files } = JSON.parse(out);
    expect({ schema, traceFile, files }).toEqual({ schema: 'meshwright.simulate/1', traceFile: null, files: [] });
    expect(timeline.seconds / step.seconds).toBeCloseTo(1, 9);
    const { parts, segments, seconds } = timeline.criticalPath;
    expect(parts.reduce((sum: number, part: { seconds: number }) => sum + part.seconds, 0)).toBeCloseTo(seconds, 12);
    expect([segments[0].startSeconds, segments.at(-1).endSeconds]).toEqual([0, timeline.seconds]);
    const sent = timeline.lanes.reduce((sum: number, lane: { bytes: number }) => sum + 4 * lane.bytes, 0);
    expect(sent).toBe(24_656);
    expect(timeline.lanes.reduce((sum: number, lane: { operations: number }) => sum + lane.operations, 0)).toBe(
      timeline.operations,
    );
  });

  it('writes traces in the format that the ending names', async () => {
    const { chunks, out } = await simulate('--trace', 't.json', '--memory', 'm.pickle', '--json');
    const trace = JSON.parse(new TextDecoder().decode(chunks.get('t.json')));
    expect(trace.traceEvents.length).toBeGreaterThan(100);
    expect([...(chunks.get('m.pickle') ?? [])].slice(0, 2)).toEqual([0x80, 2]);
    expect(JSON.parse(out).traceFile).toBe('t.json');
    const perfetto = await simulate('--trace', 't.pftrace.gz', '--ranks', 'all');
    expect(perfetto.chunks.get('t.pftrace.gz')?.[0]).toBe(0x0a);
    expect(perfetto.out).toContain('Wrote t.pftrace.gz (');
  });

  it('writes a Chakra file for each rank, and their groups', async () => {
    const { chunks } = await simulate('--chakra', 'folder');
    const names = [...chunks.keys()].map((name) => name.replaceAll('\\', '/'));
    expect(names).toEqual([
      ...Array.from({ length: 8 }, (_, rank) => `folder/toy.${rank}.et`),
      'folder/toy.groups.json',
    ]);
    const few = await simulate('--chakra', 'folder', '--ranks', 'one-per-list');
    expect(few.chunks.size).toBe(3);
  });

  it('does not write over a file unless it is told to, and says so before any work', async () => {
    const refused = await simulate('--trace', 'there.json');
    expect({ code: refused.code, out: refused.out, written: refused.chunks.size }).toEqual({
      code: 2,
      out: '',
      written: 0,
    });
    expect(refused.err).toContain('FILE_EXISTS  "there.json" exists.');
    const forced = await simulate('--trace', 'there.json', '--force');
    expect(forced.chunks.size).toBe(1);
  });

  it('knows traces by their ending only', async () => {
    const { code, err } = await simulate('--trace', 'trace.txt');
    expect(code).toBe(2);
    expect(err).toContain('VALUE_UNKNOWN  --trace: the ending of "trace.txt" names no format.');
  });

  it('simulates fewer micro-batches and says that it assumes so', async () => {
    const { out, err } = await simulate('--micro-batches', '1');
    expect(err).toBe('');
    expect(out).toContain('Assumed: a step of 1 micro-batch stands for that of 2 (--micro-batches).');
    expect(JSON.parse((await simulate('--micro-batches', '1', '--json')).out).shortenedFrom).toBe(2);
    for (const wrong of ['0', '3', 'two']) {
      const refused = await simulate('--micro-batches', wrong);
      expect(refused.code).toBe(2);
      expect(refused.err).toMatch(/^VALUE_OUT_OF_RANGE {2}--micro-batches: /);
    }
  });

  it('draws the step', async () => {
    const { out } = await simulate('--svg');
    expect(out).toMatch(/^<svg /);
  });

  it('shows what it is doing on a terminal', async () => {
    const { err } = await runIn(['simulate', 'job.yaml', '--trace', 't.json'], {
      files: { 'job.yaml': toyJob },
      terminal: true,
    });
    expect(err).toContain('simulating 2');
    expect(err).toContain('writing t.json: 0 MB');
  });
});
