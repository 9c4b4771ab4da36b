/** @file How somebody uses the page: by keys alone, or by mouse. The same journey is walked with both. */
import type { Locator, Page } from 'playwright-core';

/** What a journey does with the page; names are those that are read aloud. */
export interface Hands {
  readonly kind: 'keys' | 'mouse';
  /** Opens a view. */
  open(view: ViewName): Promise<void>;
  /** Presses a button. */
  press(name: string): Promise<void>;
  /** Chooses by its words in a list. */
  choose(list: string, option: string): Promise<void>;
  /** Writes into a field. */
  write(field: string, text: string): Promise<void>;
  /** Moves an axis one place towards the fastest: by its button, or by dragging it over another, with a finger on a phone. */
  moveAxis(axis: string, over: string): Promise<void>;
}

/** Every view, in the order of the page. */
export const viewNames = [
  'Plan',
  'Step through',
  'Layout',
  'Timeline',
  'Memory',
  'Compare',
  'What if',
  'Run',
  'Learn',
] as const;
export type ViewName = (typeof viewNames)[number];

/** Keys alone: nothing of it touches an element, all goes to what has the focus. */
export const byKeys = (page: Page): Hands => ({
  kind: 'keys',
  open: async (view) => {
    // A letter that is typed into a field is text: the field is left first.
    await page.keyboard.press('Tab');
    if (await page.evaluate(() => /^(INPUT|SELECT|TEXTAREA)$/.test(document.activeElement?.tagName ?? '')))
      await tabTo(page, 'Share', 'header');
    await page.keyboard.press('g');
    await page.keyboard.press(String(viewNames.indexOf(view) + 1));
  },
  press: async (name) => {
    await tabTo(page, name);
    await page.keyboard.press('Enter');
  },
  choose: async (list, option) => {
    await tabTo(page, list);
    // Letters that follow each other soon are one word to a list, so it is walked.
    await page.keyboard.press('Home');
    for (let press = 0; (await page.evaluate(chosenWords)) !== option; press++) {
      if (press > 50) throw new Error(`${list} has no ${option}`);
      await page.keyboard.press('ArrowDown');
    }
  },
  write: async (field, text) => {
    await tabTo(page, field);
    await page.keyboard.press('Control+a');
    await page.keyboard.type(text);
  },
  moveAxis: async (axis) => {
    await tabTo(page, `${axis} faster`);
    await page.keyboard.press('Enter');
  },
});

/** The mouse; letters come from the keyboard, and a list is the browser's own. */
export const byMouse = (page: Page): Hands => ({
  kind: 'mouse',
  open: (view) => page.getByRole('navigation', { name: 'Views' }).getByRole('button', { name: view }).click(),
  press: (name) => page.getByRole('main').getByRole('button', { name, exact: true }).click(),
  choose: async (list, option) => {
    await labelled(page, list).selectOption({ label: option });
  },
  write: async (field, text) => {
    await labelled(page, field).click({ clickCount: 3 });
    await page.keyboard.type(text);
  },
  moveAxis: async (axis, over) => {
    const middleOf = async (name: string): Promise<{ readonly x: number; readonly y: number }> => {
      const place = page.locator('.axis', { hasText: name });
      await place.scrollIntoViewIfNeeded();
      const box = await place.boundingBox();
      if (!box) throw new Error(`${name} is not to be seen`);
      return { x: box.x + box.width / 2, y: box.y + box.height / 2 };
    };
    const [from, to] = [await middleOf(axis), await middleOf(over)];
    const isPhone = (page.viewportSize()?.width ?? 0) < 760;
    if (isPhone) return await dragByFinger(page, from, to);
    await page.mouse.move(from.x, from.y);
    await page.mouse.down();
    await page.mouse.move(to.x, to.y, { steps: 4 });
    await page.mouse.up();
  },
});

interface Spot {
  readonly x: number;
  readonly y: number;
}

/** Touches the page, moves and lets go, as the device tells the browser. */
async function dragByFinger(page: Page, from: Spot, to: Spot): Promise<void> {
  const device = await page.context().newCDPSession(page);
  const touch = (type: 'touchStart' | 'touchMove' | 'touchEnd', touchPoints: readonly Spot[]): Promise<unknown> =>
    device.send('Input.dispatchTouchEvent', { type, touchPoints: [...touchPoints] });
  await touch('touchStart', [from]);
  await touch('touchMove', [{ x: (from.x + to.x) / 2, y: (from.y + to.y) / 2 }]);
  await touch('touchMove', [to]);
  await touch('touchEnd', []);
  await device.detach();
}

/** The control within the label that begins with a name: the words of a list are words of its label as well. */
const labelled = (page: Page, name: string): Locator =>
  page
    .getByRole('main')
    .locator('label', { hasText: new RegExp(`^${name} `) })
    .locator('select, input');

/** Presses Tab until the control of that name has the focus: one of the view, or else of the head. Throws where none comes. */
async function tabTo(page: Page, name: string, place: 'main' | 'header' = 'main'): Promise<void> {
  for (let press = 0; press < 200; press++) {
    if ((await page.evaluate(focusedName, place)) === name) return;
    await page.keyboard.press('Tab');
  }
  throw new Error(`Tab does not come to ${name}`);
}

/** The words of the option that is chosen in the list that has the focus. */
const chosenWords = (): string =>
  document.activeElement instanceof HTMLSelectElement ? (document.activeElement.selectedOptions[0]?.text ?? '') : '';

/** The name of what has the focus in a part of the page: its own, that of its label, or its words. */
function focusedName(place: string): string {
  const element = document.activeElement;
  if (!element?.closest(place)) return '';
  const label =
    element instanceof HTMLInputElement || element instanceof HTMLSelectElement ? element.labels?.[0] : null;
  const own = [...(label?.childNodes ?? [])].flatMap((node) => (node instanceof Text ? [node.data] : [])).join('');
  return element.getAttribute('aria-label') ?? (own.trim() || element.textContent);
}
