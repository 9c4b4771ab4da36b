/** @file What the studio runs for real: a transformer of eight layers on the text that ships, under a layout over eight
 * ranks, and the same on one rank to compare with.
 */
import { compileProgram } from '@meshwright/core/compile';
import { throwOnErrors } from '@meshwright/core/errors';
import type { Program } from '@meshwright/core/program';
import {
  builtinCorpus,
  checkRunnable,
  cosineRate,
  type StepReport,
  type SupervisedResult,
  superviseProgram,
} from '@meshwright/runtime';
import type { Host } from '../host.ts';
import { chooseLayout, jobFromText } from '../input/job-file.ts';
import { bytesOfRun } from '../output/run-report.ts';
import { failureWords } from '../output/run-words.ts';
import type { RunAsked, Runner } from './server.ts';

const lesson = `
name: lesson
model: { kind: gpt2, layers: 8, hidden: 64, heads: 8, ffn: 256, vocab: 256, positions: 64, tied: false }
cluster: 1x dgx-h100
batch: { sequences: 16, length: 64 }
precision: fp32
`;
const onOneRank: string = lesson.replace('1x dgx-h100', '{ preset: dgx-h100, nodes: 1, gpusPerNode: 1 }');
const PEAK_RATE = 0.001;
const SEED = 1;

/** Runs under the layout that is asked for, then under none, and tells each step as it ends. */
export const runLesson =
  (host: Host): Runner =>
  async (asked, signal, tell) => {
    const program = programOf(lesson, asked, host);
    const alone = programOf(onOneRank, { ...asked, layout: 'mbs=16' }, host);
    const many = await train(program, asked.steps, signal, ({ step, loss, seconds, tokens }) =>
      tell({ kind: 'step', step, loss, seconds, tokens }),
    );
    if (typeof many === 'string') return tell({ kind: 'failed', says: many });
    tell({ kind: 'bytes', bytes: bytesOfRun(program, many) });
    const one = await train(alone, asked.steps, signal, ({ step, loss }) => tell({ kind: 'alone', step, loss }));
    if (typeof one === 'string') return tell({ kind: 'failed', says: one });
    const apart = many.losses.map((loss, step) => Math.abs(loss - (one.losses[step] ?? loss)));
    const most = Math.max(0, ...apart).toExponential(1);
    tell({
      kind: 'done',
      says: `${many.losses.length} steps on eight ranks and on one: losses differ by ${most} at most.`,
    });
  };

function programOf(job: string, { layout: text, steps }: RunAsked, host: Host): Program {
  const file = jobFromText(job, 'lesson', text, host);
  const { layout } = chooseLayout(file);
  const program = compileProgram(file.job, layout);
  throwOnErrors(checkRunnable(program, { steps, corpus: builtinCorpus() }));
  return program;
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
