/** @file What was recorded of one step of a run: when, what the ranks took from each other, what they held. */
import { isColumn, type Timeline, type TimelineColumns, timelineColumns, timelineOfColumns } from './timeline.ts';

/** Bytes that one rank took from another in an operation of its list. */
export interface Move {
  readonly from: number;
  readonly to: number;
  /** Index in the expanded list of `to`. */
  readonly operation: number;
  readonly bytes: number;
}

/** One step of a run, its last complete one. */
export interface Recording {
  readonly timeline: Timeline;
  readonly moves: readonly Move[];
  /** Live bytes of each rank at each operation of its list, before what ends there is given back. */
  readonly held: readonly ArrayLike<number>[];
}

/** A recording as JSON holds it. */
export interface RecordingColumns {
  readonly timeline: TimelineColumns;
  readonly moves: Readonly<Record<keyof Move, readonly number[]>>;
  readonly held: readonly (readonly number[])[];
}

/** A recording as columns. */
export const recordingColumns = ({ timeline, moves, held }: Recording): RecordingColumns => ({
  timeline: timelineColumns(timeline),
  moves: {
    from: moves.map(({ from }) => from),
    to: moves.map(({ to }) => to),
    operation: moves.map(({ operation }) => operation),
    bytes: moves.map(({ bytes }) => bytes),
  },
  held: held.map((each) => Array.from(each)),
});

/** The recording of columns from outside; undefined where they are none. */
export function recordingOfColumns(value: Readonly<Record<string, unknown>>): Recording | undefined {
  const { timeline: times, moves: given, held } = value;
  const timeline = timelineOfColumns(times);
  if (!timeline || typeof given !== 'object' || given === null || !Array.isArray(held)) return undefined;
  const { from, to, operation, bytes } = given as Readonly<Record<string, unknown>>;
  if (!isColumn(from) || !isColumn(to) || !isColumn(operation) || !isColumn(bytes)) return undefined;
  if ([to, operation, bytes].some(({ length }) => length !== from.length)) return undefined;
  if (!held.every(isColumn)) return undefined;
  return {
    timeline,
    moves: from.map((each, index) => ({
      from: each,
      to: to[index] ?? 0,
      operation: operation[index] ?? 0,
      bytes: bytes[index] ?? 0,
    })),
    held,
  };
}
