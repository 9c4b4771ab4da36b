/** @file How sure the ranking is, and what other sizes of the cluster make of a GPU: asked for when they are opened. */
import type { Shown } from '@meshwright/core/plan';
import { useSignal } from '@preact/signals';
import type { ComponentChildren, VNode } from 'preact';
import type { Store } from '../../app/store.ts';
import type { Sensitivity } from '../../engine/sensitivity.ts';
import { useAnswer } from '../../parts/answer.tsx';
import { Heads } from '../../parts/heads.tsx';
import { Markup } from '../../parts/markup.tsx';
import { grouped, share, time } from '../../parts/numbers.ts';
import { Pending } from '../../parts/pending.tsx';
import { Scroll } from '../../parts/scroll.tsx';

/** Plans that are evaluated again under other assumptions. */
const COMPARED = 5;

/** On which range of each assumption the first plan stays first. */
export function SensitivityStrip({ store, plans }: { readonly store: Store; readonly plans: readonly Shown[] }): VNode {
  const { scenario } = store.place.value;
  return (
    <Opened words="How far may the assumptions be off?">
      {() => (
        <Asked
          name={`sensitivity ${JSON.stringify(scenario)}`}
          words="Evaluating the first plans under other assumptions."
          ask={() =>
            store.viewer.ask(
              'sensitivity',
              scenario,
              plans.slice(0, COMPARED).map(({ layout: { short: _, ...layout } }) => layout),
            )
          }
        >
          {({ first, rows }) => (
            <Scroll name="Sensitivity">
              <table>
                <caption>{`The first ${Math.min(COMPARED, plans.length)} plans, each assumption alone. Fastest by evaluation: ${nameOf(plans, first)}.`}</caption>
                <Heads columns={['assumption', '#value~', 'range', 'stays first within', '#its step~', 'else first']} />
                <tbody>
                  {rows.map((row) => (
                    <Line key={row.what} row={row} first={first} plans={plans} />
                  ))}
                </tbody>
              </table>
            </Scroll>
          )}
        </Asked>
      )}
    </Opened>
  );
}

interface LineProps {
  readonly row: Sensitivity;
  readonly first: string;
  readonly plans: readonly Shown[];
}

function Line({ row, first, plans }: LineProps): VNode {
  const { what, value, low, high, from, to, atLow, atHigh, secondsLow, secondsHigh } = row;
  const others = [...new Set([atLow, atHigh])].filter((each) => each !== first);
  return (
    <tr>
      <th scope="row">{what.replace(/\bseconds\b/, 'time')}</th>
      <td class="number">{amount(what, value)}</td>
      <td>
        <Range row={row} />
      </td>
      <td>{from === low && to === high ? 'all of it' : `${amount(what, from)} to ${amount(what, to)}`}</td>
      <td class="number">{`${time(secondsLow)} to ${time(secondsHigh)}`}</td>
      <td>{others.map((each) => nameOf(plans, each)).join(', ')}</td>
    </tr>
  );
}

/** The range as a line, with the part in which the first plan stays first strong, and the value marked. */
function Range({ row: { what, low, high, from, to, value } }: { readonly row: Sensitivity }): VNode {
  const place = (each: number): number => (high === low ? 0 : ((each - low) / (high - low)) * 120);
  return (
    <span class="bar">
      <span class="number">{amount(what, low)}</span>
      <svg width="124" height="14" aria-hidden="true">
        <line x1="2" x2="122" y1="7" y2="7" stroke="var(--mw-line)" stroke-width="2" />
        <line x1={2 + place(from)} x2={2 + place(to)} y1="7" y2="7" stroke="var(--mw-text)" stroke-width="5" />
        <circle
          cx={2 + place(value)}
          cy="7"
          r="4"
          fill="var(--mw-background)"
          stroke="var(--mw-text)"
          stroke-width="2"
        />
      </svg>
      <span class="number">{amount(what, high)}</span>
    </span>
  );
}

/** `#2`, or the short form of a layout that is not in the ranking. */
function nameOf(plans: readonly Shown[], short: string): string {
  const at = plans.findIndex(({ layout }) => layout.short === short);
  return at < 0 ? short : `#${at + 1}`;
}

/** A time in its unit, else a plain number. */
const amount = (what: string, value: number): string => (/\bseconds\b/.test(what) ? time(value) : plain(value));

const plain = (value: number): string => value.toLocaleString('en-US', { maximumSignificantDigits: 3 });

/** Sizes up to so many times today's. */
const LARGER = 4;

/** The best layout of each size, with the batch kept and with a batch that grows. */
export function ScalingCurves({ store, gpus }: { readonly store: Store; readonly gpus: number }): VNode {
  const { scenario } = store.place.value;
  const most = gpus * LARGER;
  return (
    <Opened words={`Scaling: the best layout of each size up to ${grouped(most)} GPUs`}>
      {() => (
        <Asked
          name={`scaling ${JSON.stringify(scenario)}`}
          words="Planning every size, with the batch kept and with a batch that grows."
          ask={() => store.viewer.ask('scaling', scenario, most)}
        >
          {({ svg, sweep }) => (
            <>
              <Scroll name="Scaling curves">
                <Markup svg={svg} />
              </Scroll>
              <Scroll name="Scaling as a table">
                <table>
                  <Heads
                    columns={[
                      'scaling',
                      '#GPUs',
                      '#sequences',
                      '#step~',
                      '#tokens/s per GPU~',
                      '#of the best',
                      'layout',
                    ]}
                  />
                  <tbody>
                    {sweep.curves.flatMap(({ kind, points }) =>
                      points.map((point) => (
                        <tr key={`${kind} ${point.gpus}`}>
                          <th scope="row">{kind}</th>
                          <td class="number">{grouped(point.gpus)}</td>
                          <td class="number">{grouped(point.sequences)}</td>
                          <td class="number">{time(point.seconds)}</td>
                          <td class="number">{grouped(point.tokensPerSecondPerGpu)}</td>
                          <td class="number">{share(point.efficiency)}</td>
                          <td>{point.layout}</td>
                        </tr>
                      )),
                    )}
                  </tbody>
                </table>
              </Scroll>
            </>
          )}
        </Asked>
      )}
    </Opened>
  );
}

/** Opened on demand: nothing is asked before. */
function Opened({ words, children }: { readonly words: string; readonly children: () => ComponentChildren }): VNode {
  const open = useSignal(false);
  return (
    <details onToggle={({ currentTarget }) => void (open.value = currentTarget.open)}>
      <summary>{words}</summary>
      {open.value && children()}
    </details>
  );
}

interface AskedProps<Value> {
  readonly name: string;
  readonly words: string;
  ask(): Promise<Value>;
  children(value: Value): ComponentChildren;
}

function Asked<Value>({ name, words, ask, children }: AskedProps<Value>): VNode {
  const known = useAnswer(name, ask);
  return (
    <Pending known={known.value} words={words} height={160}>
      {children}
    </Pending>
  );
}
