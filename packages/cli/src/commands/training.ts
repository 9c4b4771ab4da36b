/** @file What `run` and `resume` share: training in a process of its own, a line for each step, the report at its end. */
import type { Job } from '@meshwright/core/job';
import type { Program } from '@meshwright/core/program';
import {
  cosineRate,
  type KernelEngine,
  type Manifest,
  predictedByAxis,
  type StepReport,
  type Supervised,
  type SupervisedOptions,
  superviseProgram,
} from '@meshwright/runtime';
import { exitCodes, type Host, type Session } from '../host.ts';
import type { RunRequest, RunSources } from '../input/run-request.ts';
import { paint } from '../output/paint.ts';
import { printReport } from '../output/report.ts';
import { stepJson } from '../output/run-json.ts';
import { deathReport, runReport, type SavedCheckpoints } from '../output/run-report.ts';
import { runHeadline, stepLines } from '../output/run-words.ts';
import { shellWords } from '../output/shell.ts';

/** A rank of a slow machine may compute for minutes before its neighbours hear of it. */
const PATIENCE_MS = 600_000;

/** What a run is asked for, and what its checkpoints remember of it. */
export interface TrainingSettings {
  readonly steps: number;
  readonly seed: number;
  /** Peak of the learning rate. */
  readonly rate: number;
  readonly validateEvery: number;
  readonly kernels: KernelEngine;
}

/** One run on its way. */
export interface Training {
  readonly program: Program;
  readonly request: RunRequest;
  readonly settings: TrainingSettings;
  /** What `--layout`, `--data`, `--tokenizer` and `--exchanges` said, for whoever goes on. */
  readonly given: RunSources;
  readonly checkpoints: Omit<NonNullable<SupervisedOptions['checkpoints']>, 'settings'> | undefined;
  readonly from?: NonNullable<SupervisedOptions['from']>;
  readonly weights?: string | undefined;
  /** The command that goes on with this run. */
  readonly resume: string;
  readonly json: boolean;
}

/** Trains, prints, and says by the exit code whether all is well. */
export async function trainAndReport(training: Training, session: Session): Promise<void> {
  const { host } = session;
  const { program, checkpoints, resume, json } = training;
  const steps: StepReport[] = [];
  const subject = { program, ...training.request };
  let savedStep = training.from?.step;
  const run = await superviseTraining(training, host, {
    onStep: (step) => steps.push(step),
    onSaved: (step) => {
      savedStep = step;
    },
  });
  const saved: SavedCheckpoints | undefined = checkpoints && { folder: checkpoints.folder, step: savedStep, resume };
  const report =
    run.kind === 'died' ? deathReport(subject, run.death, steps, saved) : runReport(subject, run.result, saved);
  if (!report.ok) session.end(exitCodes.failed);
  if (!json) host.out.write('\n');
  printReport(report, json ? 'json' : 'text', host);
}

interface Listener {
  readonly onStep: (report: StepReport) => void;
  readonly onSaved: (step: number) => void;
}

async function superviseTraining(training: Training, host: Host, listener: Listener): Promise<Supervised> {
  const { program, request, settings, json, from, weights } = training;
  const { job, layout, parameters, corpus } = request;
  const { steps, rate, ...rest } = settings;
  const lines = stepLines(steps, predictedByAxis(program));
  if (!json) {
    const tokens = corpus?.name ?? 'tokens drawn from the seed';
    host.out.write(`${paint(host, host.out, 'bold', runHeadline(job, layout, parameters, tokens))}\n\n${lines.head}\n`);
  }
  const controller = new AbortController();
  const deaf = host.onInterrupt(() => controller.abort());
  const options: SupervisedOptions = {
    ...rest,
    steps,
    learningRate: cosineRate(rate, steps),
    patienceMs: PATIENCE_MS,
    corpus,
    from,
    weights,
    checkpoints: training.checkpoints && { ...training.checkpoints, settings: settingsOf(training) },
  };
  const onStep = (report: StepReport): void => {
    listener.onStep(report);
    host.out.write(`${json ? stepJson(report) : lines.line(report)}\n`);
  };
  try {
    return await superviseProgram(program, options, { ...listener, onStep, signal: controller.signal });
  } finally {
    deaf();
  }
}

/** As a checkpoint keeps them. */
const settingsOf = ({ settings, given, request, checkpoints }: Training): Manifest['settings'] => ({
  job: request.job.name,
  ...settings,
  layout: given.layout ?? '',
  data: given.data ?? '',
  tokenizer: given.tokenizer ?? '',
  exchanges: given.exchanges ?? '',
  every: checkpoints?.every ?? settings.steps,
});

/** The command that goes on with a run of the job at `path`. */
export const resumeCommand = (path: string, job: Job, folder: string, usual: (job: Job) => string): string =>
  shellWords(['meshwright', 'resume', path, ...(folder === usual(job) ? [] : ['--checkpoints', folder])]);
