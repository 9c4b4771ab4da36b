/** @file A journey through every view, by keys alone and by mouse, on a desk and on a phone, light and dark, with motion and
 * without: what one can do with the one hand, one can do with the other.
 */
import type { ChildProcess } from 'node:child_process';
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { chromiumPath, openBrowser, openWindow, planned, serve, settled, type Watched } from './browser.fixture.ts';
import { byKeys, byMouse, type Hands, type ViewName, viewNames } from './hands.fixture.ts';

const desk = { width: 1280, height: 900 } as const;
const phone = { width: 390, height: 800 } as const;
const windows = [
  { hand: 'keys', size: desk, colorScheme: 'light', reducedMotion: 'no-preference' },
  { hand: 'keys', size: phone, colorScheme: 'dark', reducedMotion: 'reduce' },
  { hand: 'mouse', size: desk, colorScheme: 'dark', reducedMotion: 'reduce' },
  { hand: 'mouse', size: phone, colorScheme: 'light', reducedMotion: 'no-preference' },
] as const;

/** One journey through each view; waits for what it leads to. */
const journeys: Readonly<Record<ViewName, (page: Page, hands: Hands) => Promise<unknown>>> = {
  Plan: async (page, hands) => {
    await hands.press('Pin row 1 to compare the others with it');
    await page.locator('.ranking tr:nth-child(2)', { hasText: '+' }).waitFor();
    await hands.press('Pin row 1 to compare the others with it');
    await hands.press('Select row 3');
    await page.locator('.ranking tr.selected:nth-child(3)').waitFor();
    await hands.press('Select row 2');
    await page.locator('.ranking tr.selected:nth-child(2)').waitFor();
  },
  'Step through': async (page, hands) => {
    await hands.press('PP');
    await settled(page);
    await page.getByText('step 0 of 137').waitFor();
    await hands.press('Next');
    await page.getByText(/^step 1 of /).waitFor();
    await hands.press('Next phase');
    await page.waitForFunction(() => document.querySelector('#caption')?.textContent?.startsWith('Backward'));
    await hands.choose('Compare with', 'DP');
    await page.getByText('Side by side, in the same phase').waitFor();
    await hands.choose('Compare with', 'nothing');
    await hands.press('Last');
    await page.getByRole('button', { name: 'Next', exact: true, disabled: true }).waitFor();
  },
  Layout: async (page, hands) => {
    await hands.press('pipeline 2');
    await page.locator('figcaption', { hasText: 'Rank 0 shares its pipeline group' }).waitFor();
    await hands.write('Rank', '3');
    await page.locator('figcaption', { hasText: 'Rank 3 shares its pipeline group' }).waitFor();
    await page.getByText('(no change against the order of the plan)').waitFor();
    await hands.moveAxis('pipeline', 'data');
    await page.getByText(/[+\u2212-][\d.,]+ m?s against the order of the plan/).waitFor();
    await settled(page);
    await hands.press('Step through the exchanges of this layout');
    await page.getByRole('button', { name: 'My plan', pressed: true }).waitFor();
  },
  Timeline: async (page, hands) => {
    await hands.press('Zoom in');
    await hands.press('Critical path');
    await page.getByRole('button', { name: 'Critical path', pressed: false }).waitFor();
    const canvas = page.locator('canvas.timeline');
    if (hands.kind === 'keys') {
      await hands.press(`${await canvas.getAttribute('aria-label')}`);
      await page.keyboard.press('.');
      await page.keyboard.press('m');
    } else {
      const { width = 0 } = (await canvas.boundingBox()) ?? {};
      await canvas.click({ position: { x: width / 2, y: 38 } });
      await canvas.dragTo(canvas, {
        sourcePosition: { x: width / 2, y: 36 },
        targetPosition: { x: width - 10, y: 60 },
      });
    }
    await page.locator('#slice', { hasText: /^Rank 0, compute: .* It takes / }).waitFor();
    await page
      .getByRole('region', { name: 'Selected area' })
      .getByText(/^From /)
      .waitFor();
  },
  Memory: async (page, hands) => {
    await hands.press('stage 1');
    await page.getByRole('heading', { name: 'Stage 1 over the step' }).waitFor();
    const applied = 'recompute whole layers';
    await hands.press(applied);
    await page.getByRole('button', { name: applied, exact: true }).waitFor({ state: 'detached' });
    await settled(page);
    await hands.press('Undo the last change');
    await page.getByRole('button', { name: applied, exact: true }).waitFor();
    await page.getByRole('heading', { name: /^Best: |pipeline 2/ }).waitFor();
  },
  Compare: async (page, hands) => {
    await hands.press('#3');
    await page.getByRole('columnheader', { name: /^#3: tp / }).waitFor();
  },
  'What if': async (page, hands) => {
    await hands.press('Slow or break a link');
    await page.getByText('Link of a').waitFor();
    await settled(page);
    await page.getByText(/^The step takes /).waitFor();
    await hands.write('Hours of a GPU between failures', '100');
    await page.getByText(/^Failures stop .* once in [\d.]+ (h|min)~.* loses least: /).waitFor();
    await page.getByRole('img', { name: /^Least is lost with a checkpoint every / }).waitFor();
  },
  Run: async (page, hands) => {
    await hands.choose('Layout', 'data parallel (DDP)');
    // One whole run is enough, on a phone; and one right behind another that is stopped.
    const isDesk = page.viewportSize()?.width === desk.width;
    if (hands.kind === 'mouse' && isDesk) {
      await hands.write('Steps', '200');
      await hands.press('Run');
      await hands.press('Stop');
      await hands.press('Run');
      await page.getByRole('region', { name: 'Losses' }).locator('tbody tr').first().waitFor();
      await hands.press('Stop');
      await page.getByText('Stopped.', { exact: true }).waitFor();
      return;
    }
    if (hands.kind === 'mouse' || isDesk) {
      await hands.write('Steps', '200');
      await page.getByRole('main').getByRole('button', { name: 'Run', exact: true, disabled: false }).waitFor();
      return;
    }
    await hands.write('Steps', '1');
    await hands.press('Run');
    await page.getByText(/1 step on eight ranks and on one: losses differ by/).waitFor();
    await page.locator('table', { hasText: 'predicted' }).locator('tbody tr', { hasText: '\u2713' }).first().waitFor();
    await page
      .getByRole('region', { name: 'Measured over predicted' })
      .getByRole('row', { name: /^gemm / })
      .waitFor();
    await hands.press('Replay it step by step');
    await page.getByRole('button', { name: 'Replay of the run', pressed: true }).waitFor();
    await hands.press('Last');
    await page.locator('#caption', { hasText: / Measured from .* to / }).waitFor();
    await page.getByText('to the byte what the program says').waitFor();
  },
  Learn: async (page, hands) => {
    await hands.press('Next page');
    await page.getByRole('heading', { name: 'Data parallelism' }).waitFor();
    await settled(page);
    await hands.press('Next step');
    await page.getByRole('button', { name: 'Back a step', disabled: false }).waitFor();
  },
};

describe.runIf(chromiumPath !== undefined)('journeys', () => {
  let browser: Browser;
  let server: ChildProcess | undefined;
  let page: Page;
  let errors: Watched['errors'];
  beforeAll(async () => {
    const [served, opened] = await Promise.all([serve(), openBrowser()]);
    server = served.process;
    browser = opened;
    ({ page, errors } = await openWindow(browser));
    await page.goto(served.address);
  });
  afterEach(() => expect(errors()).toEqual([]));
  afterAll(async () => {
    await browser?.close();
    server?.kill('SIGINT');
  });

  describe.each(windows)('by $hand at $size.width pixels, $colorScheme, motion: $reducedMotion', (window) => {
    const { hand, size, colorScheme, reducedMotion } = window;
    beforeAll(async () => {
      await page.setViewportSize(size);
      await page.emulateMedia({ colorScheme, reducedMotion });
      const { origin } = new URL(page.url());
      await page.goto('about:blank');
      await page.goto(origin);
      await planned(page);
      // The plan of two stages has something to show in every view.
      await page.getByRole('button', { name: 'Select row 2' }).click();
    });
    it.each(viewNames)('%s', async (view) => {
      const hands = hand === 'keys' ? byKeys(page) : byMouse(page);
      await hands.open(view);
      await page.locator('nav [aria-current=page]', { hasText: view }).first().waitFor();
      await settled(page);
      await journeys[view](page, hands);
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      expect(wide, 'nothing is wider than the page').toBeLessThanOrEqual(0);
      if (reducedMotion === 'reduce') expect(await page.evaluate(() => document.getAnimations().length)).toBe(0);
    });
  });
});
