/** @file Beside the ranking: why the first row is first, the nearest published run, and what is assumed. */
import type { Planned, Shown } from '@meshwright/core/plan';
import type { VNode } from 'preact';
import type { Store } from '../../app/store.ts';
import { useAnswer } from '../../parts/answer.tsx';
import { Heads } from '../../parts/heads.tsx';
import { grouped, share } from '../../parts/numbers.ts';
import { Scroll } from '../../parts/scroll.tsx';

interface WhyProps {
  readonly store: Store;
  readonly planned: Planned | undefined;
  readonly shown: Shown;
}

/** Why the first plan is first, what is worth knowing, and what the numbers rest on. */
export function Why({ store, planned, shown }: WhyProps): VNode | null {
  if (!planned) return null;
  const [first, second] = planned.plans;
  return (
    <section class="why" aria-label="Why the first is first">
      {first && second && (
        <>
          <h3>{`Why #1 beats #2 by ${share(second.step.seconds / first.step.seconds - 1)}`}</h3>
          <ul>
            {planned.explain.slice(0, 5).map(({ part, words }) => (
              <li key={part}>{words}</li>
            ))}
          </ul>
        </>
      )}
      {shown.warnings.length > 0 && (
        <>
          <h3>Worth knowing</h3>
          <ul>
            {shown.warnings.map(({ code, message, hint = '' }) => (
              <li key={code}>{`${message} ${hint}`}</li>
            ))}
          </ul>
        </>
      )}
      <Nearest store={store} shown={shown} />
      <details>
        <summary>{`~ rests on ${shown.assumptions.length} assumed numbers`}</summary>
        <Scroll name="Assumed numbers">
          <table>
            <Heads columns={['Assumed', 'Value', 'Source']} />
            <tbody>
              {shown.assumptions.map(({ what, value, low, high, source }) => (
                <tr key={what}>
                  <td>{what}</td>
                  <td class="number">
                    {low === high ? plain(value) : `${plain(value)} (${plain(low)} to ${plain(high)})`}
                  </td>
                  <td>{source}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </Scroll>
      </details>
    </section>
  );
}

/** What others measured on something like it, beside what is predicted here. */
function Nearest({ store, shown }: { readonly store: Store; readonly shown: Shown }): VNode | null {
  const { scenario } = store.place.value;
  const known = useAnswer(JSON.stringify(scenario), () => store.viewer.ask('nearest', scenario));
  const run = known.value.value;
  if (!run) return null;
  const degrees =
    run.tensor > 0 ? `, tensor ${run.tensor} \u00b7 pipeline ${run.pipeline} \u00b7 data ${run.data}` : '';
  return (
    <>
      <h3>Nearest published run</h3>
      <p>{`${run.model} on ${grouped(run.gpus)} ${run.gpu}, sequences of ${grouped(run.length)}${degrees}: ${grouped(run.tokensPerSecondPerGpu)} tokens/s per GPU measured (${run.source}, ${run.year}). Here ${grouped(shown.step.tokensPerSecondPerGpu)}~ are predicted.`}</p>
    </>
  );
}

const plain = (value: number): string => value.toLocaleString('en-US', { maximumSignificantDigits: 4 });
