/** @file The simulated step of the selected plan in time: lanes of each stage, zoomed and moved like a trace viewer, with the
 * critical path, why the computing waits, and the reason of every slice.
 */

import { dark, light } from '@meshwright/figures';
import { type Signal, useSignal } from '@preact/signals';
import type { VNode } from 'preact';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import type { Row } from '../../app/rows.ts';
import type { Store } from '../../app/store.ts';
import type { ViewProps } from '../../app/view-props.ts';
import type { TimelineDetail } from '../../engine/timeline.ts';
import { useAnswer } from '../../parts/answer.tsx';
import { time } from '../../parts/numbers.ts';
import { Pending } from '../../parts/pending.tsx';
import { layoutWords } from '../plan/view.tsx';
import { AsFigure, IdleTable } from './below.tsx';
import { answerKey } from './keys.ts';
import { type LaneRow, laneRows, middle, moved, sliceAt, type Window, zoomed } from './lanes.ts';
import { type Paints, paint } from './paint.ts';

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

const [left, top, rowHeight] = [128, 26, 22] as const;

/** The canvas with its keys; drawing happens on settle. */
export function Lanes({ detail }: { readonly detail: TimelineDetail }): VNode {
  const whole = detail.seconds * 1e9;
  const rows = useMemo(() => laneRows(detail), [detail]);
  const window = useSignal<Window>({ from: 0, to: whole });
  const selected = useSignal(-1);
  const showCritical = useSignal(true);
  const canvas = useRef<HTMLCanvasElement>(null);
  const height = top + rows.length * rowHeight;
  usePainting(canvas, { detail, rows, window, selected, showCritical });
  return (
    <div>
      <LaneControls detail={detail} window={window} showCritical={showCritical} whole={whole} />
      <canvas
        ref={canvas}
        class="timeline"
        tabIndex={0}
        aria-label="Timeline: w and s zoom, a and d move, full stop and comma go from slice to slice, up and down change the lane"
        aria-describedby="slice"
        style={{ height: `${height}px` }}
        onKeyDown={(event) => {
          if (!answerKey(event, { detail, rows, window, selected, whole })) return;
          event.preventDefault();
          event.stopPropagation();
        }}
        onPointerDown={(event) => pick(event, rows, window.value, selected)}
        onWheel={(event) => {
          if (!event.ctrlKey) return;
          event.preventDefault();
          const box = event.currentTarget.getBoundingClientRect();
          const at =
            window.value.from +
            ((event.clientX - box.left - left) / (box.width - left)) * (window.value.to - window.value.from);
          window.value = zoomed(window.value, event.deltaY > 0 ? 1.25 : 0.8, at, whole);
        }}
      />
      <Legend kinds={detail.kinds} />
      <p id="slice" aria-live="polite" class="slice">
        {selected.value < 0 ? 'No slice selected. Click one, or press full stop.' : sliceWords(detail, selected.value)}
      </p>
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

interface Painting {
  readonly detail: TimelineDetail;
  readonly rows: readonly LaneRow[];
  readonly window: Signal<Window>;
  readonly selected: Signal<number>;
  readonly showCritical: Signal<boolean>;
}

function usePainting(
  canvas: { readonly current: HTMLCanvasElement | null },
  { detail, rows, window, selected, showCritical }: Painting,
): void {
  const { value } = window;
  const draw = (): void => {
    const element = canvas.current;
    const context = element?.getContext('2d');
    if (!element || !context) return;
    const ratio = Math.min(2, devicePixelRatio || 1);
    const width = element.clientWidth;
    const height = top + rows.length * rowHeight;
    if (element.width !== width * ratio || element.height !== height * ratio) {
      element.width = width * ratio;
      element.height = height * ratio;
    }
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    performance.mark('paint-begin');
    paint(context, {
      detail,
      rows,
      window: value,
      width,
      left,
      top,
      rowHeight,
      paints: paintsOf(),
      selected: selected.value,
      showCritical: showCritical.value,
    });
    performance.measure('timeline-paint', 'paint-begin');
  };
  useEffect(() => {
    const frame = requestAnimationFrame(draw);
    return () => cancelAnimationFrame(frame);
  }, [detail, value, selected.value, showCritical.value]);
  useEffect(() => {
    addEventListener('resize', draw);
    return () => removeEventListener('resize', draw);
  });
}

/** The colours of the theme that the page has now. */
function paintsOf(): Paints {
  const chosen = document.documentElement.dataset['theme'];
  const theme =
    chosen === 'dark' || (chosen !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches) ? dark : light;
  const { forward, backward, optimizer, collective, send } = theme.operation;
  return {
    kinds: [forward, backward, optimizer, collective, send, theme.surface.quiet],
    background: theme.surface.background,
    idle: theme.surface.line,
    text: theme.surface.text,
    quiet: theme.surface.quiet,
  };
}

function pick(event: PointerEvent, rows: readonly LaneRow[], { from, to }: Window, selected: Signal<number>): void {
  const box = (event.currentTarget as HTMLElement).getBoundingClientRect();
  const row = rows[Math.floor((event.clientY - box.top - top) / rowHeight)];
  const at = from + ((event.clientX - box.left - left) / (box.width - left)) * (to - from);
  selected.value = row ? sliceAt(row, at) : -1;
}

function sliceWords(detail: TimelineDetail, slice: number): string {
  const [start, end] = [(detail.start[slice] ?? 0) / 1e9, (detail.end[slice] ?? 0) / 1e9];
  const lane = detail.lanes[detail.lane[slice] ?? 0];
  const isCritical = detail.critical.includes(slice);
  return `Rank ${detail.rank[slice]}, ${lane}: ${detail.whys[detail.why[slice] ?? 0]}. It takes ${time(end - start)}~ from ${time(start)} on${isCritical ? ' and is on the critical path' : ''}.`;
}

const kindWords: Readonly<Record<string, string>> = {
  forward: 'forward',
  backward: 'backward',
  optimizer: 'norm and optimizer',
  collective: 'collective',
  send: 'send or receive',
  host: 'host',
};

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
