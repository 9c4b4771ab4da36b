/** @file The simulated step of the selected plan in time: lanes of each stage, zoomed and moved like a trace viewer, with the
 * critical path, why the computing waits, and the reason of every slice.
 */

import { type Signal, useSignal } from '@preact/signals';
import type { ComponentChildren, VNode } from 'preact';
import { useEffect, useMemo } from 'preact/hooks';
import type { Row } from '../../app/rows.ts';
import type { Store } from '../../app/store.ts';
import type { ViewProps } from '../../app/view-props.ts';
import type { TimelineDetail } from '../../engine/timeline.ts';
import { useAnswer } from '../../parts/answer.tsx';
import { grouped, signed, time } from '../../parts/numbers.ts';
import { Pending } from '../../parts/pending.tsx';
import { layoutWords } from '../plan/view.tsx';
import type { Area } from './area.ts';
import { AreaTable } from './area-table.tsx';
import { AsFigure, IdleTable } from './below.tsx';
import { kindWords } from './kind-words.ts';
import { laneRows, middle, moved, type Window, zoomed } from './lanes.ts';
import { LanesCanvas, leftOf, paintsOf } from './lanes-canvas.tsx';
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
            ? 'Measured (filled) over predicted (outlined), lane by lane.'
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

/** Further apart than this, a measured and a predicted step are each shown over the whole width at first. */
const APART = 2;

/** The lanes with all that belongs to them. */
export function Lanes({ id, detail, says }: LanesProps): VNode {
  const { predicted } = detail;
  const ratio = predicted ? detail.seconds / predicted.seconds : 1;
  const ownScale = useSignal(Math.max(ratio, 1 / ratio) > APART);
  const predictedScale = ownScale.value ? ratio : 1;
  const whole = Math.max(detail.seconds, (predicted?.seconds ?? 0) * predictedScale) * 1e9;
  const rows = useMemo(() => laneRows(detail), [detail]);
  const window = useSignal<Window>({ from: 0, to: whole });
  const selected = useSignal(-1);
  const showCritical = useSignal(true);
  const area = useSignal<Area | undefined>(undefined);
  useEffect(() => void (window.value = { from: 0, to: whole }), [whole]);
  return (
    <div>
      <LaneControls says={says} window={window} whole={whole}>
        {predicted === undefined ? (
          <Toggle words="Critical path" on={showCritical} />
        ) : (
          <Toggle words="Prediction stretched to the measured step" on={ownScale} />
        )}
      </LaneControls>
      <Minimap rows={rows} window={window} whole={whole} left={leftOf} paints={paintsOf} />
      <LanesCanvas
        describedBy={id}
        detail={detail}
        rows={rows}
        window={window}
        selected={selected}
        showCritical={showCritical}
        area={area}
        predictedScale={predictedScale}
        whole={whole}
      />
      <Legend detail={detail} />
      <p id={id} aria-live="polite" class="slice">
        {selected.value < 0
          ? 'No slice selected. Click one, or press full stop. Drag over lanes, or press m, to sum what runs there.'
          : sliceWords(detail, selected.value)}
      </p>
      <AreaTable detail={detail} rows={rows} area={area} />
    </div>
  );
}

const Toggle = ({ words, on }: { readonly words: string; readonly on: Signal<boolean> }): VNode => (
  <button type="button" aria-pressed={on.value} onClick={() => void (on.value = !on.value)}>
    {words}
  </button>
);

interface ControlsProps {
  readonly says: string;
  readonly window: Signal<Window>;
  readonly whole: number;
  readonly children: ComponentChildren;
}

function LaneControls({ says, window, whole, children }: ControlsProps): VNode {
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
      {children}
      <span class="quiet numbers">{says}</span>
    </fieldset>
  );
}

function sliceWords(detail: TimelineDetail, slice: number): string {
  const [start, end] = [(detail.start[slice] ?? 0) / 1e9, (detail.end[slice] ?? 0) / 1e9];
  const lane = detail.lanes[detail.lane[slice] ?? 0];
  const what = `Rank ${detail.rank[slice]}, ${lane}: ${detail.whys[detail.why[slice] ?? 0]}.`;
  const { predicted } = detail;
  if (predicted) {
    const [from, to] = [(predicted.start[slice] ?? 0) / 1e9, (predicted.end[slice] ?? 0) / 1e9];
    return `${what} Measured: ${time(end - start)} from ${time(start)} on. Predicted: ${time(to - from)}~ from ${time(from)} on. It took ${signed(end - start - (to - from), time)} against the prediction.`;
  }
  const isCritical = detail.critical.includes(slice);
  return `${what} It takes ${time(end - start)}~ from ${time(start)} on${isCritical ? ' and is on the critical path' : ''}.`;
}

const Legend = ({ detail: { kinds, predicted, critical } }: { readonly detail: TimelineDetail }): VNode => (
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
    {critical.length > 0 && <li>line below: critical path</li>}
    {predicted && <li>filled: measured; outlined: predicted~</li>}
  </ul>
);
