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
import { grouped, time } from '../../parts/numbers.ts';
import { Pending } from '../../parts/pending.tsx';
import { layoutWords } from '../plan/view.tsx';
import type { Area } from './area.ts';
import { AreaTable } from './area-table.tsx';
import { AsFigure, IdleTable } from './below.tsx';
import { kindWords } from './kind-words.ts';
import { laneRows, middle, moved, type Window, zoomed } from './lanes.ts';
import { LanesCanvas, left, paintsOf } from './lanes-canvas.tsx';
import { OverlayTable, overlayWords } from './measured.tsx';
import { Minimap } from './minimap.tsx';

export function TimelineView({ store }: ViewProps): VNode {
  const row = store.selected.value;
  return (
    <>
      <Dropped store={store} />
      {row ? <OfRow key={row.short} store={store} row={row} /> : <p role="status">No plan yet.</p>}
    </>
  );
}

/** A trace that was dropped: measured, as it was written. */
function Dropped({ store }: { readonly store: Store }): VNode | null {
  const trace = store.trace.value;
  if (!trace) return null;
  const { name, detail, overlay } = trace;
  return (
    <section aria-label="Dropped trace">
      <h2>{name}</h2>
      <p class="actions">
        <span class="quiet">
          {typeof overlay === 'object'
            ? 'Measured below simulated, lane by lane, on one scale.'
            : 'As it was written: nothing of it is assumed. Coloured by the names of its operations.'}
        </span>
        <button type="button" onClick={() => void (store.trace.value = undefined)}>
          Close
        </button>
      </p>
      {overlay !== undefined && (
        <p role="status">
          {typeof overlay === 'object'
            ? overlayWords(overlay)
            : `It is not laid over the simulated step: ${overlay}. Open the scenario of its job and drop it again.`}
        </p>
      )}
      <Lanes
        key={name}
        id="trace-slice"
        detail={typeof overlay === 'object' ? overlay.detail : detail}
        says={`${time(detail.seconds)}, ${grouped(detail.rank.length)} operations.`}
      />
      {typeof overlay === 'object' && <OverlayTable overlay={overlay} />}
    </section>
  );
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
        {(value) => (
          <>
            <Lanes
              id="slice"
              detail={value}
              says={`${time(value.seconds)}~ simulated. ${value.note} Each rank stands for ${value.alike} that run alike.`}
            />
            <IdleTable detail={value} />
          </>
        )}
      </Pending>
      <AsFigure store={store} row={row} />
    </section>
  );
}

interface LanesProps {
  /** Of the line that tells of the selected slice. */
  readonly id: string;
  readonly detail: TimelineDetail;
  readonly says: string;
}

/** The lanes with all that belongs to them. */
export function Lanes({ id, detail, says }: LanesProps): VNode {
  const whole = detail.seconds * 1e9;
  const rows = useMemo(() => laneRows(detail), [detail]);
  const window = useSignal<Window>({ from: 0, to: whole });
  const selected = useSignal(-1);
  const showCritical = useSignal(true);
  const area = useSignal<Area | undefined>(undefined);
  return (
    <div>
      <LaneControls says={says} window={window} showCritical={showCritical} whole={whole} />
      <Minimap rows={rows} window={window} whole={whole} left={left} paints={paintsOf} />
      <LanesCanvas
        describedBy={id}
        detail={detail}
        rows={rows}
        window={window}
        selected={selected}
        showCritical={showCritical}
        area={area}
        whole={whole}
      />
      <Legend kinds={detail.kinds} />
      <p id={id} aria-live="polite" class="slice">
        {selected.value < 0
          ? 'No slice selected. Click one, or press full stop. Drag over lanes, or press m, to sum what runs there.'
          : sliceWords(detail, selected.value)}
      </p>
      <AreaTable detail={detail} rows={rows} area={area} />
    </div>
  );
}

interface ControlsProps {
  readonly says: string;
  readonly window: Signal<Window>;
  readonly showCritical: Signal<boolean>;
  readonly whole: number;
}

function LaneControls({ says, window, showCritical, whole }: ControlsProps): VNode {
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
      <span class="quiet numbers">{says}</span>
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
