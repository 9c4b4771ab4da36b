/** @file Below the lanes: the step as a figure for print, and why computing is idle. */
import { useSignal } from '@preact/signals';
import type { VNode } from 'preact';
import type { Row } from '../../app/rows.ts';
import type { Store } from '../../app/store.ts';
import type { TimelineDetail } from '../../engine/timeline.ts';
import { useAnswer } from '../../parts/answer.tsx';
import { Heads } from '../../parts/heads.tsx';
import { idleWords } from '../../parts/idle-words.ts';
import { Markup } from '../../parts/markup.tsx';
import { share, time } from '../../parts/numbers.ts';
import { Pending } from '../../parts/pending.tsx';
import { Scroll } from '../../parts/scroll.tsx';

/** The same step as the figure that the command writes; drawn when it is opened. */
export function AsFigure({ store, row }: { readonly store: Store; readonly row: Row }): VNode {
  const { scenario } = store.place.value;
  const open = useSignal(false);
  const figure = useAnswer(open.value ? `${row.short} ${JSON.stringify(scenario)}` : '', () =>
    store.viewer.ask('timelineFigure', scenario, row.layout),
  );
  return (
    <details onToggle={({ currentTarget }) => void (open.value = currentTarget.open)}>
      <summary>As a figure for print</summary>
      {open.value && (
        <Pending known={figure.value} words="Drawing the step." height={420}>
          {(svg) => (
            <Scroll name="Figure of the step in time">
              <Markup svg={svg} />
            </Scroll>
          )}
        </Pending>
      )}
    </details>
  );
}

export const IdleTable = ({ detail }: { readonly detail: TimelineDetail }): VNode => (
  <table>
    <caption>Why computing is idle, on the stage that ends last</caption>
    <Heads columns={['because', '#time~', '#of the step']} />
    <tbody>
      {detail.idle.length === 0 && (
        <tr>
          <td>it never is</td>
          <td />
          <td />
        </tr>
      )}
      {detail.idle.map(({ part, seconds }) => (
        <tr key={part}>
          <td>{idleWords[part] ?? part}</td>
          <td class="number">{time(seconds)}</td>
          <td class="number">{share(seconds / detail.seconds)}</td>
        </tr>
      ))}
    </tbody>
  </table>
);
