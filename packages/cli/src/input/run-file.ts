/** @file A run that was written by `meshwright run --json`: what it says of itself, and what its ranks did when. */
import { InputError, issue, quote } from '@meshwright/core/errors';
import { type Timeline, timelineOfColumns } from '@meshwright/core/timeline';
import type { Host } from '../host.ts';
import { readNamed } from './files.ts';

/** One measured step with what tells whose it is. */
export interface RunFile {
  readonly job: string;
  readonly layout: string;
  readonly timeline: Timeline;
}

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
  const measured = timelineOfColumns(timeline);
  if (measured === undefined) throw refuse('has a timeline that is none');
  return { job, layout, timeline: measured };
}

function parsed(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : undefined;
  } catch {
    return undefined;
  }
}
