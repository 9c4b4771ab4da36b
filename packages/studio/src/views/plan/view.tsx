/** @file The first screen: the scenario as a sentence, the answer, where a step goes, the ranking, what was rejected. */

import type { Shown } from '@meshwright/core/plan';
import type { VNode } from 'preact';
import type { Row } from '../../app/rows.ts';
import type { Store } from '../../app/store.ts';
import type { ViewProps } from '../../app/view-props.ts';
import { useAnswer } from '../../parts/answer.tsx';
import { Copy } from '../../parts/copy.tsx';
import { gib, grouped, time } from '../../parts/numbers.ts';
import { Pending } from '../../parts/pending.tsx';
import { commandLine } from '../../scenario/scenario.ts';
import { Ranking } from './ranking.tsx';
import { Rejected } from './rejected.tsx';
import { Sentence } from './sentence.tsx';
import { Waterfall } from './waterfall.tsx';

export function PlanView({ store }: ViewProps): VNode {
  const { planning, rows, plans, selected } = store;
  const state = planning.value;
  const shown = plans.value.find(({ layout }) => layout.short === selected.value?.short);
  const empty = state === 'done' && rows.value.length === 0;
  return (
    <div class={state === 'failed' ? 'stale' : undefined}>
      <Sentence store={store} />
      {empty ? (
        <LaterNothing store={store} />
      ) : (
        <div class="plan">
          <section aria-label="Answer">
            <Answer store={store} />
            <Ranking store={store} />
            <Rejected store={store} />
          </section>
          <aside aria-label="Where one step goes">
            {shown ? (
              <Waterfall shown={shown} />
            ) : (
              <div class="skeleton" style={{ height: '300px' }}>
                <p>Where one step goes is computed for each row.</p>
              </div>
            )}
            <LaterWhy store={store} shown={shown} />
          </aside>
        </div>
      )}
    </div>
  );
}

/** `tensor 2, pipeline 1, data 32 (sharded state)`. */
export function layoutWords({ layout }: Pick<Row, 'layout'>): string {
  const { tensor, pipeline, data, context, expert, sharding } = layout;
  const more = [context > 1 ? ` \u00b7 context ${context}` : '', expert > 1 ? ` \u00b7 expert ${expert}` : ''].join('');
  const state = ['', ' (sharded optimizer)', ' (sharded gradients)', ' (sharded state)'][sharding] ?? '';
  return `tensor ${tensor} \u00b7 pipeline ${pipeline} \u00b7 data ${data}${more}${state}`;
}

function Answer({ store }: { readonly store: Store }): VNode {
  const row = store.selected.value;
  const best = store.rows.value[0];
  const capacity = store.plans.value[0]?.memory.capacityBytes ?? store.quick.value?.capacityBytes ?? 0;
  if (!row || !best)
    return (
      <div class="skeleton" style={{ height: '90px' }}>
        <p role="status">Ranking layouts by their bounds.</p>
      </div>
    );
  const { scenario } = store.place.value;
  const { tensor, pipeline, data, context } = row.layout;
  const gpus = tensor * pipeline * data * context;
  const tokens = (scenario.sequences * scenario.length) / row.seconds / gpus;
  return (
    <div class="answer">
      <h2>{`${row === best ? 'Best' : 'Selected'}: ${layoutWords(row)}`}</h2>
      <p class="numbers" role="status">
        {row.state !== 'bound'
          ? `${time(row.seconds)} a step~, ${grouped(tokens)} tokens/s per GPU~, ${gib(row.deviceBytes)} of ${gib(capacity)} GiB~`
          : `at least ${time(row.seconds)} a step; evaluating the best rows`}
      </p>
      <div class="actions">
        <button type="button" onClick={() => store.open('layout')}>
          Open layout
        </button>
        <button
          type="button"
          onClick={() => {
            store.step({ layout: 'mine', frame: 0 });
            store.open('steps');
          }}
        >
          Step through it
        </button>
        <Copy words="Copy command" said="Command copied" text={() => commandLine(scenario, row.short)} />
      </div>
    </div>
  );
}

/** What stands beside the figure once the plan is made, loaded then. */
function LaterWhy({ store, shown }: { readonly store: Store; readonly shown: Shown | undefined }): VNode | null {
  const isMade = store.planned.value !== undefined && shown !== undefined;
  const loaded = useAnswer(isMade ? 'why' : '', async () => import('./why.tsx')).value.value;
  return isMade && loaded ? <loaded.Why store={store} planned={store.planned.value} shown={shown} /> : null;
}

/** Ways out when nothing fits, loaded when that is so. */
function LaterNothing({ store }: { readonly store: Store }): VNode {
  const loaded = useAnswer('nothing', async () => import('./nothing.tsx'));
  return (
    <Pending known={loaded.value} words="Nothing fits." height={120}>
      {({ Nothing }) => <Nothing store={store} />}
    </Pending>
  );
}
