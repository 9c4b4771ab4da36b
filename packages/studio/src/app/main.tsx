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

const clients = {
  quickly: createClient(startWorker),
  planner: createClient(startWorker),
  viewer: createClient(startWorker),
};
const store = createStore(clients, readLink(location.hash).place, readWorked(document));
followAddress(store);
const root = document.getElementById('app');
if (root) {
  root.textContent = '';
  render(<Shell store={store} server={readServer(location)} />, root);
}
