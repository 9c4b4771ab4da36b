/** @file A job from a file, with the layout keys of the command line over those of the file. */
import { InputError, type Issue } from '@meshwright/core/errors';
import { parseLayoutString, readJob } from '@meshwright/core/io';
import type { Job } from '@meshwright/core/job';
import { completeLayout, type Layout } from '@meshwright/core/layout';
import { splitCosts } from '@meshwright/core/plan';
import type { Host } from '../host.ts';
import { fileLoader, readNamed } from './files.ts';

/** A job that was read without errors. */
export interface JobFile {
  readonly job: Job;
  /** Warnings and notes, placed. */
  readonly issues: readonly Issue[];
  /** Gives issues of later stages their place in the file or in `--layout`. */
  place(each: Issue): Issue;
  /** Runs `work`; issues that it throws are placed. */
  placing<T>(work: () => T): T;
}

/** Reads the job file at `path`; keys of `layoutText` replace those of the file. Throws one InputError with all issues. */
export const readJobFile = (path: string, layoutText: string | undefined, host: Host): JobFile =>
  jobFromText(readNamed(path, host), path, layoutText, host);

/** {@link readJobFile} for a text that was read already. */
export function jobFromText(text: string, path: string, layoutText: string | undefined, host: Host): JobFile {
  const name = path === '-' ? 'standard input' : path;
  const load = fileLoader(host);
  const reading = readJob(text, name, { loadFile: (file, from) => load(file, from === name ? path : from) });
  const given = layoutText === undefined ? undefined : parseLayoutString(layoutText);
  const issues = [...reading.issues, ...(given?.issues ?? [])];
  if (!reading.job || issues.some((each) => each.severity === 'error')) throw new InputError(issues);
  const place = (each: Issue): Issue => {
    if (each.position || each.path.startsWith('--')) return each;
    const [, key = ''] = each.path.split('.');
    const position = given?.places.get(key);
    return position ? { ...each, position } : reading.place(each);
  };
  return {
    job: Object.freeze({ ...reading.job, layout: Object.freeze({ ...reading.job.layout, ...given?.layout }) }),
    issues,
    place,
    placing: (work) => {
      try {
        return work();
      } catch (error) {
        throw error instanceof InputError ? new InputError(error.issues.map(place)) : error;
      }
    },
  };
}

/** A complete, legal layout with what is worth knowing about it. */
export interface ChosenLayout {
  readonly layout: Layout;
  readonly issues: readonly Issue[];
}

/** The layout that the job asks for, with defaults for the rest. Throws what is illegal, placed. */
export function chooseLayout({ job, place }: JobFile): ChosenLayout {
  const { layout, issues } = completeLayout(job.layout, job, splitCosts(job));
  const placed = issues.map(place);
  if (placed.some((each) => each.severity === 'error')) throw new InputError(placed);
  return { layout, issues: placed };
}
