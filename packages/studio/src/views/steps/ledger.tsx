/** @file The ledger below the figure: what each GPU holds, has sent and received and waited, counted from the program,
 * beside the closed forms.
 */

import type { Moment, StepScript } from '@meshwright/figures';
import type { VNode } from 'preact';
import { Heads } from '../../parts/heads.tsx';
import { grouped, size } from '../../parts/numbers.ts';
import { Scroll } from '../../parts/scroll.tsx';

interface LedgerProps {
  readonly script: StepScript;
  readonly moment: Moment;
}

const columns: readonly string[] = ['GPU', '#W', '#G', '#O', '#A', '#holds', '#sent, bytes', '#received, bytes', 'now'];

export function Ledger({ script, moment }: LedgerProps): VNode {
  const { step } = moment;
  const atEnd = moment.frame === moment.frames;
  return (
    <section aria-label="Ledger" class="ledger">
      <Scroll name="What each GPU has sent">
        <table id="ledger">
          <caption>Counted in the program, since the beginning of the step</caption>
          <Heads columns={script.schedule ? columns.with(-1, '#waited, slots').concat('now') : columns} />
          <tbody>
            {moment.gpus.map(({ rank, shelves, totalBytes, sent, received, waited, doing }) => (
              <tr key={rank} data-rank={rank} data-sent={sent} data-received={received} data-held={totalBytes}>
                <th scope="row">{rank}</th>
                {shelves.map(({ name, bytes }) => (
                  <td key={name} class="number">
                    {size(bytes)}
                  </td>
                ))}
                <td class={totalBytes > script.capacityBytes ? 'number alarm' : 'number'}>
                  {`${size(totalBytes)}${totalBytes > script.capacityBytes ? ': does not fit' : ''}`}
                </td>
                <td class="number">{grouped(sent)}</td>
                <td class="number">{grouped(received)}</td>
                {script.schedule && <td class="number">{waited}</td>}
                <td>{doing}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
      <p>
        {step?.sum
          ? `This exchange, by its closed form: ${step.sum.formula}. The program counts ${size(step.sum.counted)}${step.sum.counted === step.sum.law ? ': equal \u2713' : ''}.`
          : 'Nothing is sent in this step.'}
      </p>
      <Totals script={script} atEnd={atEnd} />
    </section>
  );
}

/** Whole step, by axis: the laws of the axes against what the program counts. */
function Totals({ script, atEnd }: { readonly script: StepScript; readonly atEnd: boolean }): VNode {
  const rows = script.totals.flatMap((axes, list) => axes.map((axis) => ({ ...axis, list })));
  const several = script.totals.length > 1;
  return (
    <details open={atEnd}>
      <summary>The whole step, by axis, against the closed forms</summary>
      <Scroll name="The whole step by axis">
        <table>
          <Heads columns={[...(several ? ['stage'] : []), 'axis', '#counted, bytes', '#closed form, bytes', 'equal']} />
          <tbody>
            {rows.map(({ list, axis, counted, law }) => (
              <tr key={`${list} ${axis}`}>
                {several && <td>{list}</td>}
                <td>{axis}</td>
                <td class="number">{grouped(counted)}</td>
                <td class="number">{law === undefined ? 'none' : grouped(law)}</td>
                <td>{law === undefined ? '' : law === counted ? '\u2713' : 'no'}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
    </details>
  );
}
