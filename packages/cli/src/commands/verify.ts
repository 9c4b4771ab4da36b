/** @file `meshwright verify`: the job's model under its layout and on one rank must learn the same, and what moves and what
 * is held must be what the program says.
 */
import { type Command, Option } from '@commander-js/extra-typings';
import { compileProgram } from '@meshwright/core/compile';
import type { Job } from '@meshwright/core/job';
import { formatLayout, type Layout } from '@meshwright/core/layout';
import type { Program } from '@meshwright/core/program';
import {
  boundsOf,
  compareBytes,
  compareRuns,
  type KernelEngine,
  type ParityFinding,
  type ParityReport,
  type RunResult,
  type StepReport,
  type TrainOptions,
  trainProgram,
} from '@meshwright/runtime';
import { exitCodes, type Session } from '../host.ts';
import { oneRankLayout } from '../input/one-rank.ts';
import {
  exchangesOption,
  kernelsOption,
  programToRun,
  type RunRequest,
  type RunSources,
  readRunRequest,
  tokenizerOption,
  wholeOption,
} from '../input/run-request.ts';
import { printIssues } from '../output/issues.ts';
import { count } from '../output/numbers.ts';
import { createProgress } from '../output/progress.ts';
import { jsonLinesOption, printReport, type Report } from '../output/report.ts';
import { fieldsOfRun, stepJson } from '../output/run-json.ts';
import { bytesOfRun, peaksOf } from '../output/run-report.ts';
import { bytesTable, failureWords, memoryTable } from '../output/run-words.ts';
import { numbers, type Table, tableOf, words } from '../output/table.ts';

const USUAL_STEPS = 5;
const PATIENCE_MS = 600_000;

/** Adds `verify JOB`. */
export function registerVerify(command: Command, session: Session): void {
  command
    .command('verify')
    .description(
      'Trains the job under its layout and on one rank: the same result, the bytes and memory of the program.',
    )
    .argument('<JOB>', 'a job file (YAML or JSON), - for standard input')
    .option('--layout <KEYS>', 'layout keys over those of the job, as in tp=2,pp=2')
    .addOption(new Option('--steps <N>', 'optimizer steps').argParser(wholeOption('--steps', 1)).default(USUAL_STEPS))
    .addOption(
      new Option('--seed <N>', 'of weights, samples and dropout').argParser(wholeOption('--seed', 0)).default(1),
    )
    .option('--data <FILE>', 'text, JSONL or .bin (16-bit token ids), builtin, or drawn (from the seed)')
    .addOption(tokenizerOption())
    .addOption(kernelsOption())
    .addOption(exchangesOption('ring, scalars direct'))
    .addOption(jsonLinesOption())
    .action(async (path, options) => {
      const { host } = session;
      const request = await readRunRequest(path, options, host);
      if (!options.json) printIssues(request.issues, host);
      const progress = createProgress(host);
      const say: OnStep = (of, report) => {
        progress.update(
          `${of === 'layout' ? formatLayout(request.layout) : of}: step ${report.step} of ${options.steps}`,
        );
        if (options.json) host.out.write(`${stepJson(report, { of })}\n`);
      };
      const verified = await request.file.placing(() => verify(request, options, say)).finally(() => progress.done());
      const report = verifyReport(request, verified);
      if (!report.ok) session.end(exitCodes.failed);
      printReport(report, options.json ? 'json' : 'text', host);
    });
}

interface Verified {
  readonly program: Program;
  /** Of the job in its own types. */
  readonly run: RunResult;
  readonly parity: ParityReport;
}

/** Told of each step of each of the runs that are held against each other. */
type OnStep = (of: 'layout' | 'in fp32' | 'one rank', report: StepReport) => void;

interface VerifySettings {
  readonly steps: number;
  readonly seed: number;
  readonly kernels: KernelEngine;
  readonly exchanges?: RunSources['exchanges'];
}

async function verify(
  request: RunRequest,
  { steps, seed, kernels, exchanges }: VerifySettings,
  say: OnStep,
): Promise<Verified> {
  const { job, layout, corpus } = request;
  const options: TrainOptions = {
    steps,
    seed,
    kernels,
    initialDeviation: Math.min(0.25, 1 / Math.sqrt(job.model.hidden)),
    captureGradients: [1, Math.min(3, steps)],
    patienceMs: PATIENCE_MS,
    ...(corpus && { corpus }),
  };
  const train = (program: Program, of: Parameters<OnStep>[0]): Promise<RunResult> =>
    trainProgram(program, { ...options, onStep: (report) => say(of, report) });
  const program = programToRun(job, layout, exchanges);
  const run = await train(program, 'layout');
  if (typeof run.stopped === 'object') return { program, run, parity: compareRuns(run, run) };
  const exact: Job = { ...job, precision: 'fp32' };
  const exactLayout: Layout = { ...layout, gradientType: 'fp32' };
  const many = job.precision === 'fp32' ? run : await train(programToRun(exact, exactLayout, exchanges), 'in fp32');
  const one = await train(compileProgram(exact, oneRankLayout(job, exactLayout)), 'one rank');
  return { program, run, parity: compareRuns(one, many, boundsOf(kernels)) };
}

function verifyReport(
  { job, layout }: RunRequest,
  { program, run, parity }: Verified,
): Report & { readonly ok: boolean } {
  const { stopped, memory, periods } = run;
  const differ = compareBytes(program, run, periods);
  const tracked = memory.every(({ differs }) => differs.length === 0);
  const failed = typeof stopped === 'object';
  const ok = !failed && parity.holds && differ.length === 0 && tracked;
  const ranks = layout.tensor * layout.pipeline * layout.context * layout.data;
  const bytes = bytesOfRun(program, run);
  const faults = [
    ...(parity.holds ? [] : [`${count(parity.broken.length, 'tensor or number')} not those of one rank`]),
    ...(differ.length === 0 ? [] : ['bytes not those of the program']),
    ...(tracked ? [] : ['memory not that of the program']),
  ];
  return {
    ok,
    answer: failed
      ? failureWords(stopped)
      : ok
        ? `verified: ${count(ranks, 'rank')} (${formatLayout(layout)}) ${ranks === 1 ? 'trains' : 'train'} as one rank does; bytes and memory are the program's`
        : `not verified: ${faults.join(', ')}`,
    tables: failed
      ? []
      : [parityTable(parity), ...(Object.keys(bytes).length > 0 ? [bytesTable(bytes, periods)] : []), memoryTable(run)],
    reasons:
      job.precision === 'fp32'
        ? []
        : [
            `Bytes and memory are of the ${job.precision} program; results are compared in fp32, whose rounding hides no error.`,
          ],
    json: () => ({
      ...fieldsOfRun(run, bytes, peaksOf(run)),
      ok,
      parity: { holds: parity.holds, worst: Object.values(parity.worst), broken: parity.broken },
      job: job.name,
      layout: formatLayout(layout),
    }),
  };
}

const whats: Readonly<Record<ParityFinding['what'], string>> = {
  gradient: 'gradient of a tensor',
  loss: 'loss',
  norm: 'gradient norm',
  parameter: 'parameter after the last step',
  copies: 'copies of a parameter',
  stopped: 'end of the run',
};

const parityTable = ({ worst }: ParityReport): Table =>
  tableOf(
    Object.values(worst),
    [
      words('what', ({ what }) => whats[what]),
      numbers('largest difference', ({ difference }) => difference.toExponential(1)),
      numbers('allowed', ({ bound }) => bound.toExponential(0)),
      words('', ({ difference, bound }) => (difference <= bound ? 'holds' : 'BROKEN')),
      words('where', ({ step, tensor }) => [step && `step ${step}`, tensor].filter(Boolean).join(', ')),
    ],
    'this layout against one rank, relative',
  );
