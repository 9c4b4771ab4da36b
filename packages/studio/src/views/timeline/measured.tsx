/** @file Where a measured step spends other time than the predicted one, by kind of operation. */
import type { VNode } from 'preact';
import type { RunOverlay } from '../../engine/overlay.ts';
import { Heads } from '../../parts/heads.tsx';
import { grouped, time } from '../../parts/numbers.ts';
import { Scroll } from '../../parts/scroll.tsx';

/** Both steps in a sentence. */
export const overlayWords = ({ layout, overlay: { simulatedSeconds, measuredSeconds } }: RunOverlay): string =>
  `${layout}: predicted ${time(simulatedSeconds)}~, measured ${time(measuredSeconds)}. The prediction is for the cluster of the scenario: where the run was on another machine, compare the order, not the seconds.`;

/** What takes longest is first. */
export const OverlayTable = ({ overlay: { overlay } }: { readonly overlay: RunOverlay }): VNode => (
  <Scroll name="Measured over predicted">
    <table>
      <caption>Operations on one rank of each stage; collectives from the arrival of their last rank</caption>
      <Heads columns={['operation', '#times', '#predicted~', '#measured', '#measured over predicted~']} />
      <tbody>
        {overlay.kinds.map(({ what, operations, simulated, measured }) => (
          <tr key={what}>
            <th scope="row">{what}</th>
            <td class="number">{grouped(operations)}</td>
            <td class="number">{time(simulated)}</td>
            <td class="number">{time(measured)}</td>
            <td class="number">{simulated > 0 ? timesWords(measured / simulated) : ''}</td>
          </tr>
        ))}
      </tbody>
    </table>
  </Scroll>
);

/** `1.25 times`, `1,340 times`. */
const timesWords = (ratio: number): string => `${ratio < 10 ? ratio.toFixed(2) : grouped(ratio)} times`;
