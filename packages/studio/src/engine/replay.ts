/** @file A step of a run as a script of the step-through figure: what every rank held, took and sent, when it did. */

import type { Job } from '@meshwright/core/job';
import type { Layout } from '@meshwright/core/layout';
import { expandList, type Program } from '@meshwright/core/program';
import { recordingOfColumns } from '@meshwright/core/timeline';
import { isRecordingOf, type StepScript, scriptOptionsOf, stepScript } from '@meshwright/figures';

/** A program with what it was compiled from. */
export interface Compilation {
  readonly job: Job;
  readonly layout: Layout;
  readonly program: Program;
}

/** What a run wrote of its last step: `timeline`, `moves` and `held` of `meshwright.run/1`. */
export type Written = Readonly<Record<string, unknown>>;

/** The step that was written, told as it was measured; text says why it cannot be. */
export function replayOf({ job, layout, program }: Compilation, written: Written): StepScript | string {
  if (written['moves'] === undefined) return 'it does not say what its ranks took from each other and held';
  const recording = recordingOfColumns(written);
  if (!recording) return 'what it says of its last step cannot be read';
  const lists = program.lists.map((list) => expandList(program, list));
  if (!isRecordingOf(program, lists, recording)) return 'its ranks did other operations than this program has';
  return stepScript(program, job.cluster, { ...scriptOptionsOf(job, layout), recording });
}
