/** @file The rows of the timeline and the slices on each, for drawing and for finding: indices sorted by start, searched by
 * halving. Pure; times are nanoseconds.
 */
import type { TimelineDetail } from '../../engine/timeline.ts';

/** One row: a lane of a rank that has slices. Their times and kinds stand side by side, in order of start, so that painting
 * reads memory in a row. */
export interface LaneRow {
  readonly rank: number;
  readonly lane: string;
  /** Numbers of the slices in the whole timeline. */
  readonly slices: Uint32Array;
  readonly start: Float64Array;
  readonly end: Float64Array;
  readonly kind: Uint8Array;
  /** Of a measured step: when its slices were predicted, in order of start. */
  readonly predicted?: Times;
}

/** Slices in order of start. */
export interface Times {
  readonly start: Float64Array;
  readonly end: Float64Array;
}

/** Rows in order of rank, then of lane; lanes without a slice are left out. */
export function laneRows({
  ranks,
  lanes,
  rank,
  lane,
  start,
  end,
  kind,
  predicted,
}: Pick<
  TimelineDetail,
  'ranks' | 'lanes' | 'rank' | 'lane' | 'start' | 'end' | 'kind' | 'predicted'
>): readonly LaneRow[] {
  const counts = new Map<number, number>();
  const keyOf = (index: number): number => (rank[index] ?? 0) * lanes.length + (lane[index] ?? 0);
  const takesTime = (index: number): boolean => (end[index] as number) > (start[index] as number);
  for (let index = 0; index < rank.length; index++) {
    if (takesTime(index)) counts.set(keyOf(index), (counts.get(keyOf(index)) ?? 0) + 1);
  }
  const slices = new Map([...counts].map(([key, count]) => [key, { at: 0, of: new Uint32Array(count) }]));
  for (let index = 0; index < rank.length; index++) {
    const row = takesTime(index) ? slices.get(keyOf(index)) : undefined;
    if (row) row.of[row.at++] = index;
  }
  return ranks.flatMap((each) =>
    lanes.flatMap((name, index): readonly LaneRow[] => {
      const row = slices.get(each * lanes.length + index);
      if (!row) return [];
      return [
        {
          rank: each,
          lane: name,
          slices: row.of,
          start: Float64Array.from(row.of, (slice) => start[slice] as number),
          end: Float64Array.from(row.of, (slice) => end[slice] as number),
          kind: Uint8Array.from(row.of, (slice) => kind[slice] as number),
          ...(predicted && { predicted: timesOf(predicted, row.of) }),
        },
      ];
    }),
  );
}

function timesOf({ start, end }: Times, slices: Uint32Array): Times {
  const sorted = slices.toSorted((one, other) => (start[one] as number) - (start[other] as number));
  return {
    start: Float64Array.from(sorted, (slice) => start[slice] as number),
    end: Float64Array.from(sorted, (slice) => end[slice] as number),
  };
}

/** Neighbours joined where less than `gap` lies between them, as from and to. */
export function* joined({ start, end }: Times, gap: number): Generator<readonly [from: number, to: number]> {
  let [from, to] = [0, Number.NEGATIVE_INFINITY];
  for (let at = 0; at < start.length; at++) {
    if ((end[at] as number) <= (start[at] as number)) continue;
    if ((start[at] as number) - to > gap) {
      if (to > from) yield [from, to];
      from = start[at] as number;
    }
    to = Math.max(to, end[at] as number);
  }
  if (to > from) yield [from, to];
}

/** Place in a row of the first slice that ends after `time`. */
export function firstEndingAfter({ end }: Pick<LaneRow, 'end'>, time: number): number {
  let [low, high] = [0, end.length];
  while (low < high) {
    const half = (low + high) >>> 1;
    if ((end[half] as number) > time) high = half;
    else low = half + 1;
  }
  return low;
}

/** The slice of a row at a time; -1 where it is idle. */
export function sliceAt(row: LaneRow, time: number): number {
  const at = firstEndingAfter(row, time);
  const slice = row.slices[at];
  return slice !== undefined && (row.start[at] as number) <= time ? slice : -1;
}

/** What is seen: from and to. */
export interface Window {
  readonly from: number;
  readonly to: number;
}

/** The middle of a window. */
export const middle = ({ from, to }: Window): number => (from + to) / 2;

/** Nanoseconds of the narrowest window. */
const LEAST = 200;

/** The window zoomed by `factor` around `centre` (a time), inside 0 and `whole`. */
export function zoomed({ from, to }: Window, factor: number, centre: number, whole: number): Window {
  const width = Math.min(whole, Math.max(Math.min(LEAST, whole), (to - from) * factor));
  const left = Math.min(Math.max(0, centre - ((centre - from) / (to - from)) * width), whole - width);
  return { from: left, to: left + width };
}

/** The window moved by a share of its width, inside 0 and `whole`. */
export function moved({ from, to }: Window, share: number, whole: number): Window {
  const width = to - from;
  const left = Math.min(Math.max(0, from + share * width), whole - width);
  return { from: left, to: left + width };
}
