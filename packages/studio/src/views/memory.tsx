/** @file Memory of the selected plan: each stage against the capacity, over the step, what is alive at the peak, and what
 * would take bytes away at which price.
 */

import type { ShownStage } from '@meshwright/core/plan';
import { MemoryBars, MemoryOver, memoryParts as roles, type StageMemory } from '@meshwright/figures';
import { useSignal } from '@preact/signals';
import type { VNode } from 'preact';
import type { Row } from '../app/rows.ts';
import type { Store } from '../app/store.ts';
import type { ViewProps } from '../app/view-props.ts';
import type { Variant } from '../engine/variants.ts';
import { useAnswer } from '../parts/answer.tsx';
import { Heads } from '../parts/heads.tsx';
import { useNarrow } from '../parts/narrow.ts';
import { gib, share, signed, size, time } from '../parts/numbers.ts';
import { Pending } from '../parts/pending.tsx';
import { Scroll } from '../parts/scroll.tsx';
import { layoutWords } from './plan/view.tsx';

export function MemoryView({ store }: ViewProps): VNode {
  const row = store.selected.value;
  if (!row) return <p role="status">No plan yet.</p>;
  return <OfRow key={row.short} store={store} row={row} />;
}

function OfRow({ store, row }: { readonly store: Store; readonly row: Row }): VNode {
  const { scenario } = store.place.value;
  const key = `${row.short} ${JSON.stringify(scenario)}`;
  const shown = useAnswer(key, () => store.viewer.ask('show', scenario, row.layout));
  const detail = useAnswer(key, () => store.viewer.ask('memory', scenario, row.layout));
  const variants = useAnswer(key, () => store.viewer.ask('variants', scenario, row.layout));
  const stage = useSignal(0);
  const narrow = useNarrow();
  return (
    <section aria-label="Memory">
      <h2>{layoutWords(row)}</h2>
      <Pending known={shown.value} words="Adding up what each stage holds." height={220}>
        {({ memory }) => (
          <>
            <figure>
              <Scroll name="Memory of each stage">
                <MemoryBars memory={memory} width={narrow ? 350 : 720} />
              </Scroll>
            </figure>
            <Stages
              stages={memory.stages}
              capacity={memory.capacityBytes}
              selected={stage.value}
              select={(each) => void (stage.value = each)}
            />
          </>
        )}
      </Pending>
      <Pending known={detail.value} words="Following memory over the step." height={320}>
        {({ stages, note }) => {
          const own = stages[Math.min(stage.value, stages.length - 1)];
          return own ? <Over stage={own} note={note} /> : null;
        }}
      </Pending>
      <h3>What would take bytes away</h3>
      <Pending known={variants.value} words="Evaluating changes of this layout." height={120}>
        {(found) => <Changes store={store} found={found} />}
      </Pending>
    </section>
  );
}

/** Changes with their price. A press makes the layout that of the scenario; undo goes back to what was searched before. */
function Changes({ store, found }: { readonly store: Store; readonly found: readonly Variant[] }): VNode {
  return (
    <>
      <p class="actions">
        <span>A press applies one change here; all is evaluated anew.</span>
        <button type="button" disabled={!store.canUndo.value} onClick={() => store.undo()}>
          Undo the last change
        </button>
      </p>
      {found.length === 0 && <p>Nothing that is legal here.</p>}
      {found.length > 0 && (
        <Scroll name="Changes that take bytes away">
          <table class="variants">
            <Heads columns={['change', '#fullest GPU~', '#then, GiB~', '#step~', 'fits']} />
            <tbody>
              {found.map(({ words, request, bytesLess, secondsMore, deviceBytes, fits }) => (
                <tr key={words}>
                  <th scope="row">
                    <button type="button" onClick={() => store.edit({ layout: withoutSplit(request) })}>
                      {words}
                    </button>
                  </th>
                  <td class="number">{signed(-bytesLess, size)}</td>
                  <td class="number">{gib(deviceBytes)}</td>
                  <td class="number">{signed(secondsMore, time)}</td>
                  <td class={fits ? undefined : 'alarm'}>{fits ? 'fits' : 'still does not fit'}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </Scroll>
      )}
    </>
  );
}

/** A button makes the change the layout: its keys are fixed, the split of layers follows. */
const withoutSplit = <Request extends { readonly layersPerStage?: unknown }>({
  layersPerStage: _,
  ...request
}: Request): Omit<Request, 'layersPerStage'> => request;

interface StagesProps {
  readonly stages: readonly ShownStage[];
  readonly capacity: number;
  readonly selected: number;
  select(stage: number): void;
}

function Stages({ stages, capacity, selected, select }: StagesProps): VNode {
  return (
    <Scroll name="Memory of each stage as a table">
      <table>
        <caption>{`A GPU of each stage at its peak, in GiB; ${gib(capacity)} can be allocated. All ranks of a stage hold the same.`}</caption>
        <Heads columns={['stage', 'layers', ...roles.map(([part]) => `#${part}`), '#device~', 'fits']} />
        <tbody>
          {stages.map(({ stage, layers, partsBytes, deviceBytes, verdict }) => (
            <tr key={stage} class={stage === selected ? 'selected' : undefined}>
              <td>
                <button type="button" aria-pressed={stage === selected} onClick={() => select(stage)}>
                  {`stage ${stage}`}
                </button>
              </td>
              <td class="number">{layers}</td>
              {roles.map(([part]) => (
                <td key={part} class="number">
                  {gib(partsBytes[part] ?? 0)}
                </td>
              ))}
              <td class="number">{gib(deviceBytes)}</td>
              <td class={verdict === 'fits' ? undefined : 'alarm'}>{verdict.replaceAll('-', ' ')}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}

const Over = ({ stage, note }: { readonly stage: StageMemory; readonly note: string }): VNode => (
  <div>
    <h3>{`Stage ${stage.stage} over the step`}</h3>
    <figure>
      <Scroll name="Memory over the step">
        <MemoryOver stage={stage} width={useNarrow() ? 350 : 960} />
      </Scroll>
      <figcaption>{`At the peak the GPU ${stage.peakWhy}. ${note}`}</figcaption>
    </figure>
    <Alive stage={stage} />
  </div>
);

const Alive = ({ stage: { alive, aliveCount, peakBytes } }: { readonly stage: StageMemory }): VNode => (
  <details>
    <summary>{`${aliveCount} buffers are alive at the peak`}</summary>
    <Scroll name="Buffers alive at the peak">
      <table>
        <Heads columns={['buffer', 'role', '#bytes', '#of the peak']} />
        <tbody>
          {alive.map(({ name, role, bytes }) => (
            <tr key={name}>
              <td>{name}</td>
              <td>{role}</td>
              <td class="number">{size(bytes)}</td>
              <td class="number">{share(bytes / peakBytes)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
    {aliveCount > alive.length && <p class="quiet">{`and ${aliveCount - alive.length} smaller ones`}</p>}
  </details>
);
