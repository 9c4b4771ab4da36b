/** @file A step program: compiled from a job file, or read from a file that holds a program already (text or JSON). */
import { compileProgram } from '@meshwright/core/compile';
import { InputError, type Issue, issue, quote } from '@meshwright/core/errors';
import type { Job } from '@meshwright/core/job';
import type { Layout } from '@meshwright/core/layout';
import { type Program, parseProgram, programFromJson } from '@meshwright/core/program';
import type { Host } from '../host.ts';
import { readNamed } from './files.ts';
import { chooseLayout, jobFromText } from './job-file.ts';

/** A program with where it comes from. */
export interface ProgramSource {
  readonly program: Program;
  /** Absent for a program that was read as such. */
  readonly job?: Job;
  readonly layout?: Layout;
  /** Warnings and notes. */
  readonly issues: readonly Issue[];
}

/** The program of a job under its layout, or the program of a file. Throws one InputError with all that is wrong. */
export function readProgramSource(path: string, layoutText: string | undefined, host: Host): ProgramSource {
  const text = readNamed(path, host);
  const known = readKnown(text, path);
  if (known && layoutText !== undefined) {
    const message = `${quote(path)} is a program, which has its layout already.`;
    throw new InputError([
      issue('OPTIONS_CONTRADICT', '--layout', message, 'Name the job file, or leave --layout out.'),
    ]);
  }
  if (known) return known;
  const file = jobFromText(text, path, layoutText, host);
  const { layout, issues } = chooseLayout(file);
  return { program: compileProgram(file.job, layout), job: file.job, layout, issues: [...file.issues, ...issues] };
}

/** A file that says of itself that it is a program. */
function readKnown(text: string, path: string): ProgramSource | undefined {
  const start = text.trimStart();
  if (/^program\s+\S+\s+meshwright\.program\//.test(start)) return whole(parseProgram(text, path));
  if (!/^\{\s*"schema"\s*:\s*"meshwright\.program\//.test(start)) return undefined;
  return whole(programFromJson(JSON.parse(text)));
}

function whole({ program, issues }: { readonly program?: Program; readonly issues: readonly Issue[] }): ProgramSource {
  if (!program) throw new InputError(issues);
  return { program, issues };
}
