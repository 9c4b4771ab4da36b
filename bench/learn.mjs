/** @file `npm run bench:learn`: the shipped example really learns. 900 steps on eight ranks as 2 x 2 x 2, then the text that
 * the trained model writes, as the README shows both. `-- --one-rank` trains it on one rank too, and once more there with kernels that round in
 * other places, and prints how far losses are apart over all steps: of eight ranks from one, and of one from itself. What rounds
 * otherwise drifts apart as training goes on (decision 0044). */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const JOB = 'examples/train-1m-2x2x2.yaml';
const STEPS = 900;
/** Of the loss of a step, relative. */
const BOUND = 1e-5;
const root = fileURLToPath(new URL('..', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'meshwright-learn-'));

/** Processor seconds of the processes that this one has started and that have ended; undefined where nobody tells. */
function childSeconds() {
  if (!existsSync('/proc/self/stat')) return undefined;
  // Behind the name in brackets, which may hold spaces; user and system time of children in hundredths of a second.
  const fields = readFileSync('/proc/self/stat', 'utf8').split(') ').at(-1).split(' ');
  return (Number(fields[13]) + Number(fields[14])) / 100;
}

/** What a subcommand prints, and its seconds of the clock and of processors. */
function meshwright(...args) {
  const before = process.hrtime.bigint();
  const busyBefore = childSeconds();
  const { status, stdout, stderr } = spawnSync(process.execPath, ['packages/cli/dist/main.js', ...args], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 1 << 28,
  });
  if (status !== 0) throw new Error(stderr || stdout);
  const busy = busyBefore === undefined ? undefined : childSeconds() - busyBefore;
  return { stdout, wall: Number(process.hrtime.bigint() - before) / 1e9, busy };
}

function train(job, ...more) {
  const { stdout, wall, busy } = meshwright('run', job, '--steps', String(STEPS), '--json', ...more);
  const lines = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  const steps = lines.filter(({ schema }) => schema === 'meshwright.step/1');
  return { losses: steps.map(({ loss }) => loss), validation: steps.at(-1).validationLoss, wall, busy };
}

/** Prints how far two runs are apart, relative to the second, and returns it. */
function sayApart(what, losses, others) {
  const apart = losses.map((loss, step) => Math.abs(loss - others[step]) / others[step]);
  const most = Math.max(...apart);
  const first = apart.findIndex((each) => each > 1e-6);
  const since = first < 0 ? 'never more than 1e-6' : `more than 1e-6 from step ${first + 1} on`;
  console.log(`losses of ${what}: at most ${most.toExponential(1)} apart (step ${apart.indexOf(most) + 1}), ${since}`);
  return most;
}

/** The same job on a cluster of one device, under the layout of one rank with the micro-batches of the original. */
const oneRankText = (text) =>
  text
    .replace(/^cluster: .*$/m, 'cluster: { preset: dgx-h100, nodes: 1, gpusPerNode: 1 }')
    .replace(/^layout: .*$/m, 'layout: { tp: 1, pp: 1, dp: 1, mbs: 4 }');

try {
  const ranks = train(JOB, '--checkpoint-every', String(STEPS), '--checkpoints', folder);
  console.log(`steps: ${STEPS}`);
  console.log(`first loss: ${ranks.losses[0].toFixed(2)}`);
  console.log(`last loss: ${ranks.losses.at(-1).toFixed(2)}`);
  console.log(`validation loss: ${ranks.validation.toFixed(2)}`);
  console.log(`processor time: ${ranks.busy === undefined ? 'not measured' : `${ranks.busy.toFixed(0)} s`}`);
  console.log(`wall time: ${ranks.wall.toFixed(0)} s`);
  if (process.argv.includes('--one-rank')) {
    const job = join(folder, 'one-rank.yaml');
    writeFileSync(job, oneRankText(readFileSync(join(root, JOB), 'utf8')));
    const alone = train(job).losses;
    const most = sayApart('eight ranks and one', ranks.losses, alone);
    console.log(
      `eight ranks within ${BOUND} of one at all ${STEPS} steps: ${most <= BOUND ? 'holds' : 'does not hold'}`,
    );
    const rounded = train(job, '--kernels', 'wasm-portable').losses;
    sayApart('one rank and itself in other rounding', rounded, alone);
  }
  console.log(meshwright('sample', JOB, '--checkpoints', folder, '--prompt', 'The Congress shall').stdout.trimEnd());
} finally {
  rmSync(folder, { recursive: true, force: true });
}
