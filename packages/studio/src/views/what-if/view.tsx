/** @file What if the links were slower or faster, the GPUs others, the hosts more or fewer: each is planned anew; and what
 * if something is slow or broken under the layout of today: that is simulated.
 */

import { type Signal, useSignal } from '@preact/signals';
import type { VNode } from 'preact';
import { useEffect } from 'preact/hooks';
import type { Row } from '../../app/rows.ts';
import type { Store } from '../../app/store.ts';
import type { ViewProps } from '../../app/view-props.ts';
import type { WhatIf } from '../../engine/variants.ts';
import { useAnswer } from '../../parts/answer.tsx';
import { Heads } from '../../parts/heads.tsx';
import { gib, share, signed, time } from '../../parts/numbers.ts';
import { Scroll } from '../../parts/scroll.tsx';
import type { Scenario } from '../../scenario/scenario.ts';
import { Disturb } from './disturb.tsx';
import { FailurePanel } from './failures.tsx';

export function WhatIfView({ store }: ViewProps): VNode {
  const row = store.rows.value[0];
  if (row?.state !== 'simulated' || store.planning.value !== 'done')
    return (
      <div class="skeleton" style={{ height: '320px' }}>
        <p role="status">The plan is being evaluated.</p>
      </div>
    );
  return <Table key={JSON.stringify(store.place.value.scenario)} store={store} best={row} />;
}

/** Changes of a scenario that can be planned. */
export function changesOf(
  scenario: Scenario,
  gpus: readonly string[] = [],
): readonly (readonly [words: string, scenario: Scenario])[] {
  const { nodes, host, linkGbps } = scenario;
  const gbps = linkGbps ?? 400;
  const links: readonly (readonly [string, Partial<Scenario>])[] =
    nodes > 1
      ? [
          [`links between hosts at ${gbps / 2} Gb/s`, { linkGbps: gbps / 2 }],
          [`links between hosts at ${gbps / 8} Gb/s`, { linkGbps: gbps / 8 }],
          [`links between hosts at ${gbps * 2} Gb/s`, { linkGbps: gbps * 2 }],
        ]
      : [];
  const other = ['dgx-a100', 'dgx-h100', 'dgx-h200', 'dgx-b200'].filter((each) => each !== host);
  const changes: readonly (readonly [string, Partial<Scenario>])[] = [
    ...links,
    ...gpus.map((gpu) => [`GPUs are ${gpu}, hosts and links stay`, { gpu }] as const),
    ...other.map((each) => [`hosts are ${each}`, { host: each, gpu: undefined, linkGbps: undefined }] as const),
    [`${nodes * 2} hosts`, { nodes: nodes * 2 }],
    ...(nodes > 1 && nodes % 2 === 0
      ? [[`${nodes / 2} ${nodes === 2 ? 'host' : 'hosts'}`, { nodes: nodes / 2 }] as const]
      : []),
  ];
  return changes.map(([words, change]) => [words, { ...scenario, ...change }]);
}

function Table({ store, best }: { readonly store: Store; readonly best: Row }): VNode {
  const { scenario } = store.place.value;
  const answers = useSignal<Readonly<Record<string, WhatIf | string>>>({});
  const gpus = useSignal<readonly string[]>([]);
  const changes = changesOf(scenario, gpus.value);
  const selected = store.selected.value ?? best;
  const plan = store.plans.value.find(({ layout }) => layout.short === selected.short);
  useEffect(() => {
    let wanted = true;
    const askAll = async (): Promise<void> => {
      for (const [words, changed] of changes) {
        if (answers.value[words] !== undefined) continue;
        const sameWorld = changed.nodes === scenario.nodes;
        const answer = await store.viewer
          .ask('whatIf', words, changed, sameWorld ? best.layout : undefined)
          .catch((error: unknown) => String(error));
        if (!wanted) return;
        answers.value = { ...answers.value, [words]: answer };
      }
    };
    void askAll();
    return () => void (wanted = false);
  }, [gpus.value]);
  return (
    <section aria-label="What if">
      <h2>What if</h2>
      <p>{`Today's best, ${best.short}, takes ${time(best.seconds)} a step~. Each change below is planned anew; the last column keeps today's layout.`}</p>
      <OtherGpu store={store} chosen={gpus} />
      <Scroll name="Changes">
        <table>
          <Heads
            columns={['if', '#best step~', '#change', '#memory, GiB~', 'best layout', "#today's layout~", '(Open)']}
          />
          <tbody>
            {changes.map(([words, changed]) => (
              <Change
                key={words}
                words={words}
                answer={answers.value[words]}
                now={best.seconds}
                open={() => store.edit(changed)}
              />
            ))}
          </tbody>
        </table>
      </Scroll>
      <Disturb key={selected.short} store={store} row={selected} />
      {plan && <FailurePanel store={store} plan={plan} />}
    </section>
  );
}

/** Another device in the same hosts: chosen from all that are known. */
function OtherGpu({ store, chosen }: { readonly store: Store; readonly chosen: Signal<readonly string[]> }): VNode {
  const { gpu } = store.place.value.scenario;
  const names = useAnswer('names', () => store.quickly.ask('names')).value.value;
  return (
    <p>
      <label>
        {'Change the GPU: '}
        <select
          value=""
          onChange={({ currentTarget: { value } }) => {
            if (value !== '' && !chosen.value.includes(value)) chosen.value = [value, ...chosen.value];
          }}
        >
          <option value="">choose one to plan with</option>
          {(names?.gpus ?? [])
            .filter((each) => each !== gpu)
            .map((each) => (
              <option key={each} value={each}>
                {each}
              </option>
            ))}
        </select>
      </label>
    </p>
  );
}

interface ChangeProps {
  readonly words: string;
  readonly answer: WhatIf | string | undefined;
  readonly now: number;
  open(): void;
}

function Change({ words, answer, now, open }: ChangeProps): VNode {
  const best = typeof answer === 'object' ? answer.best : undefined;
  const same = typeof answer === 'object' ? answer.same : undefined;
  const state = answer === undefined ? 'planning' : typeof answer === 'string' ? answer : 'nothing fits';
  return (
    <tr>
      <th scope="row">{words}</th>
      <td class="number">{best ? time(best.seconds) : state}</td>
      <td class="number">{best ? signed(best.seconds / now - 1, share) : ''}</td>
      <td class="number">{best ? gib(best.deviceBytes) : ''}</td>
      <td>{best?.short ?? ''}</td>
      <td class="number">{same === undefined ? '' : `${time(same)} (${signed(same / now - 1, share)})`}</td>
      <td>
        <button type="button" aria-label={`Open: ${words}`} onClick={open}>
          Open
        </button>
      </td>
    </tr>
  );
}
