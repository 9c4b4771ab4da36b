import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));
const script = 'packages/cli/bin/meshwright.js';
const toy = 'examples/toy-2x2x2.yaml';
const scratch = mkdtempSync(join(tmpdir(), 'meshwright-resume-'));
afterAll(() => rmSync(scratch, { recursive: true }));

type Line = Readonly<Record<string, unknown>> & { readonly losses: readonly number[] };

function meshwright(...args: readonly string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, ...args], { cwd: root, encoding: 'utf8' });
  return { code: status, stdout, stderr };
}

const lastLine = (stdout: string): Line => JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '');

describe('meshwright resume', () => {
  it('goes on after Ctrl-C with the losses of a run that nobody interrupted', async () => {
    const folder = join(scratch, 'interrupted');
    const args = ['run', toy, '--steps', '400', '--checkpoints', folder, '--json'];
    const child = spawn(process.execPath, [script, ...args], { cwd: root });
    let stdout = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      if (stdout === '') child.kill('SIGINT');
      stdout += text;
    });
    expect(await new Promise((resolve) => child.on('close', resolve))).toBe(0);
    const { losses, checkpoint } = lastLine(stdout);
    expect(lastLine(stdout)['stopped']).toBe('interrupted');
    expect(checkpoint).toEqual({ folder, step: losses.length });
    const steps = String(losses.length + 4);
    const rest = meshwright('resume', toy, '--checkpoints', folder, '--steps', steps, '--json');
    expect(rest.code).toBe(0);
    rmSync(join(folder, `step-${steps.padStart(8, '0')}`), { recursive: true });
    const again = meshwright('resume', toy, '--checkpoints', folder, '--steps', steps, '--json');
    expect(again.code).toBe(0);
    expect(lastLine(again.stdout).losses).toEqual(lastLine(rest.stdout).losses);
    expect(lastLine(rest.stdout)).toMatchObject({ steps: 4, stopped: 'done' });
  });

  it('has the steps, rate and validations of the run, on another layout too', () => {
    const folder = join(scratch, 'whole');
    const whole = meshwright(
      'run',
      toy,
      '--steps',
      '6',
      '--rate',
      '0.01',
      '--checkpoints',
      folder,
      '--checkpoint-every',
      '3',
      '--json',
    );
    expect(whole.code).toBe(0);
    const again = meshwright('resume', toy, '--checkpoints', folder, '--step', '3');
    expect(again.code).toBe(2);
    expect(again.stderr).toMatch(/^FILE_EXISTS {2}--step: .* holds the checkpoint of step 6 too/);
    rmSync(join(folder, 'step-00000006'), { recursive: true });
    const layout = 'tp=2,pp=1,dp=4,zero=3,schedule=none';
    const rest = meshwright('resume', toy, '--checkpoints', folder, '--layout', layout, '--json');
    expect(rest.stderr).toBe('');
    const wanted = lastLine(whole.stdout).losses.slice(3);
    lastLine(rest.stdout).losses.forEach((loss, index) => {
      expect(Math.abs(loss / wanted[index]! - 1)).toBeLessThan(0.01);
    });
    expect(readdirSync(folder)).toEqual(['step-00000003', 'step-00000006']);
  });

  it('refuses to write over a run, other tokens, a damaged file and a finished run', () => {
    const folder = join(scratch, 'refused');
    meshwright('run', toy, '--steps', '2', '--checkpoints', folder);
    const refusals: readonly (readonly [code: string, args: readonly string[]])[] = [
      ['FILE_EXISTS', ['run', toy]],
      ['VALUE_OUT_OF_RANGE', ['resume', toy]],
      ['CHECKPOINT_MISSING', ['resume', toy, '--step', '7']],
    ];
    for (const [expected, args] of refusals) {
      const { code, stderr } = meshwright(...args, '--checkpoints', folder);
      expect(code).toBe(2);
      expect(stderr).toContain(expected);
    }
    const tokens = join(scratch, 'tokens.bin');
    writeFileSync(tokens, new Uint8Array(Uint16Array.from({ length: 500 }, (_, index) => index % 16).buffer));
    const other = meshwright('resume', toy, '--steps', '4', '--data', tokens, '--checkpoints', folder);
    expect(other.stderr).toMatch(/^CHECKPOINT_OF_ANOTHER {2}--data: the run was trained on tokens drawn/);
    const before = readdirSync(folder);
    writeFileSync(join(folder, 'step-00000002', 'rank-0000.m.safetensors'), 'mine');
    const damaged = meshwright('resume', toy, '--steps', '4', '--checkpoints', folder);
    expect(damaged.code).toBe(2);
    expect(damaged.stderr).toMatch(/^CHECKPOINT_DAMAGED {2}step-00000002\/rank-0000\.m\.safetensors: it has 4 bytes/);
    expect(readdirSync(folder)).toEqual(before);
  });

  it('a disk that takes no more ends the run with the reason, and the checkpoint before is whole', () => {
    const folder = join(scratch, 'full');
    meshwright('run', toy, '--steps', '2', '--checkpoints', folder);
    const command = `ulimit -f 4; exec "$0" ${script} resume ${toy} --steps 6 --checkpoint-every 2 --checkpoints ${folder}`;
    const full = spawnSync('bash', ['-c', command, process.execPath], { cwd: root, encoding: 'utf8' });
    expect(full.status).toBe(1);
    expect(full.stdout).toMatch(/rank \d stopped.*: the checkpoint of step 4 was not written: EFBIG/);
    expect(full.stdout).toContain('The checkpoint of step 2 is in');
    expect(readdirSync(folder)).toEqual(['step-00000002']);
    expect(meshwright('resume', toy, '--steps', '4', '--checkpoints', folder).code).toBe(0);
  });
});
