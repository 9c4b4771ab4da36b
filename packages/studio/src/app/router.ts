/** @file The address bar: the hash follows the place, and the back button goes where one was. */
import { effect } from '@preact/signals';
import { linkOf, readLink } from '../scenario/link.ts';
import type { Store } from './store.ts';

/** Keeps address and store together. A change of view is a step of the history; edits within it are not. */
export function followAddress(store: Store): void {
  const begin = readLink(location.hash);
  let written = location.hash;
  if (begin.notice !== undefined) store.notice.value = begin.notice;
  let view = store.place.value.view;
  effect(() => {
    const place = store.place.value;
    const hash = linkOf(place);
    if (hash === written) return;
    written = hash;
    if (place.view === view) history.replaceState(null, '', hash);
    else history.pushState(null, '', hash);
    view = place.view;
  });
  addEventListener('popstate', () => {
    if (location.hash === written) return;
    written = location.hash;
    const { place, notice } = readLink(location.hash);
    view = place.view;
    store.go(place, notice);
  });
}
