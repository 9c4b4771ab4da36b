import { spawn, spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));
const script = 'packages/cli/bin/meshwright.js';
const toy = 'examples/toy-2x2x2.yaml';

function meshwright(args: readonly string[], input?: string) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, ...args], {
    cwd: root,
    encoding: 'utf8',
    ...(input !== undefined && { input }),
  });
  return { code: status, stdout, stderr };
}

const linesOf = (stdout: string): readonly Record<string, never>[] =>
  stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));

/** Every `meshwright.run/1` has these, however it ended. */
function expectContract(report: Readonly<Record<string, unknown>> | undefined): void {
  const steps = report?.['steps'];
  expect(report).toMatchObject({ schema: 'meshwright.run/1', stopped: expect.anything() });
  for (const each of ['losses', 'gradNorms', 'secondsPerStep']) expect(report?.[each]).toHaveLength(Number(steps));
  const bytes = Object.values(report?.['bytes'] as object);
  expect(bytes.length).toBeGreaterThan(0);
  for (const each of bytes) expect(each).toEqual({ predicted: each.moved, moved: expect.any(Number) });
  expect(report?.['peakBytes']).toMatchObject({ predicted: expect.any(Number) });
}

describe('meshwright run', () => {
  it('prints one line a step, then predicted against measured', () => {
    const { code, stdout, stderr } = meshwright(['run', toy, '--steps', '3']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^toy: 1920 parameters on 8 ranks/);
    expect(stdout).toMatch(
      /\nstep +loss +rate +norm +ms +tokens\/s +data KiB +tensor KiB +pipeline KiB {2}validation\n/,
    );
    expect(stdout.match(/^ +[123] +2\.\d{4} /gm)).toHaveLength(3);
    expect(stdout).toMatch(/\ndone: 3 steps in /);
    expect(stdout).toMatch(/\ndata +79,200 +79,200 +equal\n/);
    expect(stdout).not.toContain('DIFFERENT');
  });

  it('says the same as JSON lines', () => {
    const { code, stdout } = meshwright(['run', toy, '--steps', '2', '--validate', '0', '--json']);
    expect(code).toBe(0);
    const lines = linesOf(stdout);
    expect(lines.map(({ schema }) => schema)).toEqual(['meshwright.step/1', 'meshwright.step/1', 'meshwright.run/1']);
    expectContract(lines[2]);
    const last = lines[2] as unknown as { bytes: object; peakBytes: { predicted: number; tracked: number } };
    expect(last).toMatchObject({ steps: 2, stopped: 'done', bytes: { tensor: { predicted: 17_728, moved: 17_728 } } });
    expect(last.peakBytes.tracked).toBe(last.peakBytes.predicted);
  });

  it('ends cleanly on Ctrl-C', async () => {
    const child = spawn(process.execPath, [script, 'run', toy, '--steps', '100000', '--json'], { cwd: root });
    let stdout = '';
    let asked = false;
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
      if (asked) return;
      asked = true;
      child.kill('SIGINT');
    });
    const code = await new Promise((resolve) => child.on('close', resolve));
    expect(code).toBe(0);
    expect(linesOf(stdout).at(-1)).toMatchObject({ schema: 'meshwright.run/1', stopped: 'interrupted' });
  });

  it('refuses what this machine cannot run', () => {
    const job = (keys: string): string => `cluster: 1x dgx-h100\nbatch: { sequences: 64, length: 512 }\n${keys}\n`;
    const refused: readonly (readonly [code: string, text: string])[] = [
      ['RUN_TOO_LARGE', job('model: llama-3.1-405b')],
      ['TYPE_NOT_EXECUTED', job('model: { kind: gpt2, layers: 2, hidden: 8, heads: 8, vocab: 16 }\nprecision: fp16')],
      ['RANKS_TOO_MANY', job('model: { kind: gpt2, layers: 4, hidden: 8, heads: 8, vocab: 16 }').replace('1x', '4x')],
    ];
    for (const [expected, text] of refused) {
      const { code, stdout, stderr } = meshwright(['run', '-'], text);
      expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
      expect(stderr).toContain(expected);
    }
    const { code, stderr } = meshwright(['run', toy, '--data', 'examples/toy-2x2x2.yaml']);
    expect(code).toBe(2);
    expect(stderr).toMatch(
      /^TOKEN_UNKNOWN {2}--data: examples\/toy-2x2x2\.yaml has the token \d+, and the model knows/,
    );
  });
});

describe('meshwright verify', () => {
  it('holds a layout against one rank', () => {
    const { code, stdout } = meshwright(['verify', toy]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^verified: 8 ranks .* train as one rank does; bytes and memory are the program's\n/);
    expect(stdout).toMatch(/\nloss +\S+ +1e-6 +holds/);
  });

  it('says the same as JSON lines, which name the run that a step is of', () => {
    const four = meshwright([
      'verify',
      toy,
      '--layout',
      'tp=2,pp=1,dp=4,zero=3,schedule=none',
      '--steps',
      '2',
      '--json',
    ]);
    expect(four.code).toBe(0);
    const lines = linesOf(four.stdout);
    const steps = lines.slice(0, -1).map(({ schema, of, step }) => [schema, of, step]);
    expect(steps).toEqual(
      ['layout', 'in fp32', 'one rank'].flatMap((of) => [1, 2].map((step) => ['meshwright.step/1', of, step])),
    );
    expect(lines.at(-1)).toMatchObject({
      ok: true,
      parity: { holds: true },
      layout: expect.stringContaining('zero=3'),
    });
    expectContract(lines.at(-1));
  });
});
