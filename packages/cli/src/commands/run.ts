/** @file `meshwright run`: trains the job's model under its layout on this machine, one rank a thread. */
import { type Command, Option } from '@commander-js/extra-typings';
import { compileProgram } from '@meshwright/core/compile';
import { throwOnErrors } from '@meshwright/core/errors';
import type { Program } from '@meshwright/core/program';
import {
  checkRunnable,
  compareBytes,
  cosineRate,
  type KernelEngine,
  predictedByAxis,
  type RunResult,
  type StepReport,
  trainProgram,
} from '@meshwright/runtime';
import { exitCodes, type Host, type Session } from '../host.ts';
import { kernelsOption, positiveOption, type RunRequest, readRunRequest, wholeOption } from '../input/run-request.ts';
import { printIssues } from '../output/issues.ts';
import { count, fixed, whole } from '../output/numbers.ts';
import { paint } from '../output/paint.ts';
import { jsonOption, printReport, type Report } from '../output/report.ts';
import {
  type BytesByAxis,
  bytesTable,
  failureWords,
  memoryTable,
  runHeadline,
  stepLines,
} from '../output/run-words.ts';

const USUAL_STEPS = 20;
const USUAL_PEAK = 0.001;
const VALIDATIONS = 5;

/** A rank of a slow machine may compute for minutes before its neighbours hear of it. */
const PATIENCE_MS = 600_000;

/** Adds `run JOB`. */
export function registerRun(command: Command, session: Session): void {
  command
    .command('run')
    .description('Trains a small model under its layout on this machine: one rank a thread, every byte counted.')
    .argument('<JOB>', 'a job file (YAML or JSON), - for standard input')
    .option('--layout <KEYS>', 'layout keys over those of the job, as in tp=2,pp=2')
    .addOption(new Option('--steps <N>', 'optimizer steps').argParser(wholeOption('--steps', 1)).default(USUAL_STEPS))
    .addOption(
      new Option('--seed <N>', 'of weights, samples and dropout').argParser(wholeOption('--seed', 0)).default(1),
    )
    .option('--data <FILE>', 'text, JSONL or .bin (16-bit token ids), builtin, or drawn (from the seed)')
    .addOption(
      new Option('--rate <PEAK>', 'learning rate after the warm-up')
        .argParser(positiveOption('--rate'))
        .default(USUAL_PEAK),
    )
    .addOption(
      new Option('--validate <N>', 'steps between validations, 0 for none (default: five in all)').argParser(
        wholeOption('--validate', 0),
      ),
    )
    .addOption(kernelsOption())
    .addOption(jsonOption())
    .action(async (path, options) => {
      const { host } = session;
      const request = readRunRequest(path, options.layout, options.data, host);
      const json = options.json === true;
      if (!json) printIssues(request.issues, host);
      const program = compileProgram(request.job, request.layout);
      const { steps } = options;
      request.file.placing(() => throwOnErrors(checkRunnable(program, { steps, corpus: request.corpus })));
      const validateEvery = options.validate ?? Math.max(1, Math.ceil(options.steps / VALIDATIONS));
      const result = await request.file.placing(() =>
        train(program, request, { ...options, validateEvery, json }, host),
      );
      const report = runReport(program, result);
      if (!report.ok) session.end(exitCodes.failed);
      if (!json) host.out.write('\n');
      printReport(report, json ? 'json' : 'text', host);
    });
}

interface RunSettings {
  readonly steps: number;
  readonly seed: number;
  readonly rate: number;
  readonly validateEvery: number;
  readonly kernels: KernelEngine;
  readonly json: boolean;
}

/** Runs and prints each step as it ends. */
async function train(
  program: Program,
  { job, layout, parameters, corpus }: RunRequest,
  { steps, seed, rate, validateEvery, kernels, json }: RunSettings,
  host: Host,
): Promise<RunResult> {
  const lines = stepLines(steps, predictedByAxis(program));
  if (!json) {
    const tokens = corpus?.name ?? 'tokens drawn from the seed';
    host.out.write(`${paint(host, host.out, 'bold', runHeadline(job, layout, parameters, tokens))}\n\n${lines.head}\n`);
  }
  const controller = new AbortController();
  const deaf = host.onInterrupt(() => controller.abort());
  try {
    return await trainProgram(program, {
      steps,
      seed,
      learningRate: cosineRate(rate, steps),
      validateEvery,
      kernels,
      patienceMs: PATIENCE_MS,
      signal: controller.signal,
      ...(corpus && { corpus }),
      onStep: (report) => host.out.write(`${json ? stepJson(report) : lines.line(report)}\n`),
    });
  } finally {
    deaf();
  }
}

const stepJson = ({ tokens, seconds, ...report }: StepReport): string =>
  JSON.stringify({ schema: 'meshwright.step/1', ...report, seconds, tokensPerSecond: tokens / seconds });

/** Bytes of all ranks over the whole run, predicted and moved. */
export function bytesOfRun(program: Program, result: RunResult): BytesByAxis {
  const moved: Record<string, number> = {};
  for (const { axis, bytes } of result.bytes.flat()) moved[axis] = (moved[axis] ?? 0) + bytes;
  return Object.fromEntries(
    Object.entries(predictedByAxis(program)).map(([axis, bytes]) => [
      axis,
      { predicted: bytes * result.periods, moved: moved[axis] ?? 0 },
    ]),
  );
}

/** Peaks of the fullest rank. */
export const peaksOf = ({ memory }: RunResult): Readonly<Record<'predicted' | 'tracked' | 'arena', number>> => ({
  predicted: Math.max(0, ...memory.map(({ predictedPeakBytes }) => predictedPeakBytes)),
  tracked: Math.max(0, ...memory.map(({ peakBytes }) => peakBytes)),
  arena: Math.max(0, ...memory.map(({ highWaterBytes }) => highWaterBytes)),
});

function runReport(program: Program, result: RunResult): Report & { readonly ok: boolean } {
  const { stopped, losses, memory } = result;
  const failed = typeof stopped === 'object';
  const differ = failed ? [] : compareBytes(program, result, result.periods);
  const equal = differ.length === 0 && memory.every(({ differs }) => differs.length === 0);
  const bytes = bytesOfRun(program, result);
  const diverged = losses.findIndex((loss) => !Number.isFinite(loss));
  return {
    ok: !failed && equal && diverged < 0,
    answer: failed ? failureWords(stopped) : answerOf(result),
    tables: failed
      ? []
      : [...(Object.keys(bytes).length > 0 ? [bytesTable(bytes, result.periods)] : []), memoryTable(result)],
    reasons: [
      ...(diverged < 0 ? [] : [`The loss is no number from step ${diverged + 1} on. Use a smaller --rate.`]),
      ...differ
        .slice(0, 8)
        .map(
          ({ rank, kind, over, predicted, moved }) =>
            `rank ${rank}: ${kind} over ${over} moved ${moved}, not ${predicted}.`,
        ),
    ],
    json: () => ({
      schema: 'meshwright.run/1',
      steps: losses.length,
      losses,
      gradNorms: result.gradientNorms,
      validationLosses: result.validationLosses,
      secondsPerStep: result.secondsPerStep,
      bytes,
      peakBytes: peaksOf(result),
      stopped,
    }),
  };
}

function answerOf({ stopped, losses, validationLosses, secondsPerStep }: RunResult): string {
  const [first, last] = [losses[0], losses.at(-1)];
  const validation = Object.values(validationLosses).at(-1);
  const learned = first === undefined || last === undefined ? '' : `, loss ${fixed(first, 4)} -> ${fixed(last, 4)}`;
  const validated = validation === undefined ? '' : ` (validation ${fixed(validation, 4)})`;
  const seconds = secondsPerStep.reduce((sum, each) => sum + each, 0);
  return `${stopped === 'done' ? 'done' : 'interrupted'}: ${count(losses.length, 'step')} in ${whole(seconds)} s${learned}${validated}`;
}
