import { describe, expect, it } from 'vitest';
import { type Ran, runIn } from '../host.fixture.ts';
import { openJob, toyJob } from './job.fixture.ts';

const show = (text: string, ...args: readonly string[]): Promise<Ran> =>
  runIn(['show', 'job.yaml', ...args], { files: { 'job.yaml': text } });

describe('meshwright show', () => {
  it('answers with the layout, its time and whether it fits', async () => {
    const { code, out } = await show(openJob, '--layout', 'tp=2,pp=2,zero=1');
    expect(code).toBe(0);
    expect(out.split('\n')[0]).toMatch(
      /^tensor 2 \u00b7 pipeline 2 \u00b7 data 2 \(sharded optimizer\) - .* % MFU: fits$/,
    );
    for (const head of ['where a step goes', 'stage  layers', 'axis ', 'Layout on 8 GPUs: tp=2,pp=2,dp=2']) {
      expect(out).toContain(head);
    }
  });

  it('gives parts that add up to the step', async () => {
    const { out } = await show(toyJob, '--json');
    const { schema, step } = JSON.parse(out);
    expect(schema).toBe('meshwright.show/1');
    const sum = Object.values(step.partsSeconds as Record<string, number>).reduce((all, each) => all + each, 0);
    expect(sum).toBeCloseTo(step.seconds, 9);
  });

  it('puts the keys of the command line over those of the file', async () => {
    const { out } = await show(toyJob, '--layout', 'zero=0,ac=full', '--json');
    expect(JSON.parse(out).layout).toMatchObject({ tensor: 2, sharding: 0, recompute: 'full' });
  });

  it('points into the command line or into the file, wherever the value stands', async () => {
    const { code, out, err } = await show(toyJob, '--layout', 'tp=3');
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toContain(
      '--layout:1:4  HEADS_NOT_DIVISIBLE  layout.tensor: 2 query heads cannot be split over 3 ranks.',
    );
    expect(err).toContain('    tp=3\n       ^\n');
    const inFile = await show(toyJob.replace('tp: 2', 'tp: 3'));
    expect(inFile.err).toContain('job.yaml:5:15  HEADS_NOT_DIVISIBLE');
  });

  it('lists groups and assumptions when asked', async () => {
    const { out } = await show(toyJob, '--groups', '--assumptions');
    expect(out).toMatch(/tensor +0 +0 1\n/);
    expect(out).toMatch(/host seconds per kernel launch +[\d.e-]+ +[\d.e-]+ +[\d.e-]+ /);
  });

  it('says how often a checkpoint is worth its time, with the rates that are given', async () => {
    const { out } = await show(toyJob);
    expect(out).toMatch(
      /^Failures stop 8 GPUs once in [\d.]+ days~: a checkpoint every .* loses least, [\d.]+ % of the time~\.$/m,
    );
    const rates = ['--mtbf', '8', '--restart', '30', '--storage', '0.000001'];
    const { failures, assumptions } = JSON.parse((await show(toyJob, ...rates, '--json')).out);
    expect(failures).toMatchObject({ meanSeconds: 3600, restartSeconds: 30 });
    expect(failures.intervalSeconds).toBeCloseTo(Math.sqrt(2 * 3600 * failures.writeSeconds), 6);
    const said = assumptions.map(({ what }: { what: string }) => what);
    expect(said).not.toContain('seconds of a restart');
    const slow = await show(toyJob, ...rates.slice(0, 5), '0.00000001');
    expect(slow.out).toContain('Writing takes more than a tenth of the time between failures');
    expect((await show(toyJob, '--restart', '-1')).err).toContain('--restart');
  });

  it('reads a job from standard input', async () => {
    const { code, out } = await runIn(['show', '-', '--json'], { files: { '-': toyJob } });
    expect(code).toBe(0);
    expect(JSON.parse(out).job.name).toBe('toy');
  });
});
