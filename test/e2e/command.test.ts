import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { packageVersion } from '../../packages/cli/src/index.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const script = join(root, 'packages/cli/bin/meshwright.js');
const toy = 'examples/toy-2x2x2.yaml';

interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

interface Surroundings {
  readonly input?: string;
  readonly environment?: Readonly<Record<string, string>>;
}

/** Runs the built command in the repository's root. */
function meshwright(args: readonly string[], { input, environment }: Surroundings = {}): Ran {
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, ...args], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
    env: { ...process.env, ...environment },
    ...(input !== undefined && { input }),
  });
  return { code: status, stdout, stderr };
}

/** Runs a line of shell with the command as `meshwright`. */
function shell(line: string): Ran {
  const prelude = `set -o pipefail; meshwright() { '${process.execPath}' '${script}' "$@"; }`;
  const { status, stdout, stderr } = spawnSync('bash', ['-c', `${prelude}\n${line}`], { cwd: root, encoding: 'utf8' });
  return { code: status, stdout, stderr };
}

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'meshwright-e2e-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('the command', () => {
  it('prints its version on stdout', () => {
    expect(meshwright(['--version'])).toEqual({ code: 0, stdout: `${packageVersion()}\n`, stderr: '' });
  });

  it('prints its help on stdout, and that of each subcommand', () => {
    for (const name of [
      [],
      ['plan'],
      ['show'],
      ['explain'],
      ['program'],
      ['program', 'print'],
      ['figure'],
      ['model'],
    ]) {
      const { code, stdout, stderr } = meshwright([...name, '--help']);
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      expect(stdout).toMatch(new RegExp(`^Usage: meshwright ${name.join(' ')}`.trimEnd()));
    }
  });

  it('ends with 2 on a command or option that it does not know, and says so on stderr', () => {
    for (const wrong of ['paln', '--plan']) {
      const { code, stdout, stderr } = meshwright([wrong]);
      expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
      expect(stderr).toMatch(/^[A-Z_]+  arguments: /);
    }
    expect(meshwright(['paln']).stderr).toContain('Did you mean plan?');
  });

  it('survives a reader that has seen enough', () => {
    for (const line of [
      `meshwright program print ${toy}`,
      `meshwright figure exchanges ${toy} --svg`,
      'meshwright model --format csv',
    ]) {
      const { code, stdout, stderr } = shell(`${line} | head -n 1`);
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      expect(stdout.split('\n')).toHaveLength(2);
    }
  });

  it('reads a job from a pipe and writes a program into one', () => {
    const { code, stdout } = shell(`cat ${toy} | meshwright program print - --json | meshwright program verify -`);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^verified: .*nothing is wrong\n/);
  });
});

describe('every command with --json', () => {
  const runs: readonly (readonly [schema: string, ...args: string[]])[] = [
    ['meshwright.plan/1', 'plan', toy],
    ['meshwright.show/1', 'show', toy],
    ['meshwright.show/1', 'show', toy, '--groups'],
    ['meshwright.explain/1', 'explain', toy],
    ['meshwright.program/1', 'program', 'print', toy],
    ['meshwright.verify/1', 'program', 'verify', toy],
    ['meshwright.diff/1', 'program', 'diff', toy, '--against', 'zero=0'],
    ['meshwright.figure/1', 'figure', 'exchanges', toy],
    ['meshwright.figure/1', 'figure', 'timeline', toy],
    ['meshwright.model/1', 'model', 'gpt2', '--tensors'],
    ['meshwright.models/1', 'model'],
  ];
  it.each(runs)('%s: %s %s %s', (schema, ...args) => {
    const { code, stdout, stderr } = meshwright([...args, '--json']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const answer: unknown = JSON.parse(stdout);
    expect(Object.entries(answer as object)[0]).toEqual(['schema', schema]);
  });
});

describe('bad input', () => {
  const wrong: readonly (readonly [what: string, code: string, text: string])[] = [
    ['an unknown key', 'KEY_UNKNOWN', 'modle: gpt2\ncluster: 1x dgx-h100\nbatch: { sequences: 8, length: 64 }\n'],
    ['an unknown model', 'VALUE_UNKNOWN', 'model: gtp2\ncluster: 1x dgx-h100\nbatch: { sequences: 8, length: 64 }\n'],
    ['broken YAML', 'SYNTAX', 'model: [gpt2\ncluster: 1x dgx-h100\n'],
    ['nothing', 'FILE_EMPTY', ''],
    [
      'an odd batch',
      'BATCH_NOT_A_MULTIPLE',
      'model: gpt2\ncluster: 1x dgx-h100\nbatch: { tokens: 1000, length: 64 }\n',
    ],
  ];

  it.each(wrong)('%s ends with 2 and %s', (_, code, text) => {
    const path = join(folder, 'job.yaml');
    writeFileSync(path, text);
    const told = meshwright(['plan', path]);
    expect({ code: told.code, stdout: told.stdout }).toEqual({ code: 2, stdout: '' });
    expect(told.stderr).toContain(code);
    expect(told.stderr).toMatch(/job\.yaml:\d+:\d+ {2}/);
    expect(told.stderr).not.toMatch(/\n\s+at /);
    const asked = meshwright(['plan', path, '--json']);
    expect(asked.code).toBe(2);
    const { schema, issues } = JSON.parse(asked.stdout);
    expect(schema).toBe('meshwright.error/1');
    expect(issues.map((each: { code: string }) => each.code)).toContain(code);
  });

  it('says why a file cannot be read', () => {
    expect(meshwright(['show', 'no-such.yaml']).stderr).toBe(
      'FILE_NOT_FOUND  "no-such.yaml" does not exist. Check the path.\n',
    );
    expect(meshwright(['show', folder]).stderr).toContain('is a folder');
  });

  it('ends with 1 when nothing fits', () => {
    const job = 'model: llama-3.1-405b\ncluster: 1x dgx-h100\nbatch: { sequences: 8, length: 8192 }\n';
    for (const command of ['plan', 'explain']) {
      const { code, stdout, stderr } = meshwright([command, '-'], { input: job });
      expect(code).toBe(1);
      expect(stdout).toMatch(/^no layout of this job fits\n/);
      expect(stderr).toContain('NOTHING_FITS');
    }
  });
});

describe('files', () => {
  it('finds a configuration that a job names relative to itself', () => {
    const config = readFileSync(join(root, 'test/fixtures/configs/meta-llama-meta-llama-3.1-8b.json'), 'utf8');
    writeFileSync(join(folder, 'config.json'), config);
    writeFileSync(
      join(folder, 'named.yaml'),
      'model: ./config.json\ncluster: 1x dgx-h100\nbatch: { sequences: 64, length: 4096 }\n',
    );
    const { code, stdout } = meshwright(['plan', join(folder, 'named.yaml')]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^best: /);
  });

  it('writes a drawing that is SVG', () => {
    const path = join(folder, 'timeline.svg');
    const { code, stdout, stderr } = meshwright(['figure', 'timeline', toy, '--out', path]);
    expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: '', stderr: `wrote ${path}\n` });
    expect(readFileSync(path, 'utf8')).toMatch(/^<svg [\s\S]*<\/svg>\n$/);
    expect(meshwright(['figure', 'timeline', toy, '--out', join(folder, 'no', 'x.svg')]).code).toBe(2);
  });
});
