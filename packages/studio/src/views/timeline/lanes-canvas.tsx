/** @file The canvas of the lanes: painted when something changes, with its keys, a click that selects a slice and a drag that
 * selects an area.
 */
import { dark, light } from '@meshwright/figures';
import type { Signal } from '@preact/signals';
import type { VNode } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { TimelineDetail } from '../../engine/timeline.ts';
import { type Area, areaBetween } from './area.ts';
import { answerKey } from './keys.ts';
import { type LaneRow, sliceAt, type Window, zoomed } from './lanes.ts';
import { type Paints, paint } from './paint.ts';

/** Pixels left of the lanes, on a canvas of some width. */
export const leftOf = (width: number): number => (width < 500 ? 92 : 128);
/** Pixels above the lanes, and of a row. */
const [top, rowHeight] = [26, 22] as const;

/** Pixels that a pointer moves before a press is a drag. */
const DRAG = 4;

export function LanesCanvas({
  whole,
  describedBy,
  ...painting
}: Painting & { readonly whole: number; readonly describedBy: string }): VNode {
  const { detail, rows, window, selected, area } = painting;
  const canvas = useRef<HTMLCanvasElement>(null);
  const pressed = useRef<Place | undefined>(undefined);
  usePainting(canvas, painting);
  return (
    <canvas
      ref={canvas}
      class="timeline"
      tabIndex={0}
      aria-label="Timeline: w and s zoom, a and d move, full stop and comma go from slice to slice, up and down change the lane, m sums what is seen"
      aria-describedby={describedBy}
      style={{ height: `${top + rows.length * rowHeight}px` }}
      onKeyDown={(event) => {
        if (!answerKey(event, { detail, rows, window, selected, area, whole })) return;
        event.preventDefault();
        event.stopPropagation();
      }}
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId);
        pressed.current = placeOf(event, window.value);
      }}
      onPointerMove={(event) => {
        const from = pressed.current;
        if (from === undefined || Math.abs(event.clientX - from.x) < DRAG) return;
        area.value = areaBetween(from, placeOf(event, window.value), rows.length, whole);
      }}
      onPointerUp={(event) => {
        const from = pressed.current;
        pressed.current = undefined;
        if (from === undefined || Math.abs(event.clientX - from.x) >= DRAG) return;
        const row = rows[from.row];
        selected.value = row ? sliceAt(row, from.time) : -1;
      }}
      onPointerCancel={() => void (pressed.current = undefined)}
      onWheel={(event) => {
        if (!event.ctrlKey) return;
        event.preventDefault();
        window.value = zoomed(window.value, event.deltaY > 0 ? 1.25 : 0.8, placeOf(event, window.value).time, whole);
      }}
    />
  );
}

/** Where a pointer is. */
interface Place {
  readonly x: number;
  readonly time: number;
  readonly row: number;
}

function placeOf(event: MouseEvent, { from, to }: Window): Place {
  const box = (event.currentTarget as HTMLElement).getBoundingClientRect();
  const left = leftOf(box.width);
  return {
    x: event.clientX,
    time: from + ((event.clientX - box.left - left) / (box.width - left)) * (to - from),
    row: Math.floor((event.clientY - box.top - top) / rowHeight),
  };
}

/** What is drawn and changed. */
interface Painting {
  readonly detail: TimelineDetail;
  readonly rows: readonly LaneRow[];
  readonly window: Signal<Window>;
  readonly selected: Signal<number>;
  readonly showCritical: Signal<boolean>;
  readonly area: Signal<Area | undefined>;
  /** What predicted times are multiplied with, where there are any. */
  readonly predictedScale: number;
}

function usePainting(
  canvas: { readonly current: HTMLCanvasElement | null },
  { detail, rows, window, selected, showCritical, area, predictedScale }: Painting,
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
      left: leftOf(width),
      top,
      rowHeight,
      paints: paintsOf(),
      selected: selected.value,
      showCritical: showCritical.value,
      area: area.value,
      predictedScale,
    });
    performance.measure('timeline-paint', 'paint-begin');
  };
  useEffect(() => {
    const frame = requestAnimationFrame(draw);
    return () => cancelAnimationFrame(frame);
  }, [detail, value, selected.value, showCritical.value, area.value, predictedScale]);
  useEffect(() => {
    addEventListener('resize', draw);
    return () => removeEventListener('resize', draw);
  });
}

/** The colours of the theme that the page has now. */
export function paintsOf(): Paints {
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
