/** @file The address bar: the hash follows the place, and the back button goes where one was. */
import { effect } from '@preact/signals';
import { linkOf, readLink } from '../scenario/link.ts';
import type { Store } from './store.ts';

/** Milliseconds of rest before an edit is written: a key that is held down is one, and browsers allow a few in a second. */
const REST = 150;

/** Keeps address and store together from the place on that the address named. A change of view is a step of the history;
 * edits within it are not. */
export function followAddress(store: Store): void {
  let written = location.hash;
  let last = store.place.value;
  let rest: ReturnType<typeof setTimeout> | undefined;
  // Links are made by the browser beside the page: one after the other, so that the history keeps their order.
  let writing: Promise<void> = Promise.resolve();
  const write = (change: 'replaceState' | 'pushState'): void => {
    clearTimeout(rest);
    rest = undefined;
    const link = linkOf(last);
    writing = writing.then(async () => {
      const hash = await link;
      if (hash === written) return;
      written = hash;
      history[change](null, '', hash);
    });
  };
  const writeEdit = (): void => write('replaceState');
  effect(() => {
    const place = store.place.value;
    // The link that was opened stays as it is, also where it could not be read, until something changes.
    if (place === last) return;
    const opens = place.view !== last.view;
    // The view that is left keeps its last edit.
    if (opens && rest !== undefined) writeEdit();
    last = place;
    if (opens) write('pushState');
    else rest ??= setTimeout(writeEdit, REST);
  });
  addEventListener('pagehide', () => {
    if (rest !== undefined) writeEdit();
  });
  const follow = async (hash: string): Promise<void> => {
    const { place, notice } = await readLink(hash);
    if (hash !== location.hash) return;
    last = place;
    store.go(place, notice);
  };
  addEventListener('popstate', () => {
    if (location.hash === written) return;
    written = location.hash;
    void follow(written);
  });
}
