/** @file The layout of the selected plan: where its ranks stand, who is in a group, what travels over which link; axes can
 * be reordered and the traffic between hosts followed.
 */

import { meshOf } from '@meshwright/core/layout';
import { type DenseAxis, groupOf, worldSize } from '@meshwright/core/mesh';
import { bytesBetween, ClusterMap, mapLinks } from '@meshwright/figures';
import { type Signal, useSignal } from '@preact/signals';
import type { VNode } from 'preact';
import type { Row } from '../../app/rows.ts';
import type { Store } from '../../app/store.ts';
import type { ViewProps } from '../../app/view-props.ts';
import type { LayoutDrawing, Placed } from '../../engine/drawing.ts';
import { useAnswer } from '../../parts/answer.tsx';
import { Heads } from '../../parts/heads.tsx';
import { Markup } from '../../parts/markup.tsx';
import { useNarrow } from '../../parts/narrow.ts';
import { grouped, signed, size, time } from '../../parts/numbers.ts';
import { Pending } from '../../parts/pending.tsx';
import { Scroll } from '../../parts/scroll.tsx';
import { layoutWords } from '../plan/view.tsx';
import { OneRank } from './one-rank.tsx';
import { Order, reordered } from './order.tsx';

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
  const axis = useSignal<Axis>(movable.find((each) => row.layout[each] > 1) ?? 'data');
  const rank = useSignal(0);
  const layout = { ...row.layout, order: order.value };
  const key = `${row.short} ${JSON.stringify(scenario)} ${order.value.join('-')}`;
  // What the links carry comes first; the drawing takes longer.
  const placed = useAnswer(key, () => store.viewer.ask('placed', scenario, layout));
  const own = useAnswer(`${row.short} ${JSON.stringify(scenario)}`, () =>
    store.viewer.ask('placed', scenario, row.layout),
  );
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
        <button
          type="button"
          disabled={order.value === row.layout.order}
          onClick={() => void (order.value = row.layout.order)}
        >
          Order of the plan
        </button>
      </div>
      <MapChoices row={row} axis={axis} rank={rank} order={order} />
      <Pending known={placed.value} words="Placing the ranks of this layout." height={400}>
        {(answer) => (
          <>
            <Map placed={answer} row={row} order={order.value} axis={axis.value} rank={rank.value} />
            <OneRank store={store} row={row} layout={layout} rank={rank.value} memory={answer.shown.memory} />
            <Traffic shown={answer.shown} before={own.value.value?.shown ?? answer.shown} />
          </>
        )}
      </Pending>
      <h3>What each GPU stores, and what a step moves</h3>
      <Pending known={drawing.value} words="Drawing this layout." height={600}>
        {(answer) => <Drawn answer={answer} />}
      </Pending>
    </section>
  );
}

const Drawn = ({ answer: { svg, note } }: { readonly answer: LayoutDrawing }): VNode => (
  <>
    {note !== '' && <p class="quiet">{note}</p>}
    <Scroll name="Figure of exchanges">
      <Markup svg={svg} />
    </Scroll>
  </>
);

interface MapProps {
  readonly placed: Placed;
  readonly row: Row;
  readonly order: readonly DenseAxis[];
  readonly axis: Axis;
  readonly rank: number;
}

/** Where ranks stand, and what crosses the links. */
function Map({ placed: { shown, gpusPerNode }, row, order, axis, rank }: MapProps): VNode {
  const mesh = meshOf({ ...row.layout, order });
  const narrow = useNarrow();
  return (
    <figure>
      <Scroll name="Cluster map">
        <ClusterMap
          mesh={mesh}
          gpusPerNode={gpusPerNode}
          axis={axis}
          rank={rank}
          links={mapLinks(shown.traffic, axis)}
          width={narrow ? 360 : 1060}
        />
      </Scroll>
      <figcaption>{groupWords(groupOf(mesh, rank, [axis]), gpusPerNode, axis, rank)}</figcaption>
    </figure>
  );
}

interface MapChoicesProps {
  readonly row: Row;
  readonly axis: Signal<Axis>;
  readonly rank: Signal<number>;
  readonly order: Signal<readonly DenseAxis[]>;
}

/** Which groups the map shows, of which rank, and the order of ranks. */
function MapChoices({ row, axis, rank, order }: MapChoicesProps): VNode {
  const world = worldSize(meshOf(row.layout));
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
      <Order
        axes={order.value.filter((each) => row.layout[each] > 1)}
        reorder={(axes) => void (order.value = reordered(order.value, axes))}
      />
    </div>
  );
}

function groupWords(group: readonly number[], gpusPerNode: number, axis: string, rank: number): string {
  const nodes = new Set(group.map((each) => Math.floor(each / gpusPerNode))).size;
  const others = group.filter((each) => each !== rank);
  const members = others.length > 16 ? `${others.slice(0, 16).join(', ')} \u2026` : others.join(', ');
  return `Rank ${rank} shares its ${axis} group with ${others.length === 1 ? 'rank' : 'ranks'} ${members}: ${nodes === 1 ? 'all on one host' : `on ${nodes} hosts, so its traffic crosses the slower link`}.`;
}

/** A difference, or that there is none. */
const more = (difference: number, words: (value: number) => string): string =>
  difference === 0 ? 'no change' : signed(difference, words);

function Traffic({ shown, before }: { readonly shown: Placed['shown']; readonly before: Placed['shown'] }): VNode {
  const between = bytesBetween(shown.traffic);
  return (
    <div>
      <p role="status">
        {`A rank sends ${size(between)} a step over links between hosts (${more(between - bytesBetween(before.traffic), size)}); the step takes ${time(shown.step.seconds)}~ (${more(shown.step.seconds - before.step.seconds, time)} against the order of the plan).`}
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
