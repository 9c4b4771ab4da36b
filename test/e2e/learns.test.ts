import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));
const example = readFileSync(`${root}examples/train-1m-2x2x2.yaml`, 'utf8');
const LONG = process.env['MESHWRIGHT_LONG'] !== undefined;
const STEPS = 100;
const PATIENCE_MS = 1_800_000;

/** The same job on a cluster of one device, over the micro-batches of the original. */
const alone = example
  .replace(/^cluster: .*$/m, 'cluster: { preset: dgx-h100, nodes: 1, gpusPerNode: 1 }')
  .replace(/^layout: .*$/m, 'layout: { tp: 1, pp: 1, dp: 1, mbs: 4 }');

/** Losses of all steps of a job. */
function lossesOf(job: string): readonly number[] {
  const args = ['packages/cli/bin/meshwright.js', 'run', '-', '--steps', String(STEPS), '--validate', '0', '--json'];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, {
    cwd: root,
    encoding: 'utf8',
    input: job,
    maxBuffer: 2 ** 28,
  });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  return JSON.parse(stdout.trimEnd().split('\n').at(-1)!).losses;
}

it.runIf(LONG)(
  'the shipped example on 2 x 2 x 2 ranks has the loss of one rank at every step',
  () => {
    const [many, one] = [lossesOf(example), lossesOf(alone)];
    expect(many).toHaveLength(STEPS);
    expect(one).toHaveLength(STEPS);
    const apart = many.map((loss, step) => Math.abs(loss / one[step]! - 1));
    expect(Math.max(...apart)).toBeLessThanOrEqual(1e-6);
    expect(many.at(-1)).toBeLessThan(0.6 * many[0]!);
  },
  PATIENCE_MS,
);
