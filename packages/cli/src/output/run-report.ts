/** @file The end of a run: predicted against measured, what was learned, and how to go on. */
import type { Job } from '@meshwright/core/job';
import { formatLayout, type Layout } from '@meshwright/core/layout';
import type { Program } from '@meshwright/core/program';
import type { Overlay } from '@meshwright/core/sim';
import { recordingColumns } from '@meshwright/core/timeline';
import {
  compareBytes,
  type ProcessDeath,
  predictedOfRun,
  type StepReport,
  type SupervisedResult,
} from '@meshwright/runtime';
import { comparedStep, isCalibrated } from './measured-step.ts';
import { count, fixed, whole } from './numbers.ts';
import { overlayAxisTable, overlayKindTable } from './overlay-tables.ts';
import type { Report } from './report.ts';
import { fieldsOfRun, fieldsOfSteps } from './run-json.ts';
import { type BytesByAxis, bytesTable, failureWords, memoryTable } from './run-words.ts';
import type { Table } from './table.ts';

/** Bytes of all ranks over the whole run, predicted and moved. */
export function bytesOfRun(program: Program, result: SupervisedResult): BytesByAxis {
  const moved: Record<string, number> = {};
  for (const { axis, bytes } of result.bytes.flat()) moved[axis] = (moved[axis] ?? 0) + bytes;
  return Object.fromEntries(
    Object.entries(predictedOfRun(program, result)).map(([axis, bytes]) => [
      axis,
      { predicted: bytes, moved: moved[axis] ?? 0 },
    ]),
  );
}

/** Peaks of the fullest rank. */
export const peaksOf = ({ memory }: SupervisedResult): Readonly<Record<'predicted' | 'tracked' | 'arena', number>> => ({
  predicted: Math.max(0, ...memory.map(({ predictedPeakBytes }) => predictedPeakBytes)),
  tracked: Math.max(0, ...memory.map(({ peakBytes }) => peakBytes)),
  arena: Math.max(0, ...memory.map(({ highWaterBytes }) => highWaterBytes)),
});

/** What is said of the checkpoints of a run. */
export interface SavedCheckpoints {
  readonly folder: string;
  /** Of the last complete one; undefined when there is none. */
  readonly step: number | undefined;
  /** The command that goes on from it. */
  readonly resume: string;
}

type RunReport = Report & { readonly ok: boolean };

/** What was run, for the report. */
export interface RunSubject {
  readonly program: Program;
  readonly job: Job;
  readonly layout: Layout;
}

export function runReport(
  { program, job, layout }: RunSubject,
  result: SupervisedResult,
  saved: SavedCheckpoints | undefined,
): RunReport {
  const { stopped, losses, memory, firstStep } = result;
  const failed = typeof stopped === 'object';
  const differ = failed ? [] : compareBytes(program, result, result.periods);
  const equal = differ.length === 0 && memory.every(({ differs }) => differs.length === 0);
  const bytes = bytesOfRun(program, result);
  const timed = !failed && losses.length > 0;
  const compared = timed && isCalibrated(job) ? comparedStep(job, layout, program, result.timeline) : undefined;
  const diverged = losses.findIndex((loss) => !Number.isFinite(loss));
  return {
    ok: !failed && equal && diverged < 0,
    answer: failed ? failureWords(stopped) : answerOf(result),
    tables: failed
      ? []
      : [
          ...(Object.keys(bytes).length > 0 ? [bytesTable(bytes, result.periods)] : []),
          memoryTable(result),
          ...(compared ? timeTables(compared.overlay) : []),
        ],
    reasons: [
      ...(compared ? [timeWords(compared.overlay, result)] : []),
      ...(diverged < 0 ? [] : [`The loss is no number from step ${firstStep + diverged} on. Use a smaller --rate.`]),
      ...(saved ? [savedWords(saved, stopped === 'done')] : []),
      ...differ
        .slice(0, 8)
        .map(
          ({ rank, kind, over, predicted, moved }) =>
            `rank ${rank}: ${kind} over ${over} moved ${moved}, not ${predicted}.`,
        ),
    ],
    json: () => ({
      ...fieldsOfRun(result, bytes, peaksOf(result)),
      validationLosses: result.validationLosses,
      ...checkpointField(saved),
      job: job.name,
      layout: formatLayout(layout),
      ...(compared && { predictedSecondsPerStep: compared.overlay.simulatedSeconds, time: compared.overlay }),
      ...(timed && recordingColumns(result)),
    }),
  };
}

const timeTables = (overlay: Overlay): readonly Table[] => {
  const axes = overlayAxisTable(overlay);
  return [overlayKindTable(overlay), ...(axes ? [axes] : [])];
};

function timeWords({ simulatedSeconds, measuredSeconds }: Overlay, { secondsPerStep }: SupervisedResult): string {
  const milliseconds = (seconds: number): string => fixed(seconds * 1e3, 1);
  const fastest = Math.min(...secondsPerStep);
  return `A step is predicted to take ${milliseconds(simulatedSeconds)} ms on the calibrated machine; the fastest took ${milliseconds(fastest)} ms, the last one, which the tables show, ${milliseconds(measuredSeconds)} ms.`;
}

const checkpointField = (saved: SavedCheckpoints | undefined) =>
  saved && { checkpoint: { folder: saved.folder, step: saved.step ?? null } };

function savedWords({ folder, step, resume }: SavedCheckpoints, done: boolean): string {
  if (step === undefined) return `No checkpoint is complete in ${folder}.`;
  const next = done ? '' : ` Go on with: ${resume}`;
  return `The checkpoint of step ${step} is in ${folder}.${next}`;
}

/** The process of the ranks died: what is known of it, and how to go on. */
export function deathReport(
  { program, job, layout }: RunSubject,
  { signal, exitCode, lastStep, lastWords }: ProcessDeath,
  steps: readonly StepReport[],
  saved: SavedCheckpoints | undefined,
): RunReport {
  const how = signal === undefined ? `ended with code ${exitCode}` : `was ended by ${signal}`;
  const reason = `the process of the ranks ${how} after step ${lastStep}`;
  const words = lastWords.trim().split('\n').at(-1);
  return {
    ok: false,
    answer: reason,
    tables: [],
    reasons: [
      ...(words ? [`Its last words: ${words}`] : []),
      ...(signal === 'SIGKILL' ? ['An operating system that is out of memory does this; so does kill -9.'] : []),
      ...(saved ? [savedWords(saved, false)] : []),
    ],
    json: () => ({
      ...fieldsOfSteps(program, steps, { rank: null, operation: null, reason }),
      signal: signal ?? null,
      lastStep,
      ...checkpointField(saved),
      job: job.name,
      layout: formatLayout(layout),
    }),
  };
}

function answerOf({ stopped, losses, validationLosses, secondsPerStep }: SupervisedResult): string {
  const [first, last] = [losses[0], losses.at(-1)];
  const validation = Object.values(validationLosses).at(-1);
  const learned = first === undefined || last === undefined ? '' : `, loss ${fixed(first, 4)} -> ${fixed(last, 4)}`;
  const validated = validation === undefined ? '' : ` (validation ${fixed(validation, 4)})`;
  const seconds = secondsPerStep.reduce((sum, each) => sum + each, 0);
  return `${stopped === 'done' ? 'done' : 'interrupted'}: ${count(losses.length, 'step')} in ${whole(seconds)} s${learned}${validated}`;
}
