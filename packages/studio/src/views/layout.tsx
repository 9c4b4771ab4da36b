/** @file The layout of the selected plan: where its ranks stand, who is in a group, what travels over which link; axes can
 * be reordered and the traffic between hosts followed.
 */

import { coordinateOf, createMesh, type DenseAxis, groupOf, worldSize } from '@meshwright/core/mesh';
import { ClusterMap } from '@meshwright/figures';
import { type Signal, useSignal } from '@preact/signals';
import type { VNode } from 'preact';
import type { Row } from '../app/rows.ts';
import type { Store } from '../app/store.ts';
import type { ViewProps } from '../app/view-props.ts';
import type { LayoutDrawing } from '../engine/drawing.ts';
import { useAnswer } from '../parts/answer.tsx';
import { Heads } from '../parts/heads.tsx';
import { Markup } from '../parts/markup.tsx';
import { useNarrow } from '../parts/narrow.ts';
import { grouped, signed, size, time } from '../parts/numbers.ts';
import { Pending } from '../parts/pending.tsx';
import { Scroll } from '../parts/scroll.tsx';
import { layoutWords } from './plan/view.tsx';

type Axis = 'tensor' | 'context' | 'data' | 'pipeline';
const movable: readonly Axis[] = ['tensor', 'context', 'data', 'pipeline'];

export function LayoutView({ store }: ViewProps): VNode {
  const row = store.selected.value;
  if (!row) return <p role="status">No plan yet.</p>;
  return <OfRow key={row.short} store={store} row={row} />;
}

function OfRow({ store, row }: { readonly store: Store; readonly row: Row }): VNode {
  const { scenario } = store.place.value;
  const order = useSignal<readonly DenseAxis[]>(row.layout.order);
  const layout = { ...row.layout, order: order.value };
  const key = `${row.short} ${JSON.stringify(scenario)} ${order.value.join('-')}`;
  const drawing = useAnswer(key, () => store.viewer.ask('drawing', scenario, layout));
  return (
    <section aria-label="Layout">
      <h2>{layoutWords(row)}</h2>
      <div class="actions">
        <button
          type="button"
          onClick={() => {
            store.step({ layout: 'mine', frame: 0 });
            store.open('steps');
          }}
        >
          Step through the exchanges of this layout
        </button>
      </div>
      <Pending known={drawing.value} words="Drawing this layout." height={600}>
        {(answer) => (
          <Drawn answer={answer} row={row} order={order.value} reorder={(next) => void (order.value = next)} />
        )}
      </Pending>
    </section>
  );
}

interface DrawnProps {
  readonly answer: LayoutDrawing;
  readonly row: Row;
  readonly order: readonly DenseAxis[];
  reorder(order: readonly DenseAxis[]): void;
}

function Drawn({ answer, row, order, reorder }: DrawnProps): VNode {
  const { shown, gpusPerNode, svg, note } = answer;
  const { tensor, context, data, pipeline } = row.layout;
  const mesh = createMesh({ tensor, context, data, pipeline }, order);
  const axis = useSignal<Axis>(movable.find((each) => row.layout[each] > 1) ?? 'data');
  const rank = useSignal(0);
  const narrow = useNarrow();
  const group = groupOf(mesh, Math.min(rank.value, worldSize(mesh) - 1), [axis.value]);
  return (
    <div>
      <MapChoices row={row} axis={axis} rank={rank} world={worldSize(mesh)} order={order} reorder={reorder} />
      <figure>
        <Scroll name="Cluster map">
          <ClusterMap
            mesh={mesh}
            gpusPerNode={gpusPerNode}
            axis={axis.value}
            rank={Math.min(rank.value, worldSize(mesh) - 1)}
            width={narrow ? 360 : 1060}
          />
        </Scroll>
        <figcaption>{groupWords(group, gpusPerNode, axis.value, rank.value)}</figcaption>
      </figure>
      <Coordinates rank={rank.value} at={coordinateOf(mesh, Math.min(rank.value, worldSize(mesh) - 1))} />
      <Traffic shown={shown} before={row.seconds} />
      <h3>What each GPU stores, and what a step moves</h3>
      {note !== '' && <p class="quiet">{note}</p>}
      <Scroll name="Figure of exchanges">
        <Markup svg={svg} />
      </Scroll>
    </div>
  );
}

interface MapChoicesProps {
  readonly row: Row;
  readonly axis: Signal<Axis>;
  readonly rank: Signal<number>;
  readonly world: number;
  readonly order: readonly DenseAxis[];
  reorder(order: readonly DenseAxis[]): void;
}

/** Which groups the map shows, of which rank, and the order of ranks. */
function MapChoices({ row, axis, rank, world, order, reorder }: MapChoicesProps): VNode {
  const present = order.filter(
    (each): each is Axis => movable.includes(each as Axis) && (each !== 'context' || row.layout.context > 1),
  );
  return (
    <div class="choices">
      <fieldset>
        <legend>Show the groups of</legend>
        {movable.map((each) => (
          <button
            key={each}
            type="button"
            aria-pressed={axis.value === each}
            disabled={row.layout[each] < 2}
            onClick={() => void (axis.value = each)}
          >
            {`${each} ${row.layout[each]}`}
          </button>
        ))}
      </fieldset>
      <label>
        Rank{' '}
        <input
          class="amount"
          type="number"
          min={0}
          max={world - 1}
          value={rank.value}
          onInput={({ currentTarget }) =>
            void (rank.value = Math.max(0, Math.min(world - 1, Number(currentTarget.value) || 0)))
          }
        />
      </label>
      <fieldset>
        <legend>Order of ranks, fastest axis first</legend>
        {present.map((each, index) => (
          <button
            key={each}
            type="button"
            disabled={index === 0}
            onClick={() => reorder(moved(order, each, present[index - 1] as Axis))}
          >
            {index === 0 ? each : `${each} before ${present[index - 1] ?? ''}`}
          </button>
        ))}
      </fieldset>
    </div>
  );
}

/** `order` with `axis` and the one before it changed. */
const moved = (order: readonly DenseAxis[], axis: DenseAxis, before: DenseAxis): readonly DenseAxis[] =>
  order.map((each) => (each === axis ? before : each === before ? axis : each));

function groupWords(group: readonly number[], gpusPerNode: number, axis: string, rank: number): string {
  const nodes = new Set(group.map((each) => Math.floor(each / gpusPerNode))).size;
  const members = group.length > 16 ? `${group.slice(0, 16).join(', ')} \u2026` : group.join(', ');
  return `Rank ${rank} shares its ${axis} group with ranks ${members}: ${nodes === 1 ? 'all on one host' : `on ${nodes} hosts, so its traffic crosses the slower link`}.`;
}

const Coordinates = ({ rank, at }: { readonly rank: number; readonly at: Readonly<Record<string, number>> }): VNode => (
  <p>{`Rank ${rank} is tensor ${at['tensor']}, data ${at['data']}, stage ${at['pipeline']}.`}</p>
);

function Traffic({ shown, before }: { readonly shown: LayoutDrawing['shown']; readonly before: number }): VNode {
  const crossing = shown.traffic
    .filter(({ crossesNode }) => crossesNode)
    .reduce((sum, { bytesPerRank }) => sum + bytesPerRank, 0);
  return (
    <div>
      <p role="status">
        {`A rank sends ${size(crossing)} a step over links between hosts; the step takes ${time(shown.step.seconds)}~ (${signed(shown.step.seconds - before, time)} against the order of the plan).`}
      </p>
      <Scroll name="Traffic">
        <table>
          <Heads
            columns={[
              'axis',
              'exchange',
              '#a step',
              '#sent by a rank',
              'link',
              'between hosts',
              '#takes~',
              '#waited for~',
            ]}
          />
          <tbody>
            {shown.traffic.map(
              ({ axis, collective, count, bytesPerRank, link, crossesNode, seconds, exposedSeconds }) => (
                <tr key={`${axis} ${collective}`}>
                  <td>{axis}</td>
                  <td>{collective}</td>
                  <td class="number">{grouped(count)}</td>
                  <td class="number">{size(bytesPerRank)}</td>
                  <td>{link}</td>
                  <td>{crossesNode ? 'yes' : 'no'}</td>
                  <td class="number">{time(seconds)}</td>
                  <td class="number">{time(exposedSeconds)}</td>
                </tr>
              ),
            )}
          </tbody>
        </table>
      </Scroll>
    </div>
  );
}
