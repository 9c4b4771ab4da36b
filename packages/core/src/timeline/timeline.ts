/** @file What happened when: the operations of all ranks in time, as a struct of arrays. Simulated and measured timelines
 * have one shape, so whatever draws, compares or exports one takes the other.
 */

/** Operations in order of (start, rank, operation). Times are integer nanoseconds since the start of the period. */
export interface Timeline {
  readonly source: 'simulated' | 'measured';
  readonly length: number;
  /** Names of lanes; `lane` holds indices into it. */
  readonly lanes: readonly string[];
  readonly rank: Uint32Array;
  readonly lane: Uint8Array;
  /** Index of the operation in the expanded list of its rank. */
  readonly operation: Uint32Array;
  /** Nanoseconds. */
  readonly start: Float64Array;
  /** Nanoseconds; not before `start`. */
  readonly end: Float64Array;
}

/** One operation of a timeline, for places where arrays would be a burden. Nanoseconds. */
export interface Slice {
  readonly rank: number;
  readonly lane: string;
  readonly operation: number;
  readonly start: number;
  readonly end: number;
}

/** A timeline of `slices`, sorted; times are rounded to whole nanoseconds here and nowhere else. */
export function createTimeline(source: Timeline['source'], slices: readonly Slice[]): Timeline {
  const sorted = slices
    .map((slice) => ({ ...slice, start: Math.round(slice.start), end: Math.round(slice.end) }))
    .sort((a, b) => a.start - b.start || a.rank - b.rank || a.operation - b.operation);
  const lanes = [...new Set(sorted.map((slice) => slice.lane))].sort();
  return Object.freeze({
    source,
    length: sorted.length,
    lanes,
    rank: Uint32Array.from(sorted, (slice) => slice.rank),
    lane: Uint8Array.from(sorted, (slice) => lanes.indexOf(slice.lane)),
    operation: Uint32Array.from(sorted, (slice) => slice.operation),
    start: Float64Array.from(sorted, (slice) => slice.start),
    end: Float64Array.from(sorted, (slice) => slice.end),
  });
}

/** One operation of a timeline by its place in it. */
export const sliceOf = (timeline: Timeline, index: number): Slice => ({
  rank: timeline.rank[index] ?? 0,
  lane: timeline.lanes[timeline.lane[index] ?? 0] ?? '',
  operation: timeline.operation[index] ?? 0,
  start: timeline.start[index] ?? 0,
  end: timeline.end[index] ?? 0,
});

/** Operations of one rank's lane in order of start, as indices into the timeline. */
export function laneOf(timeline: Timeline, rank: number, lane: string): readonly number[] {
  const wanted = timeline.lanes.indexOf(lane);
  const found: number[] = [];
  for (let index = 0; index < timeline.length; index++) {
    if (timeline.rank[index] === rank && timeline.lane[index] === wanted) found.push(index);
  }
  return found;
}

/** Nanoseconds from the start to the last end. */
export const durationOf = (timeline: Timeline): number => timeline.end.reduce((last, end) => Math.max(last, end), 0);

/** Columns of a timeline as JSON holds it. */
export interface TimelineColumns {
  readonly lanes: readonly string[];
  readonly rank: readonly number[];
  readonly lane: readonly number[];
  readonly operation: readonly number[];
  /** Nanoseconds since the first operation of the step. */
  readonly start: readonly number[];
  readonly end: readonly number[];
}

/** A timeline as columns. */
export const timelineColumns = ({ lanes, rank, lane, operation, start, end }: Timeline): TimelineColumns => ({
  lanes,
  rank: [...rank],
  lane: [...lane],
  operation: [...operation],
  start: [...start],
  end: [...end],
});

/** Whole numbers from 0 on. */
export const isColumn = (value: unknown): value is readonly number[] =>
  Array.isArray(value) && value.every((each) => Number.isSafeInteger(each) && each >= 0);

const columns = ['rank', 'lane', 'operation', 'start', 'end'] as const;

/** The measured timeline of columns from outside; undefined where they are none. */
export function timelineOfColumns(value: unknown): Timeline | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const given = value as Readonly<Record<string, unknown>>;
  const lanes: unknown = given['lanes'];
  if (!Array.isArray(lanes) || !lanes.every((lane) => typeof lane === 'string')) return undefined;
  const rows = columns.map((name): readonly number[] | undefined => {
    const column: unknown = given[name];
    return isColumn(column) ? column : undefined;
  });
  const [rank, lane, operation, start, end] = rows;
  if (!rank || !lane || !operation || !start || !end) return undefined;
  if (rows.some((row) => row?.length !== rank.length)) return undefined;
  const slices = rank.map(
    (each, index): Slice => ({
      rank: each,
      lane: String(lanes[lane[index] ?? 0] ?? ''),
      operation: operation[index] ?? 0,
      start: start[index] ?? 0,
      end: end[index] ?? 0,
    }),
  );
  const isTimeline = slices.every(({ lane: name, start: from, end: to }) => name !== '' && to >= from);
  return isTimeline ? createTimeline('measured', slices) : undefined;
}
