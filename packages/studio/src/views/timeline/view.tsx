/** @file The simulated step of the selected plan in time: lanes of each stage, zoomed and moved like a trace viewer, with the
 * critical path, why the computing waits, and the reason of every slice.
 */

import { type Signal, useSignal } from '@preact/signals';
import type { VNode } from 'preact';
import { useMemo } from 'preact/hooks';
import type { Row } from '../../app/rows.ts';
import type { Store } from '../../app/store.ts';
import type { ViewProps } from '../../app/view-props.ts';
import type { TimelineDetail } from '../../engine/timeline.ts';
import { useAnswer } from '../../parts/answer.tsx';
import { time } from '../../parts/numbers.ts';
import { Pending } from '../../parts/pending.tsx';
import { layoutWords } from '../plan/view.tsx';
import type { Area } from './area.ts';
import { AreaTable } from './area-table.tsx';
import { AsFigure, IdleTable } from './below.tsx';
import { kindWords } from './kind-words.ts';
import { laneRows, middle, moved, type Window, zoomed } from './lanes.ts';
import { LanesCanvas, left, paintsOf } from './lanes-canvas.tsx';
import { Minimap } from './minimap.tsx';

export function TimelineView({ store }: ViewProps): VNode {
  const row = store.selected.value;
  if (!row) return <p role="status">No plan yet.</p>;
  return <OfRow key={row.short} store={store} row={row} />;
}

function OfRow({ store, row }: { readonly store: Store; readonly row: Row }): VNode {
  const { scenario } = store.place.value;
  const detail = useAnswer(`${row.short} ${JSON.stringify(scenario)}`, () =>
    store.viewer.ask('timeline', scenario, row.layout),
  );
  return (
    <section aria-label="Timeline">
      <h2>{layoutWords(row)}</h2>
      <Pending known={detail.value} words="Simulating the step operation by operation." height={420}>
        {(value) => <Lanes detail={value} />}
      </Pending>
      <AsFigure store={store} row={row} />
    </section>
  );
}

/** The lanes with all that belongs to them. */
export function Lanes({ detail }: { readonly detail: TimelineDetail }): VNode {
  const whole = detail.seconds * 1e9;
  const rows = useMemo(() => laneRows(detail), [detail]);
  const window = useSignal<Window>({ from: 0, to: whole });
  const selected = useSignal(-1);
  const showCritical = useSignal(true);
  const area = useSignal<Area | undefined>(undefined);
  return (
    <div>
      <LaneControls detail={detail} window={window} showCritical={showCritical} whole={whole} />
      <Minimap rows={rows} window={window} whole={whole} left={left} paints={paintsOf} />
      <LanesCanvas
        detail={detail}
        rows={rows}
        window={window}
        selected={selected}
        showCritical={showCritical}
        area={area}
        whole={whole}
      />
      <Legend kinds={detail.kinds} />
      <p id="slice" aria-live="polite" class="slice">
        {selected.value < 0
          ? 'No slice selected. Click one, or press full stop. Drag over lanes, or press m, to sum what runs there.'
          : sliceWords(detail, selected.value)}
      </p>
      <AreaTable detail={detail} rows={rows} area={area} />
      <IdleTable detail={detail} />
    </div>
  );
}

interface ControlsProps {
  readonly detail: TimelineDetail;
  readonly window: Signal<Window>;
  readonly showCritical: Signal<boolean>;
  readonly whole: number;
}

function LaneControls({ detail, window, showCritical, whole }: ControlsProps): VNode {
  const seen = window.value;
  const moves: readonly (readonly [string, () => Window])[] = [
    ['Zoom in', () => zoomed(seen, 0.5, middle(seen), whole)],
    ['Zoom out', () => zoomed(seen, 2, middle(seen), whole)],
    ['Left', () => moved(seen, -0.5, whole)],
    ['Right', () => moved(seen, 0.5, whole)],
    ['Fit all', () => ({ from: 0, to: whole })],
  ];
  return (
    <fieldset class="controls" aria-label="Timeline">
      {moves.map(([words, next]) => (
        <button key={words} type="button" onClick={() => void (window.value = next())}>
          {words}
        </button>
      ))}
      <button
        type="button"
        aria-pressed={showCritical.value}
        onClick={() => void (showCritical.value = !showCritical.value)}
      >
        Critical path
      </button>
      <span class="quiet numbers">{`${time(detail.seconds)}~ simulated. ${detail.note} Each rank stands for ${detail.alike} that run alike.`}</span>
    </fieldset>
  );
}

function sliceWords(detail: TimelineDetail, slice: number): string {
  const [start, end] = [(detail.start[slice] ?? 0) / 1e9, (detail.end[slice] ?? 0) / 1e9];
  const lane = detail.lanes[detail.lane[slice] ?? 0];
  const isCritical = detail.critical.includes(slice);
  return `Rank ${detail.rank[slice]}, ${lane}: ${detail.whys[detail.why[slice] ?? 0]}. It takes ${time(end - start)}~ from ${time(start)} on${isCritical ? ' and is on the critical path' : ''}.`;
}

const Legend = ({ kinds }: { readonly kinds: TimelineDetail['kinds'] }): VNode => (
  <ul class="legend">
    {kinds
      .filter((kind) => kind !== 'host')
      .map((kind) => (
        <li key={kind}>
          <svg width="12" height="12" aria-hidden="true">
            <rect width="12" height="12" fill={`var(--mw-op-${kind})`} />
          </svg>{' '}
          {kindWords[kind]}
        </li>
      ))}
    <li>hatched: computing is idle</li>
    <li>line below: critical path</li>
  </ul>
);
