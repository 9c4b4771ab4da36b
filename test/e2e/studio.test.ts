import type { ChildProcess } from 'node:child_process';
import { compileProgram } from '@meshwright/core/compile';
import { completeLayout, formatLayout } from '@meshwright/core/layout';
import { splitCosts } from '@meshwright/core/plan';
import { bytesSent } from '@meshwright/core/program';
import { recordingColumns } from '@meshwright/core/timeline';
import { type LessonKey, lessonScene, lessons, momentOf, Steps, svgText } from '@meshwright/figures';
import { trainProgram } from '@meshwright/runtime';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { runIn } from '../../packages/cli/src/host.fixture.ts';
import { jobOf } from '../../packages/studio/src/engine/job-of.ts';
import { firstPlace, linkOf } from '../../packages/studio/src/scenario/link.ts';
import type { Scenario } from '../../packages/studio/src/scenario/scenario.ts';
import {
  chromiumPath,
  drop,
  openBrowser,
  openWindow,
  planned,
  readLedgers,
  sameMarkup,
  serve,
  settled,
  violationsOf,
  type Watched,
} from './browser.fixture.ts';

if (chromiumPath === undefined) console.warn('No Chromium on the path: the journeys through the studio are skipped.');

describe.runIf(chromiumPath !== undefined)('the studio', () => {
  let browser: Browser;
  let address = '';
  let server: ChildProcess | undefined;
  let page: Page;
  let context: BrowserContext;
  let errors: Watched['errors'];
  beforeAll(async () => {
    const [served, opened] = await Promise.all([serve(), openBrowser()]);
    address = served.address;
    server = served.process;
    browser = opened;
    ({ page, context, errors } = await openWindow(browser));
    await page.goto(address);
  });
  afterEach(() => expect(errors()).toEqual([]));
  afterAll(async () => {
    await browser?.close();
    server?.kill('SIGINT');
  });
  const open = (view: string): Promise<void> => page.getByRole('button', { name: view, exact: true }).first().click();
  /** The address without its token, which the window remembers, at another hash; a page that is there is loaded anew. */
  const visit = async (hash: string): Promise<void> => {
    await page.goto('about:blank');
    await page.goto(`${new URL(address).origin}/${hash}`);
  };

  it('plans a worked scenario at once, ranks while one types, shares and opens the same', async () => {
    await visit('');
    await page.waitForSelector('.ranking tbody tr');
    expect(new URL(page.url()).search).toBe('');
    await planned(page);
    expect(await page.textContent('.answer h2')).toMatch(/^Best: tensor \d+/);
    const hosts = page.getByLabel('Hosts', { exact: true });
    await hosts.focus();
    await page.keyboard.press('ArrowDown');
    expect(await hosts.inputValue()).toBe('1');
    await page.waitForFunction(() =>
      document.querySelector('.ranking caption')?.textContent?.startsWith('Ranked by lower bounds'),
    );
    await planned(page);
    await page.getByRole('button', { name: 'Select row 2' }).click();
    await page.getByRole('button', { name: 'Copy command' }).click();
    const command = await page.evaluate(() => navigator.clipboard.readText());
    expect(command).toMatch(
      /^meshwright show - --layout tp=\d+[^\n]*<<'JOB'\nmodel: llama-3.1-8b\ncluster: 1x dgx-h100\n/,
    );
    await page.getByRole('button', { name: 'Share' }).click();
    await page.getByText('Link copied').waitFor();
    const link = await page.evaluate(() => navigator.clipboard.readText());
    const other = await context.newPage();
    await other.goto(link);
    await planned(other);
    expect(await other.getByLabel('Hosts', { exact: true }).inputValue()).toBe('1');
    expect(await other.textContent('.answer h2')).toBe(await page.textContent('.answer h2'));
    await other.close();
    // Pages of a host without encryption have no clipboard, and some browsers refuse: then the link is there to be copied by hand.
    await page.evaluate(() => Object.defineProperty(navigator, 'clipboard', { value: undefined, configurable: true }));
    await page.getByRole('button', { name: 'Share' }).click();
    await expect.poll(() => page.getByRole('textbox', { name: 'Share' }).inputValue()).toBe(link);
    await page.getByRole('button', { name: 'Undo' }).click();
    expect(await hosts.inputValue()).toBe('2');
  });

  it('explains links of other versions, and files that it cannot use, and changes nothing', async () => {
    await visit('#0.abc');
    await page.getByText('made by an older studio (version 0; this one reads version 1)').waitFor();
    await planned(page);
    const before = await page.evaluate(() => location.hash);
    const said = async (name: string, content: string | number, words: RegExp): Promise<void> => {
      await drop(page, name, content);
      await page.locator('.notice', { hasText: words }).waitFor();
    };
    await said('weights.bin', 100 * 2 ** 20, /weights\.bin has 100\.0 MiB.*nothing was changed/);
    await said('noise.bin', 1000, /noise\.bin is not text; nothing was changed/);
    await said(
      'notes.txt',
      'remember the milk',
      /notes\.txt is neither a job file nor a model configuration; nothing was changed/,
    );
    await said(
      'job.yaml',
      'model: llama-9\ncluster: 1x dgx-h100\nbatch: {sequences: 8, length: 128}\n',
      /job\.yaml is a job file with errors.*line 1: .*VALUE_UNKNOWN/,
    );
    await said('trace.json', '{"traceEvents": []}', /trace\.json is a trace that cannot be drawn.*nothing was changed/);
    expect(await page.evaluate(() => location.hash)).toBe(before);
    await said(
      'trace.json',
      '{"traceEvents": [{"ph": "X", "name": "gemm", "pid": 0, "tid": 1, "ts": 5, "dur": 9}]}',
      /trace\.json is shown in Timeline/,
    );
    await page.getByRole('region', { name: 'Dropped trace' }).getByText('9.00 us, 1 operations.').waitFor();
    await open('Plan');
    await said(
      'job.yaml',
      'model: llama-2-7b\ncluster: 1x dgx-h100\nbatch: {sequences: 64, length: 4096}\n',
      /The scenario is now that of job\.yaml/,
    );
    expect(await page.getByLabel('Model').inputValue()).toBe('llama-2-7b');
  });

  it('lays a run over the simulated step of its layout, and explains one of something else', async () => {
    const config = { model_type: 'gpt2', n_layer: 4, n_embd: 16, n_head: 2, n_positions: 16, vocab_size: 64 };
    const scenario: Scenario = {
      ...firstPlace.scenario,
      ...{ model: { name: 'tiny', config }, nodes: 1, sequences: 8, length: 16, precision: 'fp32' },
    };
    const job = jobOf(scenario);
    const { layout } = completeLayout({ tensor: 2, pipeline: 2 }, job, splitCosts(job));
    const recorded = await trainProgram(compileProgram(job, layout), { steps: 1, inline: true });
    const report = { schema: 'meshwright.run/1', job: 'tiny', layout: formatLayout(layout) };
    const run = JSON.stringify({ ...report, ...recordingColumns(recorded) });
    await visit(await linkOf({ ...firstPlace, scenario }));
    await planned(page);
    await drop(page, 'run.json', run);
    await page
      .locator('.notice', { hasText: 'run.json is laid over the simulated step of its layout, tp=2,pp=2' })
      .waitFor();
    await page
      .getByRole('region', { name: 'Measured over predicted' })
      .getByRole('row', { name: /^gemm / })
      .waitFor();
    expect(await violationsOf(page)).toEqual([]);
    await open('Step through');
    await page.getByRole('button', { name: 'Replay of the run' }).click();
    await page.keyboard.press('End');
    await page.getByText('to the byte what the program says').waitFor();
    expect(await violationsOf(page)).toEqual([]);
    await page.goBack();
    await visit('');
    await planned(page);
    await drop(page, 'run.json', run);
    await page
      .getByText('It is not laid over the simulated step: it ran on 8 ranks, and this scenario has 16 GPUs')
      .waitFor();
  });

  it('says what is wrong about a scenario, and offers ways out when nothing fits', async () => {
    await visit('');
    await page.waitForSelector('.ranking tbody tr');
    await page.getByLabel('Model').selectOption('llama-3.1-405b');
    await page.getByLabel('Hosts', { exact: true }).fill('1');
    await page.getByRole('heading', { name: 'Nothing fits' }).waitFor();
    await page.getByRole('button', { name: '2 hosts instead of 1' }).click();
    expect(await page.getByLabel('Hosts', { exact: true }).inputValue()).toBe('2');
  });

  const layouts: readonly (readonly [LessonKey, 1 | 2 | 3])[] = [
    ['sharded', 1],
    ['sharded', 2],
    ...lessons.map(({ key }) => [key, 3] as const),
  ];
  it.each(layouts)(
    'steps through %s (sharding %i) with the ledger of the program at every step',
    async (key, sharding) => {
      await open('Step through');
      await page
        .getByRole('button', { name: lessons.find((each) => each.key === key)?.short ?? '', exact: true })
        .click();
      if (key === 'sharded') await page.getByLabel('Sharded state').selectOption(String(sharding));
      const { job, layout, script } = lessonScene(key, 'toy', sharding);
      await page.getByText(`step 0 of ${script.steps.length}`).waitFor();
      const read = await page.evaluate(readLedgers, script.steps.length);
      const expected = Array.from({ length: script.steps.length + 1 }, (_, frame) =>
        momentOf(script, frame).gpus.flatMap(({ sent, received, totalBytes }) => [sent, received, totalBytes]),
      );
      expect(read).toEqual(expected);
      const sums = bytesSent(compileProgram(job, layout)).lists.map(({ total }) => total.bytes);
      script.gpus.forEach(({ list }, index) => expect(read.at(-1)?.[index * 3]).toBeCloseTo(sums[list] ?? -1, 6));
      const drawn = await page.evaluate(sameMarkup, [
        svgText(Steps({ script, frame: script.steps.length })),
        '.drawing',
      ] as const);
      expect(drawn).toBe('same');
    },
  );

  it('is stepped by keys alone: next, back, phases, hops, compare, layouts', async () => {
    await page.emulateMedia({ reducedMotion: 'no-preference' });
    await visit('');
    await planned(page);
    await page.keyboard.press('g');
    await page.keyboard.press('2');
    const at = (text: string): Promise<void> => page.getByText(text, { exact: true }).waitFor();
    await at('step 0 of 27');
    await page.keyboard.press('l');
    await at('step 1 of 27');
    await page.keyboard.press('ArrowLeft');
    await at('step 0 of 27');
    await page.keyboard.press(']');
    await page.keyboard.press(']');
    await page.waitForFunction(() => document.querySelector('#caption')?.textContent?.startsWith('Backward'));
    await page.keyboard.press('End');
    await at('step 27 of 27');
    await page.keyboard.press('Home');
    await page.keyboard.press('4');
    await page.getByText(/^step 0 of 1\d\d$/).waitFor();
    await page.keyboard.press('c');
    await page.getByText('Side by side, in the same phase').waitFor();
    await page.keyboard.press('d');
    await page.waitForFunction(() => document.querySelectorAll('.drawing svg').length === 2);
    await page.keyboard.press('Tab');
    await page.emulateMedia({ reducedMotion: 'reduce' });
  });

  it('draws every figure as the command does: the same markup from Node', async () => {
    const sizes = { model: 'gpt2-xl', nodes: 1, sequences: 16, length: 512 };
    await visit(await linkOf({ ...firstPlace, scenario: { ...firstPlace.scenario, ...sizes } }));
    await planned(page);
    const job = 'name: gpt2-xl\nmodel: gpt2-xl\ncluster: 1x dgx-h100\nbatch: { sequences: 16, length: 512 }\n';
    const layout = await page.evaluate(
      () => document.querySelector<HTMLElement>('.ranking tr[data-layout]')?.dataset['layout'] ?? '',
    );
    const same = async (name: string, place: string, ...options: readonly string[]): Promise<void> => {
      await page.locator(`${place} svg.mw`).first().waitFor();
      const { out: drawn } = await runIn(['figure', name, 'job.yaml', '--svg', ...options], {
        files: { 'job.yaml': job },
      });
      expect(await page.evaluate(sameMarkup, [drawn, place] as const), name).toBe('same');
    };
    await same('waterfall', '.waterfall', '--layout', layout);
    await open('Compare');
    await same('ranking', '[aria-label="Time against memory"]');
    await open('Memory');
    await same('memory', '[aria-label="Memory of each stage"]', '--layout', layout);
    await same('memory-over-time', '[aria-label="Memory over the step"]', '--layout', layout);
    await open('Layout');
    await same('map', '[aria-label="Cluster map"]', '--layout', layout, '--axis', 'data');
    await same('exchanges', '[aria-label="Figure of exchanges"]', '--layout', layout);
    await open('Timeline');
    await page.getByText('As a figure for print').click();
    await same('timeline', '[aria-label="Figure of the step in time"]', '--layout', layout);
    await page.getByRole('button', { name: 'Step through', exact: true }).click();
    await page.getByRole('button', { name: 'My plan' }).click();
    await page.getByText(/^step 0 of/).waitFor();
    await same('steps', '.drawing', '--layout', layout, '--step', '0');
  });

  const views = ['Plan', 'Step through', 'Layout', 'Timeline', 'Memory', 'Compare', 'Learn', 'Run', 'What if'];
  it.each([
    { width: 1280, height: 900, theme: 'light', other: 'dark' },
    { width: 390, height: 800, theme: 'dark', other: 'light' },
  ] as const)('has no violation of accessibility in any view: %o', async ({ width, height, theme, other }) => {
    await page.setViewportSize({ width, height });
    await page.emulateMedia({ colorScheme: theme });
    await visit('');
    await planned(page);
    for (const view of views) {
      await open(view);
      if (view !== 'What if') await settled(page);
      expect(await violationsOf(page), view).toEqual([]);
      // A theme changes colours, and nothing else.
      await page.emulateMedia({ colorScheme: other });
      expect(await violationsOf(page, 'color-contrast'), `${view}, ${other}`).toEqual([]);
      await page.emulateMedia({ colorScheme: theme });
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      expect(wide, `${view} is as wide as the page`).toBeLessThanOrEqual(0);
    }
    await page.setViewportSize({ width: 1280, height: 900 });
    await page.emulateMedia({ colorScheme: 'light' });
  });

  it('shows the timeline by mouse and by keys, and memory with what would free it', async () => {
    await visit('');
    await planned(page);
    await open('Timeline');
    const canvas = page.locator('canvas.timeline');
    await canvas.focus();
    for (const key of ['w', 'w', 'd', '.', '.', 'f']) await page.keyboard.press(key);
    await page.locator('#slice', { hasText: /^Rank 0, compute: .* because .*It takes / }).waitFor();
    await page.keyboard.press('ArrowDown');
    await page.locator('#slice', { hasText: /^Rank 0, (?!compute)/ }).waitFor();
    await page.keyboard.press('0');
    await canvas.click({ position: { x: 500, y: 38 } });
    await page.locator('#slice', { hasText: 'compute' }).waitFor();
    await page.keyboard.press('m');
    await page
      .getByRole('region', { name: 'Selected area' })
      .getByText(/^From 0 s to /)
      .waitFor();
    const box = await canvas.boundingBox();
    await page.mouse.move((box?.x ?? 0) + 300, (box?.y ?? 0) + 36);
    await page.mouse.down();
    await page.mouse.move((box?.x ?? 0) + 420, (box?.y ?? 0) + 60);
    await page.mouse.up();
    await page.getByRole('region', { name: 'Selected area' }).getByText('2 lanes').waitFor();
    await page.locator('canvas.minimap').click({ position: { x: 900, y: 5 } });
    await page.keyboard.press('Control+k');
    await page.keyboard.type('open mem');
    await page.keyboard.press('Enter');
    const change = page.locator('.variants button').first();
    await change.click();
    await open('Plan');
    await page.getByText('Fixed:').waitFor();
    await page.goBack();
    await page.getByRole('button', { name: 'Memory', exact: true }).and(page.locator('[aria-current=page]')).waitFor();
  });
});
