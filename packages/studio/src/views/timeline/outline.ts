/** @file Where a measured step was predicted to be: outlines over its slices, in the same lanes. */
import { joined, type LaneRow, type Window } from './lanes.ts';

/** Where outlines are painted, in pixels. */
interface OutlinePlace {
  readonly width: number;
  readonly left: number;
  readonly top: number;
  readonly rowHeight: number;
  readonly colour: string;
}

/** Pixels that tell two outlines apart. */
const GAP = 3;

/** Paints the outlines of all rows; predicted times are multiplied by `scale`. What would touch is one outline. */
export function paintOutlines(
  context: CanvasRenderingContext2D,
  rows: readonly LaneRow[],
  { from, to }: Window,
  scale: number,
  { width, left, top, rowHeight, colour }: OutlinePlace,
): void {
  const perPixel = (to - from) / (width - left);
  context.strokeStyle = colour;
  context.lineWidth = 1;
  rows.forEach(({ predicted }, index) => {
    if (!predicted) return;
    const y = top + index * rowHeight;
    for (const [start, end] of joined(predicted, (GAP * perPixel) / scale)) {
      if (end * scale < from || start * scale > to) continue;
      const x = left + Math.max(-2, (start * scale - from) / perPixel);
      const until = left + Math.min(width - left + 2, (end * scale - from) / perPixel);
      context.strokeRect(Math.round(x) + 0.5, y + 0.5, Math.max(1, Math.round(until - x) - 1), rowHeight - 2);
    }
  });
}
