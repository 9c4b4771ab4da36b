/** @file What bench/studio.mjs runs in the browser: the painting of the Timeline view on made-up slices. */
import type { TimelineDetail } from '../../packages/studio/src/engine/timeline.ts';
import { laneRows, moved } from '../../packages/studio/src/views/timeline/lanes.ts';
import { paint, type Scene } from '../../packages/studio/src/views/timeline/paint.ts';

const LANES = 8;
const RANKS = 16;
/** Nanoseconds of a slice, and of the gap behind it. */
const [SLICE, GAP] = [900, 100];

/** Slices one behind the other on 128 lanes. */
function detailOf(count: number): TimelineDetail {
  const rank = new Uint32Array(count);
  const lane = new Uint8Array(count);
  const start = new Float64Array(count);
  const end = new Float64Array(count);
  const kind = new Uint8Array(count);
  for (let index = 0; index < count; index++) {
    const row = index % (LANES * RANKS);
    rank[index] = Math.floor(row / LANES);
    lane[index] = row % LANES;
    start[index] = Math.floor(index / (LANES * RANKS)) * (SLICE + GAP);
    end[index] = (start[index] as number) + SLICE;
    kind[index] = index % 5;
  }
  const seconds = (end.at(-1) ?? 0) / 1e9;
  const kinds = ['forward', 'backward', 'optimizer', 'collective', 'send', 'host'] as const;
  return {
    seconds,
    lanes: ['compute', 'tensor', 'data.gather', 'data.reduce', 'act.out', 'act.in', 'grad.out', 'grad.in'],
    ranks: Array.from({ length: RANKS }, (_, each) => each),
    alike: 1,
    rank,
    lane,
    start,
    end,
    kind,
    kinds,
    why: new Uint32Array(count),
    whys: ['computes, because it is measured'],
    critical: new Uint32Array(0),
    partner: new Int32Array(count).fill(-1),
    idle: [],
    note: '',
  };
}

/** Milliseconds of a paint of everything, and of one a tenth further at a tenth of the width. Pixels are read back, so that
 * nothing is put off. */
export function measure(count: number): { readonly full: number; readonly pan: number } {
  const detail = detailOf(count);
  const rows = laneRows(detail);
  const canvas = document.createElement('canvas');
  const [top, rowHeight] = [26, 6];
  canvas.width = 1600;
  canvas.height = top + rows.length * rowHeight;
  document.body.append(canvas);
  const context = canvas.getContext('2d', { willReadFrequently: true });
  if (!context) throw new Error('no canvas');
  const paints = {
    kinds: ['#4322e7', '#c28505', '#329a7d', '#aa72fb', '#015147', '#59636e'],
    background: '#ffffff',
    idle: '#c4cad1',
    text: '#1b1f24',
    quiet: '#59636e',
  };
  const whole = detail.seconds * 1e9;
  const timed = (window: Scene['window']): number => {
    const begin = performance.now();
    paint(context, {
      detail,
      rows,
      window,
      width: 1600,
      left: 128,
      top,
      rowHeight,
      paints,
      selected: -1,
      showCritical: true,
    });
    context.getImageData(0, 0, 1, 1);
    return performance.now() - begin;
  };
  const middle = (times: readonly number[]): number =>
    [...times].sort((a, b) => a - b)[Math.floor(times.length / 2)] ?? 0;
  const everything = { from: 0, to: whole };
  timed(everything);
  const near = { from: 0, to: whole / 10 };
  return {
    full: middle([1, 2, 3, 4, 5].map(() => timed(everything))),
    pan: middle([1, 2, 3, 4, 5].map((step) => timed(moved(near, step / 10, whole)))),
  };
}
