/** @file `npm run bench:learn`: the shipped example really learns. 900 steps on eight ranks as 2 x 2 x 2, then the text that
 * the trained model writes, as the README shows both. `-- --one-rank` trains it on one rank too and prints the largest
 * difference between the losses of a step, relative to that of one rank. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const JOB = 'examples/train-1m-2x2x2.yaml';
const STEPS = 900;
const root = fileURLToPath(new URL('..', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'meshwright-learn-'));

/** What a subcommand prints, and its seconds of the clock. */
function meshwright(...args) {
  const before = process.hrtime.bigint();
  const { status, stdout, stderr } = spawnSync(process.execPath, ['packages/cli/dist/main.js', ...args], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 1 << 28,
  });
  if (status !== 0) throw new Error(stderr);
  return { stdout, wall: Number(process.hrtime.bigint() - before) / 1e9 };
}

function train(...more) {
  const { stdout, wall } = meshwright('run', JOB, '--steps', String(STEPS), '--json', ...more);
  const lines = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  const steps = lines.filter(({ schema }) => schema === 'meshwright.step/1');
  return { losses: steps.map(({ loss }) => loss), validation: steps.at(-1).validationLoss, wall };
}

try {
  const ranks = train('--checkpoint-every', String(STEPS), '--checkpoints', folder);
  console.log(`steps: ${STEPS}`);
  console.log(`first loss: ${ranks.losses[0].toFixed(2)}`);
  console.log(`last loss: ${ranks.losses.at(-1).toFixed(2)}`);
  console.log(`validation loss: ${ranks.validation.toFixed(2)}`);
  console.log(`wall time: ${ranks.wall.toFixed(0)} s`);
  if (process.argv.includes('--one-rank')) {
    const alone = train('--layout', 'tp=1,pp=1,dp=1,zero=0').losses;
    const apart = ranks.losses.map((loss, step) => Math.abs(loss - alone[step]) / alone[step]);
    console.log(`largest difference to one rank: ${Math.max(...apart).toExponential(1)}`);
  }
  console.log(meshwright('sample', JOB, '--checkpoints', folder, '--prompt', 'The Congress shall').stdout.trimEnd());
} finally {
  rmSync(folder, { recursive: true, force: true });
}
