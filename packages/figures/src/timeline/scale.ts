/** @file Seconds to pixels, and intervals to paths of as few rectangles as the eye can tell apart. */
import { scaleLinear } from 'd3-scale';
import { at } from '../svg/geometry.ts';
import type { Interval } from './facts.ts';

/** A window of time laid over a width in pixels. */
export interface TimeScale {
  readonly window: Interval;
  x(seconds: number): number;
  /** Round places of the axis with their text in milliseconds. */
  readonly ticks: readonly { readonly x: number; readonly text: string }[];
}

/** The scale of `window` from `left` over `width` pixels. */
export function timeScale(window: Interval, left: number, width: number): TimeScale {
  const scale = scaleLinear()
    .domain([window[0] * 1e3, window[1] * 1e3])
    .range([left, left + width]);
  const format = scale.tickFormat(8, ',f');
  return {
    window,
    x: (seconds) => scale(seconds * 1e3),
    ticks: scale.ticks(8).map((ms) => ({ x: scale(ms), text: format(ms) })),
  };
}

/** Gaps narrower than this are closed, rectangles narrower than this are widened: pixels. */
const FINEST = 0.5;

/** Intervals in order as one path; what lies outside of the window is left out. */
export function intervalsPath(intervals: readonly Interval[], scale: TimeScale, y: number, height: number): string {
  const [first, last] = scale.window;
  let path = '';
  let open: [number, number] | undefined;
  const close = (): void => {
    if (open) path += `M${at(open[0])} ${at(y)}h${at(open[1] - open[0])}v${at(height)}h${at(open[0] - open[1])}z`;
  };
  for (const [from, to] of [...intervals].sort((one, other) => one[0] - other[0])) {
    if (to <= first || from >= last) continue;
    const x0 = scale.x(Math.max(from, first));
    const x1 = Math.max(scale.x(Math.min(to, last)), x0 + FINEST);
    if (open && x0 - open[1] < FINEST) open[1] = Math.max(open[1], x1);
    else {
      close();
      open = [x0, x1];
    }
  }
  close();
  return path;
}
