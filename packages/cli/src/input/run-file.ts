/** @file A run that was written by `meshwright run --json`: what it says of itself, and what its ranks did when. */
import { InputError, issue, quote } from '@meshwright/core/errors';
import { createTimeline, type Slice, type Timeline } from '@meshwright/core/timeline';
import type { Host } from '../host.ts';
import { readNamed } from './files.ts';

/** One measured step with what tells whose it is. */
export interface RunFile {
  readonly job: string;
  readonly layout: string;
  readonly timeline: Timeline;
}

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

/** Reads the last line of a file of JSON lines. Throws RUN_UNREADABLE with what is missing. */
export function readRunFile(path: string, host: Host): RunFile {
  const last = readNamed(path, host).trimEnd().split('\n').at(-1) ?? '';
  const found = parsed(last);
  const refuse = (what: string): InputError =>
    new InputError([
      issue(
        'RUN_UNREADABLE',
        '--against',
        `${quote(path)} ${what}.`,
        'Write it with meshwright run JOB --json > run.json.',
      ),
    ]);
  if (found?.['schema'] !== 'meshwright.run/1') throw refuse('does not end with the report of a run');
  const { job, layout, timeline } = found;
  if (typeof job !== 'string' || typeof layout !== 'string' || timeline === undefined) {
    throw refuse('has no timeline: the run did not complete a step');
  }
  const slices = slicesOf(timeline);
  if (slices === undefined) throw refuse('has a timeline that is none');
  return { job, layout, timeline: createTimeline('measured', slices) };
}

function parsed(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : undefined;
  } catch {
    return undefined;
  }
}

const columns = ['rank', 'lane', 'operation', 'start', 'end'] as const;

function slicesOf(value: unknown): readonly Slice[] | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const given = value as Readonly<Record<string, unknown>>;
  const lanes: unknown = given['lanes'];
  if (!Array.isArray(lanes) || !lanes.every((lane) => typeof lane === 'string')) return undefined;
  const rows = columns.map((name): readonly number[] | undefined => {
    const column: unknown = given[name];
    return Array.isArray(column) && column.every((each) => Number.isSafeInteger(each) && each >= 0)
      ? column
      : undefined;
  });
  const [rank, lane, operation, start, end] = rows;
  if (!rank || !lane || !operation || !start || !end) return undefined;
  if (rows.some((row) => row?.length !== rank.length)) return undefined;
  const slices = rank.map((each, index) => ({
    rank: each,
    lane: String(lanes[lane[index] ?? 0] ?? ''),
    operation: operation[index] ?? 0,
    start: start[index] ?? 0,
    end: end[index] ?? 0,
  }));
  return slices.every(({ lane: name, start: from, end: to }) => name !== '' && to >= from) ? slices : undefined;
}
