/** @file The budgets of the studio, measured in a real browser with software rendering: bytes before the first answer, first
 * answer, edit to ranking, press to still, timelines of 100,000 and 1,000,000 slices.
 *
 *   npm run bench:studio     prints what is measured, the budget, and whether it holds
 *
 * Bytes are the same everywhere. Milliseconds are those of the clock, on this machine and beside what else runs on it; the
 * processor time of the page and all of its workers stands beside them and decides nothing. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { delimiter, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { chromium } from 'playwright-core';
import { build } from 'vite';

const program = (process.env.PATH ?? '')
  .split(delimiter)
  .flatMap((folder) => ['chromium', 'chromium-browser', 'google-chrome'].map((name) => join(folder, name)))
  .find((path) => existsSync(path));
if (!program) {
  console.error('No Chromium on the path. On Debian: apt-get install chromium.');
  process.exit(1);
}

const server = spawn(process.execPath, ['packages/cli/bin/meshwright.js', 'serve'], {
  stdio: ['ignore', 'pipe', 'ignore'],
});
const [said] = await once(server.stdout, 'data');
const address = String(said).trim();
const browser = await chromium.launch({
  executablePath: program,
  args: ['--no-sandbox', '--disable-quic', '--no-first-run', '--disable-background-networking'],
});
const devtools = await browser.newBrowserCDPSession();
let held = 0;
let rows = 0;

/** A line; `processor` is in the same unit as `value`, for those that a busy machine makes longer. */
function print(what, value, budget, unit, processor) {
  rows += 1;
  const holds = value <= budget;
  if (holds) held += 1;
  const took = processor === undefined ? '' : `processor ${processor.toFixed(1).padStart(7)} ${unit}`;
  console.log(
    `${what.padEnd(58)} ${value.toFixed(1).padStart(9)} ${unit.padEnd(3)} budget ${String(budget).padStart(5)}  ${took.padEnd(21)}  ${holds ? 'holds' : 'EXCEEDED'}`,
  );
}

const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;

/** Processor time of all pages and their workers, in milliseconds: what the kernel counts for each of their threads. */
async function processorTime() {
  const { processInfo } = await devtools.send('SystemInfo.getProcessInfo');
  let nanoseconds = 0;
  for (const { id } of processInfo.filter(({ type }) => type === 'renderer')) {
    for (const task of readdirSync(`/proc/${id}/task`)) {
      const [ran] = readFileSync(`/proc/${id}/task/${task}/schedstat`, 'utf8').split(' ');
      nanoseconds += Number(ran);
    }
  }
  return nanoseconds / 1e6;
}

/** What `action` answers, and the processor time meanwhile. */
async function timed(action) {
  const before = await processorTime();
  const value = await action();
  return [value, (await processorTime()) - before];
}

console.log(`load of the last minute: ${loadavg()[0].toFixed(1)}`);

/** Opens an address cold; answers when the first ranking was painted, and the compressed JavaScript that came before. */
async function openCold(url) {
  const page = await browser.newPage({ viewport: { width: 1600, height: 900 }, reducedMotion: 'reduce' });
  const loaded = [];
  page.on('response', (response) => {
    if (/\.js$/.test(new URL(response.url()).pathname)) loaded.push(response);
  });
  await page.addInitScript(() => {
    new MutationObserver(() => {
      if (!window.firstAnswer && document.querySelector('.ranking tbody tr')) {
        requestAnimationFrame(() => requestAnimationFrame(() => (window.firstAnswer ??= performance.now())));
      }
    }).observe(document, { childList: true, subtree: true });
  });
  const [, processor] = await timed(async () => {
    await page.goto(url);
    await page.waitForFunction(() => window.firstAnswer !== undefined);
  });
  const painted = await page.evaluate(() => window.firstAnswer);
  const paintedAt = await page.evaluate(() => performance.timeOrigin + window.firstAnswer);
  const before = loaded.filter((each) => {
    const { startTime, responseEnd } = each.request().timing();
    return startTime + responseEnd <= paintedAt;
  });
  const sizes = new Map(
    await Promise.all(before.map(async (each) => [each.url(), gzipSync(await each.body()).length])),
  );
  return { page, painted, processor, bytes: [...sizes.values()].reduce((sum, each) => sum + each, 0) };
}

const first = await openCold(address);
print('JS before the first answer, gzip', first.bytes / 1e3, 120, 'kB');
print('first answer painted, cold', first.painted, 1000, 'ms', first.processor);

const { page } = first;
const evaluated = (of) =>
  of.waitForFunction(() =>
    document.querySelector('.ranking caption')?.textContent.startsWith('Evaluated and simulated'),
  );
await evaluated(page);
/** Presses a key in the sentence; answers milliseconds until all rows have come to `state`. */
const press = (state) =>
  page.evaluate(async (wanted) => {
    const input = document.activeElement;
    const start = performance.now();
    input.dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowUp', bubbles: true, cancelable: true }));
    const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
    const are = (each) =>
      [...document.querySelectorAll('.ranking tr[data-state]')].every(({ dataset }) => dataset.state === each);
    while (!are('bound')) await frame();
    while (!are(wanted)) await frame();
    return performance.now() - start;
  }, state);
const edits = [];
const plans = [];
for (let round = 0; round < 3; round++) {
  await page.getByLabel('Sequences of a step').focus();
  edits.push(await timed(() => press('bound')));
  await evaluated(page);
  plans.push(await timed(() => press('simulated')));
  await evaluated(page);
}
const middle = (pairs, at) => median(pairs.map((pair) => pair[at]));
print('edit to ranking by bounds, median of 3', middle(edits, 0), 100, 'ms', middle(edits, 1));
print('edit to simulated top 10 (16 ranks), median of 3', middle(plans, 0), 1000, 'ms', middle(plans, 1));

// Another scenario than that of the build has to start the engine.
const link = await page.evaluate(() => location.hash);
const other = await openCold(`${new URL(address).origin}/${link}`);
print('another scenario by its link: JS before its ranking, gzip', other.bytes / 1e3, 120, 'kB');
print('another scenario by its link: ranking painted, cold', other.painted, 1000, 'ms', other.processor);
await other.page.close();

await page.getByRole('button', { name: 'Step through', exact: true }).click();
await page.getByText('step 0 of 27').waitFor();
const [presses, pressing] = await timed(() =>
  page.evaluate(async () => {
    const times = [];
    const next = [...document.querySelectorAll('button')].find((button) => button.textContent === 'Next');
    for (let step = 1; step <= 20; step++) {
      const start = performance.now();
      next.click();
      while (!document.querySelector('.controls').textContent.includes(`step ${step} of`))
        await new Promise((resolve) => requestAnimationFrame(resolve));
      times.push(performance.now() - start);
    }
    return times;
  }),
);
print('step-through: press to still, longest of 20', Math.max(...presses), 300, 'ms');
print('step-through: press to still, mean of 20', mean(presses), 300, 'ms', pressing / presses.length);

const [{ output }] = await build({
  configFile: false,
  logLevel: 'warn',
  resolve: { conditions: ['source'] },
  build: { write: false, lib: { entry: 'bench/studio/timeline.ts', formats: ['iife'], name: 'timelines' } },
});
const empty = await browser.newPage({ viewport: { width: 1600, height: 900 } });
await empty.addScriptTag({ content: output[0].code });
for (const [slices, full, pan] of [
  [100_000, 120, 33],
  [1_000_000, 250, undefined],
]) {
  const times = await empty.evaluate((count) => timelines.measure(count), slices);
  print(`timeline of ${slices.toLocaleString('en-US')} slices: full paint`, times.full, full, 'ms');
  if (pan !== undefined)
    print(`timeline of ${slices.toLocaleString('en-US')} slices: pan frame at a tenth`, times.pan, pan, 'ms');
}
console.log(`${held} of ${rows} budgets hold`);
await browser.close();
server.kill('SIGINT');
