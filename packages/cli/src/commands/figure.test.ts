import { describe, expect, it } from 'vitest';
import { type Ran, runIn } from '../host.fixture.ts';
import { openJob, toyJob } from './job.fixture.ts';

const figure = (...args: readonly string[]): Promise<Ran> =>
  runIn(['figure', ...args], { files: { 'job.yaml': toyJob } });

describe('meshwright figure', () => {
  it.each([
    [['exchanges', 'job.yaml', '--svg', '--json'], 'OPTIONS_CONTRADICT'],
    [
      ['exchanges', 'job.yaml', '--to', '5'],
      'OPTIONS_CONTRADICT  --to: --to is of the figure timeline, not of exchanges.',
    ],
    [['timeline', 'job.yaml', '--hops'], 'OPTIONS_CONTRADICT  --hops: --hops is of the figure steps, not of timeline.'],
    [['scaling', 'job.yaml', '--step', '1'], 'OPTIONS_CONTRADICT  --step: '],
  ])('refuses what it would ignore: %j', async (args, says) => {
    const { code, out, err } = await figure(...args);
    expect(code).toBe(2);
    expect(`${out}${err}`).toContain(says);
  });

  it('draws scaling, and gives it as tables and data', async () => {
    const job = { 'job.yaml': openJob };
    const args = ['figure', 'scaling', 'job.yaml', '--sweep', 'gpus=4..16'];
    const { out } = await runIn(args, { files: job });
    expect(out).toMatch(/^job: strong scaling: /);
    const { out: json } = await runIn([...args, '--json'], { files: job });
    expect(JSON.parse(json)).toMatchObject({ schema: 'meshwright.figure/1', figure: 'scaling', from: 4, to: 16 });
    const { out: svg } = await runIn([...args, '--svg'], { files: job });
    expect(svg).toMatch(/^<svg/);
  });

  it('gives the exchanges as a table with the bytes of the worked example', async () => {
    const { code, out } = await figure('exchanges', 'job.yaml');
    expect(code).toBe(0);
    expect(out.split('\n')[0]).toBe('toy: 8 GPUs send 24.1 KiB a step; one node');
    const { out: json } = await figure('exchanges', 'job.yaml', '--json');
    const { schema, axes, totalBytes } = JSON.parse(json);
    expect(schema).toBe('meshwright.figure/1');
    expect(totalBytes).toBe(24_656);
    expect(axes.map((each: { bytes: number[] }) => each.bytes)).toEqual([
      [1092, 1124],
      [1672, 1628],
      [68, 68],
      [256, 256],
    ]);
  });

  it('gives the timeline as a table and as data', async () => {
    const { out } = await figure('timeline', 'job.yaml');
    expect(out).toMatch(/^toy: [\d.]+ m?s a step~, compute is idle [\d.]+ % of it\n/);
    const { out: json } = await figure('timeline', 'job.yaml', '--json');
    const [first] = JSON.parse(json).stages;
    const order = first.invocations.map((each: { role: string; microBatch?: number }) => [each.role, each.microBatch]);
    expect(order).toEqual([
      ['forward', 0],
      ['forward', 1],
      ['backward', 0],
      ['backward', 1],
      ['optimizer', undefined],
    ]);
  });

  it('tells a step press by press, with the closed forms at its end', async () => {
    const { out } = await figure('steps', 'job.yaml');
    expect(out.split('\n')[0]).toMatch(/^toy: tensor 2 \S data 2 \S pipeline 2 \(sharded optimizer\), \d+ steps$/);
    expect(out).toContain('Bytes counted in the program equal the closed forms on every axis.');
    const { out: json } = await figure('steps', 'job.yaml', '--json');
    const { totals, steps } = JSON.parse(json);
    const sent = totals.map((each: { counted: number }[]) => each.reduce((sum, { counted }) => sum + counted, 0));
    expect(sent).toEqual([3088, 3076]);
    expect(steps.at(-1).lists.map((each: { sent: number }) => each.sent)).toEqual([3088, 3076]);
  });

  it('draws a step at a frame, all of it, and no frame beyond its end', async () => {
    const { out } = await figure('steps', 'job.yaml', '--svg', '--step', '3');
    expect(out).toMatch(/\(3 of \d+\)/);
    expect((await figure('steps', 'job.yaml', '--svg')).out).toContain('Update');
    const { code, err } = await figure('steps', 'job.yaml', '--svg', '--step', '9999');
    expect(code).toBe(2);
    expect(err).toContain('frame 9999 is beyond the last one');
  });

  it('draws on stdout or into a file', async () => {
    for (const name of ['exchanges', 'timeline']) {
      const { code, out, err } = await figure(name, 'job.yaml', '--svg');
      expect({ code, err }).toEqual({ code: 0, err: '' });
      expect(out).toMatch(/^<svg xmlns="http:\/\/www.w3.org\/2000\/svg"[^>]* role="img"/);
      const saved = await figure(name, 'job.yaml', '--out', 'x.svg');
      expect({ out: saved.out, err: saved.err }).toEqual({ out: '', err: 'wrote x.svg\n' });
      expect(saved.saved.get('x.svg')).toBe(out);
    }
  });

  it('refuses a window without a step in it, and a name that is no figure', async () => {
    const empty = await figure('timeline', 'job.yaml', '--svg', '--from', '99999');
    expect(empty.code).toBe(2);
    expect(empty.err).toContain('VALUE_OUT_OF_RANGE  --from');
    const unknown = await figure('pie', 'job.yaml');
    expect(unknown.code).toBe(2);
    expect(unknown.err).toContain('exchanges, steps, timeline');
  });

  it('asks for the job when it is given a program', async () => {
    const { out } = await runIn(['program', 'print', 'job.yaml'], { files: { 'job.yaml': toyJob } });
    const { code, err } = await runIn(['figure', 'timeline', '-'], { files: { '-': out } });
    expect(code).toBe(2);
    expect(err).toContain('Name the job file.');
  });

  it.each([
    ['waterfall', /waiting: the host/],
    ['ranking', /capacity/],
    ['memory', /stage 1/],
    ['memory-over-time', /throughout/],
    ['map', /host 0/],
  ])('draws %s, and gives it as a table and as data', async (name, shows) => {
    const files = { 'job.yaml': name === 'ranking' ? openJob : toyJob };
    const { code, out } = await runIn(['figure', name, 'job.yaml', '--svg'], { files });
    expect(code).toBe(0);
    expect(out).toMatch(/^<svg xmlns/);
    expect(out).toMatch(shows);
    expect(out).not.toMatch(/NaN|undefined|Infinity/);
    expect((await runIn(['figure', name, 'job.yaml'], { files })).out).not.toBe('');
    const json = await runIn(['figure', name, 'job.yaml', '--json'], { files });
    expect(JSON.parse(json.out)).toMatchObject({ schema: 'meshwright.figure/1' });
  });

  it('refuses stages and ranks that are not there', async () => {
    expect((await figure('memory-over-time', 'job.yaml', '--stage', '9')).err).toContain('Use 0 to 1.');
    expect((await figure('map', 'job.yaml', '--rank', '8')).err).toContain('Use 0 to 7.');
    expect((await figure('map', 'job.yaml', '--stage', '0')).err).toContain('is of the figure memory-over-time');
  });
});
