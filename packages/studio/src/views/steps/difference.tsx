/** @file Two layouts beside each other: what differs, in one row each. */

import type { Moment, StepScript } from '@meshwright/figures';
import type { VNode } from 'preact';
import { Heads } from '../../parts/heads.tsx';
import { share, signed, size } from '../../parts/numbers.ts';
import { Scroll } from '../../parts/scroll.tsx';

interface DifferenceProps {
  readonly scripts: readonly [StepScript, StepScript];
  readonly moments: readonly [Moment, Moment];
}

export function Difference({ scripts, moments }: DifferenceProps): VNode {
  const [one, other] = scripts;
  const most = (moment: Moment, key: 'sent' | 'totalBytes'): number => Math.max(...moment.gpus.map((gpu) => gpu[key]));
  const [now, then] = moments;
  const rows: readonly (readonly [string, number, number, (value: number) => string])[] = [
    ['sent by a GPU so far', most(now, 'sent'), most(then, 'sent'), size],
    ['held by the fullest GPU now', most(now, 'totalBytes'), most(then, 'totalBytes'), size],
    ['held at the peak', one.peakBytes, other.peakBytes, size],
    ['idle in the schedule', one.schedule?.idleShare ?? 0, other.schedule?.idleShare ?? 0, share],
  ];
  return (
    <Scroll name="Side by side">
      <table class="difference">
        <caption>Side by side, in the same phase</caption>
        <Heads columns={['What', `#${one.layout}`, `#${other.layout}`, '#difference']} />
        <tbody>
          {rows.map(([what, left, right, words]) => (
            <tr key={what}>
              <th scope="row">{what}</th>
              <td class="number">{words(left)}</td>
              <td class="number">{words(right)}</td>
              <td class="number">{signed(right - left, words)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}
