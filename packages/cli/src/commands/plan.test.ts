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
    expect(head).toMatch(/^# +step m?s~ +shared links \+%~ +tokens\/s\/GPU~ +MFU %~ +memory GiB~/);
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

  it('finds the smallest cluster, and shows it on as many GPUs', async () => {
    const { out } = await plan('--gpus', 'min', '--top', '1');
    expect(out).toMatch(/^smallest: 1 GPU \(1x dgx-h100 with 1 of its GPUs\): tensor 1/);
    const [, command = ''] = /In full: meshwright (show .*)/.exec(out) ?? [];
    const shown = await runIn(command.split(' '), { files: { 'job.yaml': openJob } });
    expect(shown.out).toContain('Layout on 1 GPUs: ');
  });

  it('ranks by cost with the price that is given, and asks for it', async () => {
    const { out } = await plan('--objective', 'cost', '--price', '2', '--json');
    const { objective, amounts, sizes } = JSON.parse(out);
    expect(objective).toBe('cost');
    expect(amounts.cost).toBeCloseTo((amounts.gpuSeconds / 3600) * 2, 12);
    expect(sizes.map((each: { gpus: number }) => each.gpus)).toEqual([1, 2, 4, 8]);
    const refused = await plan('--objective', 'cost');
    expect(refused.code).toBe(2);
    expect(refused.err).toContain('Give it with --price, or as pricePerGpuHour of the cluster.');
  });

  it('sweeps over sizes and says where each curve bends', async () => {
    const { out } = await plan('--sweep', 'gpus=1..16', '--top', '1');
    expect(out).toContain('strong scaling: the batch stays');
    expect(out).toMatch(/weak scaling: (knee at|no knee up to) /);
    expect((await plan('--sweep', 'gpus=16..1')).err).toContain('Write gpus=8..4096.');
  });

  it('puts a recipe beside the search with what it costs', async () => {
    const { out } = await plan('--recipe', 'starting-point', '--top', '1');
    expect(out).toMatch(/Recipe starting-point: tensor fills the NVLink domain up to 8/);
    expect(out).toMatch(/It arrives at tp=8,pp=1,dp=1,.* s\/step~, [\d.]+ % more than the search's/);
  });

  it('writes the command that follows so that a shell reads it', async () => {
    const { out } = await runIn(['plan', "my job's.yaml", '--top', '1'], { files: { "my job's.yaml": openJob } });
    expect(out).toContain("In full: meshwright show 'my job'\\''s.yaml' --layout ");
  });
});
