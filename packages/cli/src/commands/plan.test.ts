import { describe, expect, it } from 'vitest';
import { type Ran, runIn } from '../host.fixture.ts';
import { openJob } from './job.fixture.ts';

const plan = (...args: readonly string[]): Promise<Ran> =>
  runIn(['plan', 'job.yaml', ...args], { files: { 'job.yaml': openJob } });

describe('meshwright plan', () => {
  it('answers in the first line, then the table, then the reasons', async () => {
    const { code, out, err } = await plan('--top', '3');
    expect({ code, err }).toEqual({ code: 0, err: '' });
    const [answer, blank, head, ...rest] = out.split('\n');
    expect(answer).toMatch(
      /^best: tensor \d+ \u00b7 pipeline \d+ \u00b7 data \d+.* - [\d.]+ m?s\/step~, [\d.]+ of [\d.]+ GiB, \d+ % MFU$/,
    );
    expect(blank).toBe('');
    expect(head).toMatch(/^# +step m?s~ +tokens\/s\/GPU~ +MFU %~ +memory GiB~/);
    expect(rest.slice(0, 3).map((line) => line.trimStart().split(' ')[0])).toEqual(['1', '2', '3']);
    expect(out).toMatch(/#1 is [\d.]+ % ahead of #2/);
    expect(out).toMatch(/layouts considered, .* legal, .* evaluated/);
    expect(out).toContain('In full: meshwright show job.yaml --layout tp=');
  });

  it('gives the object of the contract', async () => {
    const { out } = await plan('--json', '--top', '2');
    const answer = JSON.parse(out);
    expect(Object.keys(answer)[0]).toBe('schema');
    expect(answer).toMatchObject({ schema: 'meshwright.plan/1', proven: true });
    expect(answer.plans).toHaveLength(2);
    expect(answer.plans[0].step.seconds).toBeLessThanOrEqual(answer.plans[1].step.seconds);
    expect(answer.plans.every((each: { schema: string }) => each.schema === 'meshwright.show/1')).toBe(true);
  });

  it('keeps what is fixed', async () => {
    const { out } = await plan('--layout', 'tp=2', '--json');
    const degrees = JSON.parse(out).plans.map((each: { layout: { tensor: number } }) => each.layout.tensor);
    expect(new Set(degrees)).toEqual(new Set([2]));
  });

  it('writes a table that a spreadsheet reads', async () => {
    const { out } = await plan('--format', 'csv', '--top', '2');
    const lines = out.trimEnd().split('\n');
    expect(lines).toHaveLength(3);
    expect(lines[0]).toMatch(/^#,step/);
  });

  it('ends with 1 when nothing fits, and says what the smallest needs', async () => {
    const job = 'model: llama-3.1-405b\ncluster: 1x dgx-h100\nbatch: { sequences: 8, length: 8192 }\n';
    const { code, out, err } = await runIn(['plan', 'job.yaml'], { files: { 'job.yaml': job } });
    expect(code).toBe(1);
    expect(out).toMatch(/^no layout of this job fits\n/);
    expect(err).toContain('NOTHING_FITS');
  });

  it('shows progress on a terminal and takes it away', async () => {
    const { err } = await runIn(['plan', 'job.yaml'], { files: { 'job.yaml': openJob }, terminal: true });
    expect(err.endsWith('\r\u001b[2K')).toBe(true);
  });
});
