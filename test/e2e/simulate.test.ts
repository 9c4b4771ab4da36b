import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));
const script = join(root, 'packages/cli/bin/meshwright.js');
const toy = 'examples/toy-2x2x2.yaml';

/** Runs the built command on the toy, in the repository's root. */
function simulate(...args: readonly string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, 'simulate', toy, ...args], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
  });
  return { code: status, stdout, stderr };
}

const python = spawnSync('python3', ['--version']).status === 0;
if (!python) console.warn('python3 is not there: pickles are not read back by CPython. Install python3 for it.');

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'meshwright-simulate-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('meshwright simulate', () => {
  it('writes a trace that is the same with and without compression', () => {
    const plain = join(folder, 't.pftrace');
    const { code, stderr } = simulate('--trace', plain);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(simulate('--trace', `${plain}.gz`).code).toBe(0);
    expect(gunzipSync(readFileSync(`${plain}.gz`)).equals(readFileSync(plain))).toBe(true);
  });

  it('keeps what is there, and what it cannot write it says in one line', () => {
    const path = join(folder, 'kept.json');
    expect(simulate('--trace', path).code).toBe(0);
    const before = readFileSync(path, 'utf8');
    const again = simulate('--trace', path, '--layout', 'zero=0');
    expect({ code: again.code, stdout: again.stdout }).toEqual({ code: 2, stdout: '' });
    expect(again.stderr).toMatch(/^FILE_EXISTS [^\n]*\n$/);
    expect(readFileSync(path, 'utf8')).toBe(before);
    expect(simulate('--trace', path, '--layout', 'zero=0', '--force').code).toBe(0);
    expect(readFileSync(path, 'utf8')).not.toBe(before);
    const lost = simulate('--trace', join(folder, 'no', 'such', 'folder.json'));
    expect(lost.code).toBe(2);
    expect(lost.stderr).toMatch(/^FILE_NOT_WRITTEN [^\n]*lies in a folder that does not exist[^\n]*\n$/);
  });

  it('makes the folder of Chakra traces, and writes groups that cover every rank', () => {
    const traces = join(folder, 'chakra');
    expect(simulate('--chakra', traces).code).toBe(0);
    const groups: Record<string, number[]> = JSON.parse(readFileSync(join(traces, 'toy.groups.json'), 'utf8'));
    expect([...new Set(Object.values(groups).flat())].sort()).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    for (let rank = 0; rank < 8; rank++) expect(existsSync(join(traces, `toy.${rank}.et`))).toBe(true);
  });

  it.runIf(python)('writes a snapshot that Python reads, with the peak that show predicts', () => {
    const path = join(folder, 'memory.pickle');
    const { stdout } = simulate('--memory', path, '--json');
    const program = [
      'import json, pickle, sys',
      'snapshot = pickle.load(open(sys.argv[1], "rb"))',
      'peaks = []',
      'for segment, trace in zip(snapshot["segments"], snapshot["device_traces"]):',
      '    held = peak = segment["allocated_size"]',
      '    for event in trace:',
      '        held += {"alloc": event["size"], "free_completed": -event["size"]}.get(event["action"], 0)',
      '        peak = max(peak, held)',
      '    assert held == segment["allocated_size"]',
      '    assert sum(block["size"] for block in segment["blocks"]) == segment["total_size"]',
      '    peaks.append(peak)',
      'print(json.dumps(peaks))',
    ].join('\n');
    const read = spawnSync('python3', ['-c', program, path], { encoding: 'utf8' });
    expect(read.stderr).toBe('');
    const stages: readonly { allocatedBytes: number }[] = JSON.parse(stdout).memory.stages;
    expect(JSON.parse(read.stdout)).toEqual(stages.map(({ allocatedBytes }) => allocatedBytes));
  });
});
