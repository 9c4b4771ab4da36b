/** @file A real browser on the served studio: Debian's Chromium where it is on the path, else nothing. */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { delimiter, join } from 'node:path';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';

/** The browser's program; undefined where there is none. */
export const chromiumPath: string | undefined = (process.env['PATH'] ?? '')
  .split(delimiter)
  .flatMap((folder) => ['chromium', 'chromium-browser', 'google-chrome'].map((name) => join(folder, name)))
  .find((path) => existsSync(path));

export const openBrowser = (): Promise<Browser> =>
  chromium.launch({
    executablePath: chromiumPath ?? '',
    args: [
      '--no-sandbox',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });

const program = join(import.meta.dirname, '..', '..', 'packages', 'cli', 'bin', 'meshwright.js');

/** `meshwright serve` as a process, with the address that it prints. */
export async function serve(): Promise<{ readonly address: string; readonly process: ChildProcess }> {
  const child = spawn(process.execPath, [program, 'serve'], { stdio: ['ignore', 'pipe', 'inherit'] });
  for await (const text of child.stdout) {
    const [address] = /http:\/\/\S+/.exec(String(text)) ?? [];
    if (address !== undefined) return { address, process: child };
  }
  throw new Error('the server did not print an address');
}

/** A page that remembers what went wrong in it. */
export interface Watched {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Errors of the page and of its console since it was last asked. */
  errors(): readonly string[];
}

/** One window for all journeys: what it has loaded once comes from its cache. */
export async function openWindow(browser: Browser): Promise<Watched> {
  const context = await browser.newContext({
    viewport: { width: 1280, height: 900 },
    colorScheme: 'light',
    reducedMotion: 'reduce',
    permissions: ['clipboard-read', 'clipboard-write'],
  });
  const page = await context.newPage();
  page.setDefaultTimeout(120_000);
  let errors: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error') errors.push(message.text());
  });
  page.on('pageerror', (error) => errors.push(error.message));
  return {
    page,
    context,
    errors: () => {
      const said = errors;
      errors = [];
      return said;
    },
  };
}

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** What axe finds wrong with the page, in words; of one rule only where `rule` says which. */
export async function violationsOf(page: Page, rule?: string): Promise<readonly string[]> {
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(axeSource);
  return page.evaluate(async (only) => {
    const { axe } = globalThis as unknown as { readonly axe: { run(options: object): Promise<AxeResults> } };
    const { violations } = await axe.run(only === undefined ? {} : { runOnly: [only] });
    return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target.join(' ')).join('; ')}`);
  }, rule);
}

interface AxeResults {
  readonly violations: readonly {
    readonly id: string;
    readonly nodes: readonly { readonly target: readonly string[] }[];
  }[];
}

/** The ranking is evaluated. */
export const planned = (page: Page): Promise<unknown> =>
  page.waitForFunction(() =>
    document.querySelector('.ranking caption')?.textContent?.startsWith('Evaluated and simulated'),
  );

/** Nothing of the view is still being computed. */
export const settled = (page: Page): Promise<unknown> =>
  page.waitForFunction(
    () =>
      document.querySelector('main h2, main figure') !== null && document.querySelector('.skeleton, .stale') === null,
  );

/** Drops a file on the page: its text, or how many zero bytes it has. */
export const drop = (page: Page, name: string, content: string | number): Promise<void> =>
  page.evaluate(
    ([file, body]) => {
      const data = new DataTransfer();
      data.items.add(new File([typeof body === 'number' ? new Uint8Array(body) : body], file));
      dispatchEvent(new DragEvent('drop', { dataTransfer: data, cancelable: true }));
    },
    [name, content] as const,
  );

/** Presses Next to the end and reads the ledger before each press: sent, received, held of each GPU. What a press changes is
 * there before the browser comes to paint, so nothing is painted in between. */
export async function readLedgers(steps: number): Promise<number[][]> {
  const read = (): number[] =>
    [...document.querySelectorAll<HTMLElement>('#ledger tbody tr')].flatMap(({ dataset }) => [
      Number(dataset['sent']),
      Number(dataset['received']),
      Number(dataset['held']),
    ]);
  const next = [...document.querySelectorAll('button')].find((button) => button.textContent === 'Next');
  const controls = document.querySelector('.controls');
  const ledgers = [read()];
  for (let step = 1; step <= steps; step++) {
    next?.click();
    for (let turn = 1; !controls?.textContent?.includes(`step ${step} of`); turn++) {
      if (turn % 100 === 0) await new Promise((resolve) => setTimeout(resolve));
      else await undefined;
    }
    ledgers.push(read());
  }
  return ledgers;
}

/** Whether the figure at a place of the page is the one that Node drew, both read by the browser. */
export function sameMarkup([svg, place]: readonly [svg: string, place: string]): string {
  // A browser writes styles in its own words, and leaves an empty attribute where one was taken away.
  const plain = (element: Element | null | undefined): string =>
    (element?.outerHTML ?? '')
      .replace(/>\s+</g, '><')
      .replaceAll(' style=""', '')
      .replace(/style="([\w-]+): ([^;"]+);"/g, 'style="$1:$2"');
  const given = new DOMParser().parseFromString(svg, 'text/html').querySelector('svg');
  const [here, there] = [plain(document.querySelector(`${place} svg.mw`)), plain(given)];
  if (here === there) return 'same';
  const at = [...here].findIndex((letter, index) => letter !== there[index]);
  return `${here.slice(at - 60, at + 60)}\n${there.slice(at - 60, at + 60)}`;
}
