/** @file What was considered and why the rest is not in the ranking. */

import type { VNode } from 'preact';
import type { Store } from '../../app/store.ts';
import { useAnswer } from '../../parts/answer.tsx';
import { Heads } from '../../parts/heads.tsx';
import { grouped } from '../../parts/numbers.ts';
import { Scroll } from '../../parts/scroll.tsx';

export function Rejected({ store }: { readonly store: Store }): VNode | null {
  const planned = store.planned.value;
  const codes = Object.keys(planned?.rejected ?? {});
  const reasons = useAnswer(codes.join(' '), () => store.quickly.ask('reasons', codes)).value.value ?? {};
  const quick = store.quick.value;
  if (!planned)
    return quick ? (
      <p class="quiet">{`${grouped(quick.bounded)} usual layouts bounded, ${grouped(quick.fitting)} may fit.`}</p>
    ) : null;
  const rejected = Object.entries(planned.rejected).sort(([, a], [, b]) => b - a);
  const slower = planned.legal - planned.evaluated - (planned.rejected.OUT_OF_MEMORY ?? 0);
  return (
    <details class="rejected">
      <summary>
        {`${grouped(planned.considered)} considered \u00b7 ${rejected
          .slice(0, 3)
          .map(([code, count]) => `${grouped(count)} ${words(code)}`)
          .join(' \u00b7 ')} \u00b7 show reasons`}
      </summary>
      <Scroll name="Rejected layouts">
        <table>
          <Heads columns={['#Layouts', 'Why not', 'What to do']} />
          <tbody>
            {rejected.map(([code, count]) => {
              const row = reasons[code];
              return (
                <tr key={code}>
                  <td class="number">{grouped(count)}</td>
                  <td>{`${words(code)}: ${row?.meaning ?? ''}`}</td>
                  <td>{row?.fix ?? ''}</td>
                </tr>
              );
            })}
            {slower > 0 && (
              <tr>
                <td class="number">{grouped(slower)}</td>
                <td>cannot be faster: their lower bound is above what is in the ranking</td>
                <td>{planned.proven ? 'Nothing: that is the proof that the first is the fastest.' : ''}</td>
              </tr>
            )}
          </tbody>
        </table>
      </Scroll>
    </details>
  );
}

const words = (code: string): string => code.toLowerCase().replaceAll('_', ' ');
