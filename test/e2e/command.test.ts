import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { packageVersion } from '../../packages/cli/src/index.ts';

const script = fileURLToPath(new URL('../../packages/cli/bin/meshwright.js', import.meta.url));

function meshwright(...args: readonly string[]): { code: number | null; stdout: string; stderr: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, ...args], { encoding: 'utf8' });
  return { code: status, stdout, stderr };
}

describe('the command', () => {
  it('prints its version on stdout', () => {
    expect(meshwright('--version')).toEqual({ code: 0, stdout: `${packageVersion()}\n`, stderr: '' });
  });

  it('prints its help on stdout', () => {
    const { code, stdout } = meshwright('--help');
    expect(code).toBe(0);
    expect(stdout).toMatch(/^Usage: meshwright/);
  });

  it('ends with 2 on a command or option that it does not know, and says so on stderr', () => {
    for (const wrong of ['paln', '--plan']) {
      const { code, stdout, stderr } = meshwright(wrong);
      expect(code).toBe(2);
      expect(stdout).toBe('');
      expect(stderr).toMatch(/^error: /);
    }
  });
});
