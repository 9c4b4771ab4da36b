/** @file The keys, in a table on the page. */

import type { VNode } from 'preact';
import { Heads } from '../parts/heads.tsx';

const keys: readonly (readonly [string, string])[] = [
  ['g, then 1 to 9', 'open a view'],
  ['/ or Ctrl+K', 'list what can be done, and find it by typing'],
  ['u', 'undo the last edit of the scenario'],
  ['up and down in a number of the sentence', 'next power of two'],
  ['right or l, left or h', 'Step through: next, back'],
  ['space', 'Step through: play and pause'],
  ['home, end, [ and ]', 'Step through: first, last, phase before and after'],
  ['1 to 7', 'Step through: layout'],
  ['n', 'Step through: next layer'],
  ['d, c', 'Step through: detail, compare'],
  ['w and s, a and d', 'Timeline: zoom in and out, left and right'],
  ['. and ,', 'Timeline: next and previous slice of the lane'],
  ['f, 0, escape', 'Timeline: fit the slice, fit all, select nothing'],
  ['m', 'Timeline: sum what is seen; or drag over lanes'],
  ['?', 'these keys'],
];

export const Help = ({ close }: { close(): void }): VNode => (
  <section class="help" aria-label="Keys">
    <table>
      <caption>Keys</caption>
      <Heads columns={['Key', 'What it does']} />
      <tbody>
        {keys.map(([key, does]) => (
          <tr key={key}>
            <td>{key}</td>
            <td>{does}</td>
          </tr>
        ))}
      </tbody>
    </table>
    <button type="button" onClick={close}>
      Close
    </button>
  </section>
);
