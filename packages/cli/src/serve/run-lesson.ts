/** @file What the studio runs for real: the toy of the step-through figure, under one of its layouts, on the text that ships;
 * and the same on one rank to compare with.
 */
import { clusterFromRequest } from '@meshwright/core/cluster';
import { compileProgram } from '@meshwright/core/compile';
import { InputError, throwOnErrors } from '@meshwright/core/errors';
import { createJob } from '@meshwright/core/job';
import { completeLayout, equalCosts } from '@meshwright/core/layout';
import type { Program } from '@meshwright/core/program';
import { recordingColumns } from '@meshwright/core/timeline';
import { type LessonKey, lessonJob, lessonProgram } from '@meshwright/figures';
import {
  builtinCorpus,
  checkRunnable,
  cosineRate,
  type StepReport,
  type SupervisedResult,
  superviseProgram,
} from '@meshwright/runtime';
import { bytesOfRun } from '../output/run-report.ts';
import { failureWords } from '../output/run-words.ts';
import type { Runner } from './server.ts';

const PEAK_RATE = 0.001;
const SEED = 1;

/** Runs under the layout that is asked for, then under none, and tells each step as it ends. */
export const runLesson: Runner = async ({ lesson, sharding, steps }, signal, tell) => {
  const { program } = lessonProgram(lesson, 'toy', sharding);
  const alone = programAlone(lesson);
  for (const each of [program, alone]) throwOnErrors(checkRunnable(each, { steps, corpus: builtinCorpus() }));
  const many = await train(program, steps, signal, ({ step, loss, seconds, tokens }) =>
    tell({ kind: 'step', step, loss, seconds, tokens }),
  );
  if (typeof many === 'string') return tell({ kind: 'failed', says: many });
  tell({ kind: 'bytes', bytes: bytesOfRun(program, many) });
  tell({ kind: 'recording', recording: recordingColumns(many) });
  const one = await train(alone, steps, signal, ({ step, loss }) => tell({ kind: 'alone', step, loss }));
  if (typeof one === 'string') return tell({ kind: 'failed', says: one });
  const apart = many.losses.map((loss, step) => Math.abs(loss - (one.losses[step] ?? loss)));
  const most = Math.max(0, ...apart).toExponential(1);
  const ran = `${many.losses.length} ${many.losses.length === 1 ? 'step' : 'steps'}`;
  tell({
    kind: 'done',
    says: `${ran} on eight ranks and on one: losses differ by ${most} at most, which is rounding: weights are 16-bit numbers.`,
  });
};

/** The same model and sequences on one GPU. */
function programAlone(lesson: LessonKey): Program {
  const { cluster, issues } = clusterFromRequest({ preset: 'dgx-h100', nodes: 1, gpusPerNode: 1 }, 'cluster');
  if (!cluster) throw new InputError(issues);
  const job = createJob({ ...lessonJob('toy', lesson), cluster });
  const { layout } = completeLayout({ microBatch: job.batch.sequences }, job, equalCosts(job.model.layers.length));
  return compileProgram(job, layout);
}

/** The result of a run, or why there is none. */
async function train(
  program: Program,
  steps: number,
  signal: AbortSignal,
  onStep: (report: StepReport) => void,
): Promise<SupervisedResult | string> {
  const options = { steps, seed: SEED, learningRate: cosineRate(PEAK_RATE, steps), corpus: builtinCorpus() };
  const run = await superviseProgram(program, options, { onStep, signal });
  if (run.kind === 'died') return `The process of the ranks ended (${run.death.signal ?? run.death.exitCode}).`;
  const { stopped } = run.result;
  if (typeof stopped === 'object') return failureWords(stopped);
  return stopped === 'done' ? run.result : 'Stopped.';
}
