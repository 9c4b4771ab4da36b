/** @file The entry of the page. */
import { customProperties, dark, light } from '@meshwright/figures';
import { render } from 'preact';
import { createClient, startWorker } from '../engine/client.ts';
import { readLink } from '../scenario/link.ts';
import { followAddress } from './router.ts';
import { readServer } from './server.ts';
import { Shell } from './shell.tsx';
import { createStore } from './store.ts';
import { readWorked } from './worked.ts';

/** The colours of the figures are those of the page; a figure inside of it follows the theme that was chosen. */
const colours = document.createElement('style');
colours.textContent = [
  `:root,:root[data-theme=light] .mw{${customProperties(light)}}`,
  `@media(prefers-color-scheme:dark){:root{${customProperties(dark)}}}`,
  `:root[data-theme=light]{${customProperties(light)}}`,
  `:root[data-theme=dark],:root[data-theme=dark] .mw{${customProperties(dark)}}`,
].join('');
document.head.append(colours);

/** Opens what the address names. */
async function open(): Promise<void> {
  const { place, notice } = await readLink(location.hash);
  const clients = {
    quickly: createClient(startWorker),
    planner: createClient(startWorker),
    viewer: createClient(startWorker),
  };
  const store = createStore(clients, place, readWorked(document));
  store.notice.value = notice;
  followAddress(store);
  const root = document.getElementById('app');
  if (!root) return;
  root.textContent = '';
  render(<Shell store={store} server={readServer(location)} />, root);
}

// A module that others import may not wait: the studio would be cut into more files.
void open();
