/** @file The keys of the timeline, as trace viewers have them. */
import type { Signal } from '@preact/signals';
import { isTyping } from '../../app/typing.ts';
import type { TimelineDetail } from '../../engine/timeline.ts';
import type { Area } from './area.ts';
import { type LaneRow, middle, moved, type Window, zoomed } from './lanes.ts';

/** What keys act on. */
export interface Keyed {
  readonly detail: TimelineDetail;
  readonly rows: readonly LaneRow[];
  readonly window: Signal<Window>;
  /** A slice, or -1. */
  readonly selected: Signal<number>;
  readonly area: Signal<Area | undefined>;
  /** Nanoseconds of the step. */
  readonly whole: number;
}

/** Answers a key; true when it was one of the timeline's. */
export function answerKey(event: KeyboardEvent, keyed: Keyed): boolean {
  if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event)) return false;
  const done = keyTable(keyed)[event.key];
  done?.();
  return done !== undefined;
}

function keyTable(keyed: Keyed): Readonly<Record<string, () => void>> {
  const { detail, rows, window, selected, area, whole } = keyed;
  const zoom = (factor: number) => (): void =>
    void (window.value = zoomed(window.value, factor, middle(window.value), whole));
  const move = (share: number) => (): void => void (window.value = moved(window.value, share, whole));
  const fit = (): void => {
    if (selected.value < 0) return;
    const [start, end] = [detail.start[selected.value] ?? 0, detail.end[selected.value] ?? 0];
    window.value = zoomed({ from: start, to: Math.max(end, start + 1) }, 3, (start + end) / 2, whole);
  };
  return {
    w: zoom(0.6),
    s: zoom(1 / 0.6),
    a: move(-0.25),
    d: move(0.25),
    '.': () => along(keyed, 1),
    ',': () => along(keyed, -1),
    ArrowRight: () => along(keyed, 1),
    ArrowLeft: () => along(keyed, -1),
    ArrowDown: () => across(keyed, 1),
    ArrowUp: () => across(keyed, -1),
    f: fit,
    '0': () => void (window.value = { from: 0, to: whole }),
    m: () => void (area.value = { ...window.value, firstRow: 0, lastRow: rows.length - 1 }),
    Escape: () => {
      selected.value = -1;
      area.value = undefined;
    },
  };
}

const rowOf = ({ detail, rows }: Keyed, slice: number): number =>
  Math.max(
    0,
    rows.findIndex(({ rank, lane }) => rank === detail.rank[slice] && lane === detail.lanes[detail.lane[slice] ?? 0]),
  );

/** Selects a slice, and moves the window to it when it is out of sight. */
function choose({ detail, window, selected, whole }: Keyed, slice: number | undefined): void {
  if (slice === undefined) return;
  selected.value = slice;
  const [start, end] = [detail.start[slice] ?? 0, detail.end[slice] ?? 0];
  const { from, to } = window.value;
  if (start < from || end > to) window.value = moved(window.value, (start - from) / (to - from) - 0.1, whole);
}

function along(keyed: Keyed, by: number): void {
  const { rows, selected } = keyed;
  const row = rows[rowOf(keyed, selected.value)];
  if (!row) return;
  const at = selected.value < 0 ? -1 : row.slices.indexOf(selected.value);
  choose(keyed, row.slices[Math.max(0, Math.min(row.slices.length - 1, at + by))]);
}

/** The next lane, at the time of the selected slice. */
function across(keyed: Keyed, by: number): void {
  const { detail, rows, selected } = keyed;
  const row = rows[Math.max(0, Math.min(rows.length - 1, rowOf(keyed, selected.value) + by))];
  if (!row) return;
  const at = selected.value < 0 ? 0 : (detail.start[selected.value] ?? 0);
  choose(keyed, row.slices.find((slice) => (detail.end[slice] ?? 0) > at) ?? row.slices.at(-1));
}
