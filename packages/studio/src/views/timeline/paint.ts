/** @file Painting a timeline. Many slices are rasterised first, a byte for each pixel of a row, and painted run by run (cost:
 * slices and pixels, not rectangles); few are rectangles with labels. What is idle is the hatched background.
 */
import type { TimelineDetail } from '../../engine/timeline.ts';
import type { Area } from './area.ts';
import { firstEndingAfter, type LaneRow, type Window } from './lanes.ts';
import { paintOutlines } from './outline.ts';
import { channels, imageOf, rasterOf } from './raster.ts';

/** Colours of a theme, by kind of slice, as `#rrggbb`. */
export interface Paints {
  readonly kinds: readonly string[];
  readonly background: string;
  readonly idle: string;
  readonly text: string;
  readonly quiet: string;
}

/** What is painted, in pixels of the canvas. */
export interface Scene {
  readonly detail: TimelineDetail;
  readonly rows: readonly LaneRow[];
  readonly window: Window;
  readonly width: number;
  readonly left: number;
  readonly top: number;
  readonly rowHeight: number;
  readonly paints: Paints;
  readonly selected: number;
  readonly showCritical: boolean;
  readonly area?: Area | undefined;
  /** What predicted times are multiplied with, where there are any. */
  readonly predictedScale: number;
}

/** More slices in sight than this are rasterised. */
const RASTER_FROM = 4_000;

/** Paints the scene; answers how many slices were in sight. */
export function paint(context: CanvasRenderingContext2D, scene: Scene): number {
  const { rows, window, width, left, top, rowHeight, paints } = scene;
  const height = top + rows.length * rowHeight;
  context.fillStyle = paints.background;
  context.fillRect(0, 0, width, height);
  ruler(context, scene);
  const visible = rows.map(
    (row) =>
      [firstEndingAfter(row, window.from), Math.min(row.end.length, firstEndingAfter(row, window.to) + 1)] as const,
  );
  const count = visible.reduce((sum, [from, to]) => sum + to - from, 0);
  hatch(context, scene, height);
  if (count > RASTER_FROM)
    paintRows(context, rows, window, { left, top, width: width - left, rowHeight, gap: 2 }, paints.kinds);
  else rectangles(context, scene, visible);
  paintOutlines(context, rows, window, scene.predictedScale, { width, left, top, rowHeight, colour: paints.quiet });
  context.font = '11px system-ui, sans-serif';
  rows.forEach(({ rank, lane }, index) => {
    context.fillStyle = paints.background;
    context.fillRect(0, top + index * rowHeight, left, rowHeight);
    context.fillStyle = paints.text;
    const first = rows[index - 1]?.rank !== rank;
    context.fillText(
      left < 100 ? `${first ? `r${rank}` : ''}` : first ? `rank ${rank}` : '',
      4,
      top + index * rowHeight + rowHeight - 6,
      left - 8,
    );
    context.fillText(
      lane,
      left < 100 ? 30 : 55,
      top + index * rowHeight + rowHeight - 6,
      left - (left < 100 ? 34 : 59),
    );
  });
  if (scene.showCritical) critical(context, scene);
  shade(context, scene);
  mark(context, scene);
  return count;
}

/** Pixels between two ticks at least: their labels stand side by side. */
const LEAST_TICK = 80;

/** The next of 1, 2, 5 and their tens that is no shorter than `least`. */
function tickOf(least: number): number {
  const power = 10 ** Math.floor(Math.log10(least));
  return power * ([1, 2, 5].find((each) => each * power >= least) ?? 10);
}

function ruler(context: CanvasRenderingContext2D, { window, width, left, top, paints }: Scene): void {
  const span = window.to - window.from;
  const tick = tickOf(span / Math.max(1, Math.floor((width - left) / LEAST_TICK)));
  context.font = '11px system-ui, sans-serif';
  context.fillStyle = paints.quiet;
  for (let at = Math.ceil(window.from / tick) * tick; at <= window.to; at += tick) {
    const x = left + ((at - window.from) / span) * (width - left);
    context.fillRect(x, top - 5, 1, 5);
    const words = `${(at / 1e6).toLocaleString('en-US', { maximumFractionDigits: 3 })} ms`;
    // A label that would be cut is left out: its line still stands.
    if (x + 3 + context.measureText(words).width <= width) context.fillText(words, x + 3, top - 7);
  }
}

function hatch(
  context: CanvasRenderingContext2D,
  { left, top, width, rows, rowHeight, paints }: Scene,
  height: number,
): void {
  context.save();
  context.beginPath();
  rows.forEach(({ lane }, index) => {
    if (lane === 'compute') context.rect(left, top + index * rowHeight + 2, width - left, rowHeight - 4);
  });
  context.clip();
  context.strokeStyle = paints.idle;
  context.beginPath();
  for (let x = left - height; x < width; x += 7) {
    context.moveTo(x, height);
    context.lineTo(x + height, 0);
  }
  context.stroke();
  context.restore();
}

type Visible = readonly (readonly [from: number, to: number])[];

/** Where rows are painted, in pixels; `gap` is left free above and below each. */
export interface RowsPlace {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly rowHeight: number;
  readonly gap: number;
}

/** All slices as one image, a pixel high for each row, stretched over the rows; where nothing runs the ground stays. */
export function paintRows(
  context: CanvasRenderingContext2D,
  rows: readonly LaneRow[],
  window: Window,
  { left, top, width, rowHeight, gap }: RowsPlace,
  colours: readonly string[],
): void {
  const inner = Math.max(1, Math.floor(width));
  const canvas = new OffscreenCanvas(inner, rows.length);
  canvas.getContext('2d')?.putImageData(imageOf(rasterOf(rows, window, inner), inner, colours), 0, 0);
  context.imageSmoothingEnabled = false;
  rows.forEach((_, index) => {
    const y = top + index * rowHeight + gap;
    context.drawImage(canvas, 0, index, inner, 1, left, y, inner, rowHeight - 2 * gap);
  });
}

/** The selected area: framed and shaded. */
function shade(context: CanvasRenderingContext2D, { area, window, width, left, top, rowHeight, paints }: Scene): void {
  if (!area) return;
  const placed = (time: number): number =>
    Math.max(left, Math.min(width, left + ((time - window.from) / (window.to - window.from)) * (width - left)));
  const [from, to] = [placed(area.from), placed(area.to)];
  const y = top + area.firstRow * rowHeight;
  const height = (area.lastRow - area.firstRow + 1) * rowHeight;
  context.strokeStyle = paints.text;
  context.setLineDash([2, 2]);
  context.strokeRect(from, y + 0.5, Math.max(1, to - from), height - 1);
  context.setLineDash([]);
  context.globalAlpha = 0.12;
  context.fillStyle = paints.text;
  context.fillRect(from, y, Math.max(1, to - from), height);
  context.globalAlpha = 1;
}

function rectangles(context: CanvasRenderingContext2D, scene: Scene, visible: Visible): void {
  const { detail, rows, window, width, left, top, rowHeight, paints } = scene;
  const scale = (width - left) / (window.to - window.from);
  context.font = '10px system-ui, sans-serif';
  rows.forEach((row, index) => {
    const [from, to] = visible[index] ?? [0, 0];
    for (let at = from; at < to; at++) {
      const slice = row.slices[at] as number;
      const x = left + Math.max(0, ((detail.start[slice] as number) - window.from) * scale);
      const until = left + Math.min(width - left, ((detail.end[slice] as number) - window.from) * scale);
      const size = Math.max(0.7, until - x - (until - x > 3 ? 0.6 : 0));
      context.fillStyle = paints.kinds[detail.kind[slice] as number] ?? paints.text;
      context.fillRect(x, top + index * rowHeight + 2, size, rowHeight - 4);
      if (size < 40) continue;
      context.save();
      context.beginPath();
      context.rect(x, top + index * rowHeight + 2, size, rowHeight - 4);
      context.clip();
      context.fillStyle = labelOn(paints.kinds[detail.kind[slice] as number] ?? '#000000');
      context.fillText(
        detail.whys[detail.why[slice] as number]?.split(', because')[0] ?? '',
        x + 3,
        top + index * rowHeight + rowHeight - 7,
      );
      context.restore();
    }
  });
}

/** Black or white, whichever stands out more. */
function labelOn(colour: string): string {
  const [red = 0, green = 0, blue = 0] = channels(colour).map((value) => (value / 255) ** 2.2);
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.18 ? '#000000' : '#ffffff';
}

/** The critical path: a line below the slices that are on it. */
function critical(
  context: CanvasRenderingContext2D,
  { detail, rows, window, width, left, top, rowHeight, paints }: Scene,
): void {
  const scale = (width - left) / (window.to - window.from);
  const places = new Map(rows.map(({ rank, lane }, index) => [`${rank} ${lane}`, index]));
  context.strokeStyle = paints.text;
  context.lineWidth = 2;
  context.beginPath();
  for (const slice of detail.critical) {
    const [from, to] = [detail.start[slice] as number, detail.end[slice] as number];
    if (to < window.from || from > window.to) continue;
    const row = places.get(`${detail.rank[slice]} ${detail.lanes[detail.lane[slice] as number]}`);
    if (row === undefined) continue;
    const y = top + row * rowHeight + rowHeight - 1;
    context.moveTo(left + Math.max(0, (from - window.from) * scale), y);
    context.lineTo(left + Math.min(width - left, (to - window.from) * scale), y);
  }
  context.stroke();
  context.lineWidth = 1;
}

/** The selected slice framed, and an arrow to the slice that it meets in another rank. */
function mark(
  context: CanvasRenderingContext2D,
  { detail, rows, window, width, left, top, rowHeight, paints, selected }: Scene,
): void {
  if (selected < 0) return;
  const scale = (width - left) / (window.to - window.from);
  const placeOf = (slice: number): readonly [number, number, number] => {
    const row = rows.findIndex(
      ({ rank, lane }) => rank === detail.rank[slice] && lane === detail.lanes[detail.lane[slice] as number],
    );
    const x = left + ((detail.start[slice] as number) - window.from) * scale;
    return [
      x,
      top + row * rowHeight,
      Math.max(2, ((detail.end[slice] as number) - (detail.start[slice] as number)) * scale),
    ];
  };
  context.strokeStyle = paints.text;
  context.lineWidth = 2;
  const [x, y, size] = placeOf(selected);
  context.strokeRect(Math.max(left, x), y + 1, Math.min(size, width - Math.max(left, x)), rowHeight - 2);
  const partner = detail.partner[selected] ?? -1;
  if (partner >= 0) {
    const [otherX, otherY] = placeOf(partner);
    context.setLineDash([5, 3]);
    context.beginPath();
    context.moveTo(x + 2, y + rowHeight / 2);
    context.lineTo(otherX + 2, otherY + rowHeight / 2);
    context.stroke();
    context.setLineDash([]);
  }
  context.lineWidth = 1;
}
