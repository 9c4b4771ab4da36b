/** @file A real browser on the served studio: Debian's Chromium where it is on the path, else nothing. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
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

/** What the command prints for a job on its standard input; the job is the last argument. */
export const command = (...given: readonly string[]): string =>
  execFileSync(process.execPath, [program, ...given.slice(0, -1)], {
    input: given.at(-1),
    encoding: 'utf8',
    maxBuffer: 2 ** 26,
  });

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
  /** Errors of the page and of its console. */
  readonly errors: readonly string[];
}

interface Look {
  readonly width?: number;
  readonly dark?: boolean;
  /** Motion is allowed. */
  readonly moves?: boolean;
}

export async function openPage(
  browser: Browser,
  address: string,
  { width = 1280, dark = false, moves = false }: Look = {},
): Promise<Watched> {
  const context = await browser.newContext({
    viewport: { width, height: width < 500 ? 800 : 900 },
    colorScheme: dark ? 'dark' : 'light',
    reducedMotion: moves ? 'no-preference' : 'reduce',
    permissions: ['clipboard-read', 'clipboard-write'],
  });
  const page = await context.newPage();
  page.setDefaultTimeout(120_000);
  const errors: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error') errors.push(message.text());
  });
  page.on('pageerror', (error) => errors.push(error.message));
  await page.goto(address);
  return { page, context, errors };
}

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** What axe finds wrong with the page, in words. */
export async function violationsOf(page: Page): Promise<readonly string[]> {
  await page.evaluate(axeSource);
  return page.evaluate(async () => {
    const axe = (globalThis as unknown as { readonly axe: { run(): Promise<AxeResults> } }).axe;
    const { violations } = await axe.run();
    return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target.join(' ')).join('; ')}`);
  });
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
