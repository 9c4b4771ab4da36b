import { compileProgram } from '@meshwright/core/compile';
import { readJob } from '@meshwright/core/io';
import { completeLayout, formatLayout } from '@meshwright/core/layout';
import { splitCosts } from '@meshwright/core/plan';
import { timelineColumns } from '@meshwright/core/timeline';
import { trainProgram } from '@meshwright/runtime';
import { beforeAll, describe, expect, it } from 'vitest';
import { type Ran, runIn } from '../host.fixture.ts';
import { toyJob } from './job.fixture.ts';

let run = '';

/** A run of the toy as `run --json` writes it, of eight ranks in this thread. */
beforeAll(async () => {
  const { job } = readJob(toyJob, 'job.yaml');
  if (!job) throw new Error('internal: the fixture is broken.');
  const { layout } = completeLayout(job.layout, job, splitCosts(job));
  const { timeline } = await trainProgram(compileProgram(job, layout), { steps: 1, inline: true });
  const report = { schema: 'meshwright.run/1', job: 'toy', layout: formatLayout(layout) };
  run = `{"schema":"meshwright.step/1"}\n${JSON.stringify({ ...report, timeline: timelineColumns(timeline) })}\n`;
});

const against = (text: string, ...args: readonly string[]): Promise<Ran> =>
  runIn(['simulate', 'job.yaml', '--against', 'run.json', ...args], {
    files: { 'job.yaml': toyJob, 'run.json': text },
  });

describe('meshwright simulate --against', () => {
  it('lays the measured step over the simulated one, kind by kind and lane by lane', async () => {
    const { code, out } = await against(run, '--json');
    expect(code).toBe(0);
    const { schema, calibrated, kinds, lanes, measuredSeconds, simulatedSeconds } = JSON.parse(out);
    expect({ schema, calibrated }).toEqual({ schema: 'meshwright.overlay/1', calibrated: false });
    expect(measuredSeconds).toBeGreaterThan(0);
    expect(simulatedSeconds).toBeGreaterThan(0);
    const sum = (rows: { measured: number }[]): number => rows.reduce((all, { measured }) => all + measured, 0);
    // Lanes hold what kinds hold: the same operations, put together otherwise.
    expect(sum(kinds) / sum(lanes)).toBeCloseTo(1, 9);
    for (const { operations, measured } of kinds) {
      expect(operations).toBeGreaterThan(0);
      expect(measured).toBeGreaterThanOrEqual(0);
    }
    expect(kinds.map(({ what }: { what: string }) => what)).toEqual(
      expect.arrayContaining(['gemm', 'adamw', 'all-gather over tensor', 'send over pipeline']),
    );
  });

  it('says so in tables, draws both on one scale, and writes the measured one as a trace', async () => {
    const { out } = await against(run);
    expect(out).toMatch(/^simulated [\d.]+ ms, measured [\d.]+ ms/);
    expect(out).toContain('The cluster of the job is not this machine');
    const drawn = await against(run, '--svg');
    expect(drawn.out.match(/<svg/g)).toHaveLength(3);
    expect(drawn.out).toContain('>measured</text>');
    const { chunks } = await against(run, '--trace', 'm.json');
    const names = JSON.parse(new TextDecoder().decode(chunks.get('m.json'))).traceEvents.map(
      ({ name }: { name: string }) => name,
    );
    expect(names.some((name: string) => name.startsWith('gemm'))).toBe(true);
  });

  it('refuses files that are no run, and runs of something else', async () => {
    const said = async (text: string, ...args: readonly string[]): Promise<string> =>
      (await against(text, ...args)).err;
    expect(await said('no json')).toContain('RUN_UNREADABLE');
    expect(await said('{"schema":"meshwright.run/1","stopped":"done"}')).toContain('has no timeline');
    expect(await said(run.replace('"rank":[0', '"rank":[-1'))).toContain('a timeline that is none');
    expect(await said(run, '--layout', 'tp=2,pp=1,dp=4,schedule=none')).toContain('RUN_OF_ANOTHER');
  });
});
