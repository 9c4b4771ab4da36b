/** @file Disturb the cluster: slow a GPU, slow or break a link, let kernels vary. The simulator answers, before and after. */
import { type Signal, useSignal } from '@preact/signals';
import type { VNode } from 'preact';
import type { Row } from '../../app/rows.ts';
import type { Store } from '../../app/store.ts';
import type { Disturbance, Disturbed } from '../../engine/disturb.ts';
import { useAnswer } from '../../parts/answer.tsx';
import { Heads } from '../../parts/heads.tsx';
import { idleWords } from '../../parts/idle-words.ts';
import { share, signed, time } from '../../parts/numbers.ts';
import { Pending } from '../../parts/pending.tsx';
import { Scroll } from '../../parts/scroll.tsx';
import { layoutWords } from '../plan/view.tsx';

type Kind = Disturbance['kind'];
type Family = Extract<Disturbance, { readonly kind: 'link' }>['family'];

const kinds: readonly (readonly [kind: Kind, words: string])[] = [
  ['slow', 'Slow a GPU'],
  ['link', 'Slow or break a link'],
  ['jitter', 'Let kernels vary'],
];

/** The controls and what the simulator says of the plan `row`. */
export function Disturb({ store, row }: { readonly store: Store; readonly row: Row }): VNode {
  const { scenario } = store.place.value;
  const disturbance = useSignal<Disturbance>({ kind: 'slow', device: 0, percent: 10 });
  const families = useAnswer(JSON.stringify(scenario), () => store.quickly.ask('linkFamilies', scenario)).value.value;
  const key = `${row.short} ${JSON.stringify(scenario)} ${JSON.stringify(disturbance.value)}`;
  const answer = useAnswer(key, () => store.planner.ask('disturbed', scenario, row.layout, disturbance.value));
  return (
    <section aria-label="Disturb the cluster">
      <h3>{`Disturb the cluster under ${layoutWords(row)}`}</h3>
      <div class="choices">
        <fieldset>
          <legend>What goes wrong</legend>
          {kinds.map(([kind, words]) => (
            <button
              key={kind}
              type="button"
              aria-pressed={disturbance.value.kind === kind}
              onClick={() => void (disturbance.value = firstOf(kind, families?.[0]?.family ?? 'device'))}
            >
              {words}
            </button>
          ))}
        </fieldset>
        <Fields disturbance={disturbance} families={families ?? []} />
      </div>
      <Pending known={answer.value} words="Simulating the step twice, healthy and disturbed." height={160}>
        {(found) => <BeforeAfter found={found} />}
      </Pending>
    </section>
  );
}

function firstOf(kind: Kind, family: Family): Disturbance {
  switch (kind) {
    case 'slow':
      return { kind, device: 0, percent: 10 };
    case 'link':
      return { kind, family, index: 0, speed: 0.5 };
    case 'jitter':
      return { kind, percent: 2, seed: 0 };
  }
}

interface FieldsProps {
  readonly disturbance: Signal<Disturbance>;
  readonly families: readonly { readonly family: Family; readonly count: number }[];
}

function Fields({ disturbance, families }: FieldsProps): VNode {
  const { value } = disturbance;
  const set = (change: Partial<Disturbance>): void => void (disturbance.value = { ...value, ...change } as Disturbance);
  switch (value.kind) {
    case 'slow':
      return (
        <>
          <Amount name="GPU" value={value.device} most={1e6} set={(device) => set({ device })} />
          <Amount name="Percent slower" value={value.percent} most={1000} set={(percent) => set({ percent })} />
        </>
      );
    case 'link':
      return (
        <>
          <label>
            Link of a{' '}
            <select
              value={value.family}
              onChange={({ currentTarget }) => set({ family: currentTarget.value as Family, index: 0 })}
            >
              {families.map(({ family, count }) => (
                <option key={family} value={family}>{`${family} (${count})`}</option>
              ))}
            </select>
          </label>
          <Amount name="Number" value={value.index} most={1e6} set={(index) => set({ index })} />
          <Amount
            name="Percent of its speed, 0: gone"
            value={Math.round(value.speed * 100)}
            most={100}
            set={(percent) => set({ speed: percent / 100 })}
          />
        </>
      );
    case 'jitter':
      return (
        <>
          <Amount
            name="Percent (standard deviation)"
            value={value.percent}
            most={50}
            set={(percent) => set({ percent })}
          />
          <Amount name="Seed" value={value.seed} most={1e9} set={(seed) => set({ seed })} />
        </>
      );
  }
}

interface AmountProps {
  readonly name: string;
  readonly value: number;
  readonly most: number;
  set(value: number): void;
}

const Amount = ({ name, value, most, set }: AmountProps): VNode => (
  <label>
    {`${name} `}
    <input
      class="amount"
      type="number"
      min={0}
      max={most}
      value={value}
      onChange={({ currentTarget }) => set(Math.max(0, Math.min(most, Math.round(Number(currentTarget.value)) || 0)))}
    />
  </label>
);

function BeforeAfter({ found: { before, after, note } }: { readonly found: Disturbed }): VNode {
  const more = after.seconds - before.seconds;
  const parts = [...new Set([...Object.keys(before.idle), ...Object.keys(after.idle)])] as (keyof typeof before.idle)[];
  const rows: readonly (readonly [string, number, number])[] = [
    ['the step', before.seconds, after.seconds],
    ...parts.map((part) => [idleWords[part] ?? part, before.idle[part] ?? 0, after.idle[part] ?? 0] as const),
  ];
  const busiest = after.links.map(({ name, load }) => `${name} (${share(load)})`).join(', ');
  return (
    <>
      <p role="status">{`The step takes ${signed(more, time)}~ (${signed(more / before.seconds, share)}). ${note}`}</p>
      <Scroll name="Before and after">
        <table>
          <caption>The step, and why computing is idle on the stage that ends last</caption>
          <Heads columns={['what', '#healthy~', '#disturbed~', '#difference~']} />
          <tbody>
            {rows.map(([what, was, is]) => (
              <tr key={what}>
                <th scope="row">{what}</th>
                <td class="number">{time(was)}</td>
                <td class="number">{time(is)}</td>
                <td class="number">{signed(is - was, time)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
      {busiest !== '' && <p class="quiet">{`Busiest links when disturbed: ${busiest} of the step.`}</p>}
    </>
  );
}
