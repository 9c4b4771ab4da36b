/** @file `npm test`: everything that has to hold before a change goes in, from a fresh clone on. Prints each step, and
 * ends with the line `N passed, N failed`: every test counts one, and so does every step.
 *
 *   node tools/gate.mjs [STEP ...]     only these steps, by name */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { build, install, root, run, runTool } from './ready.mjs';

const report = join(root, '.cache', 'vitest.json');
const ok = (result) => result.status === 0;
const script = (path) => ok(run(process.execPath, [path]));

const steps = [
  ['format and lint', () => ok(runTool('@biomejs/biome/bin/biome', ['check', '--error-on-warnings', '.']))],
  ['types and build', build],
  [
    'dependency rules',
    () =>
      ok(runTool('dependency-cruiser/bin/dependency-cruise.mjs', ['packages', '--config', '.dependency-cruiser.mjs'])),
  ],
  ['system packages', prepareSystem],
  ['tests', runTests],
  ['dead code', () => ok(runTool('knip/bin/knip.js', ['--no-progress', '--no-config-hints']))],
  ['packages', () => script('tools/check-packages.mjs')],
  ['sizes and words', () => script('tools/check-sizes.mjs')],
  ['examples', () => script('tools/check-examples.mjs')],
];

/** Debian packages that tests need, what tells that they are there, and what is skipped without them. */
const systemNeeds = [
  {
    packages: ['chromium', 'fonts-liberation'],
    isThere: () => ['chromium', 'chromium-browser', 'google-chrome'].some((name) => answers(name, '--version')),
    without: 'No Chromium: the journeys through the studio are skipped.',
  },
  {
    packages: ['python3-torch'],
    isThere: () => ['python3', '/usr/bin/python3'].some((name) => answers(name, '-c', 'import torch')),
    without: 'No PyTorch: the runtime is not held against it.',
  },
];

const answers = (name, ...args) => ok(spawnSync(name, args, { stdio: 'ignore' }));

/** Installs what is missing, as root or in CI. Elsewhere the tests that need it are skipped, and the line of the tests says
 * how many. */
function prepareSystem() {
  const isRoot = process.getuid?.() === 0;
  const apt = (...args) => ok(run(isRoot ? 'apt-get' : 'sudo', [...(isRoot ? [] : ['-n', 'apt-get']), ...args]));
  const missing = systemNeeds.filter(({ isThere }) => !isThere());
  if (missing.length > 0 && (isRoot || process.env.CI === 'true') && apt('update', '-qq')) {
    for (const { packages } of missing) apt('install', '-y', '-qq', '--no-install-recommends', ...packages);
  }
  for (const { isThere, packages, without } of missing) {
    if (!isThere()) console.error(`${without} On Debian: apt-get install ${packages.join(' ')}.`);
  }
  return true;
}

let tests = { passed: 0, failed: 0, skipped: 0 };

function runTests() {
  mkdirSync(join(root, '.cache'), { recursive: true });
  rmSync(report, { force: true });
  const args = ['run', '--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
  const passed = ok(runTool('vitest/vitest.mjs', args, { env: { ...process.env, MESHWRIGHT_BUILT: '1' } }));
  if (!existsSync(report)) return false;
  const { numPassedTests, numFailedTests, numPendingTests } = JSON.parse(readFileSync(report, 'utf8'));
  tests = { passed: numPassedTests, failed: numFailedTests, skipped: numPendingTests };
  return passed;
}

function runStep([name, step], index, all) {
  const start = process.hrtime.bigint();
  console.error(`\n[${index + 1}/${all.length}] ${name}`);
  const passed = step();
  const seconds = Number(process.hrtime.bigint() - start) / 1e9;
  console.error(`[${index + 1}/${all.length}] ${name}: ${passed ? 'ok' : 'FAILED'} (${seconds.toFixed(1)} s)`);
  return { name, passed };
}

const wanted = process.argv.slice(2);
const unknown = wanted.filter((each) => !steps.some(([name]) => name === each));
if (unknown.length > 0) {
  console.error(`No step "${unknown[0]}". The steps: ${steps.map(([name]) => name).join(', ')}.`);
  process.exit(2);
}
if (!install()) {
  console.error('npm ci failed; its messages are above.');
  console.log('0 passed, 1 failed');
  process.exit(1);
}
const chosen = steps.filter(([name]) => wanted.length === 0 || wanted.includes(name));
const results = chosen.map(runStep);
const failed = results.filter((each) => !each.passed);
if (failed.length > 0) console.log(`\nFailed: ${failed.map((each) => each.name).join(', ')}`);
if (tests.skipped > 0) console.log(`\n${tests.skipped} skipped`);
console.log(`${tests.passed + results.length - failed.length} passed, ${tests.failed + failed.length} failed`);
process.exitCode = failed.length === 0 ? 0 : 1;
