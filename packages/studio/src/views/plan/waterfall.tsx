/** @file Where one step goes: the figure, and its parts as a table. */

import type { Shown } from '@meshwright/core/plan';
import { Waterfall as Figure, partsInSight, stepParts } from '@meshwright/figures';
import type { VNode } from 'preact';
import { Heads } from '../../parts/heads.tsx';
import { share, time } from '../../parts/numbers.ts';
import { Scroll } from '../../parts/scroll.tsx';

/** The parts of the step of one plan; they add up to it. Waiting is hatched. */
export function Waterfall({ shown: { step } }: { readonly shown: Shown }): VNode {
  return (
    <figure class="waterfall">
      <figcaption>
        <h3>{`Where one step goes: ${time(step.seconds)}~`}</h3>
      </figcaption>
      <Figure step={step} />
      <details>
        <summary>As a table</summary>
        <Scroll name="Parts of the step">
          <table>
            <Heads columns={['Part', '#Time~', '#Share of the step']} />
            <tbody>
              {partsInSight(step).map(([part, value]) => (
                <tr key={part}>
                  <td>{stepParts[part].words}</td>
                  <td class="number">{time(value)}</td>
                  <td class="number">{share(value / step.seconds)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </Scroll>
      </details>
    </figure>
  );
}
