/** @file `meshwright figure`: a figure as SVG, as a table, or as data. */
import { Argument, type Command, Option } from '@commander-js/extra-typings';
import { assertUnreachable, InputError, type Issue, issue } from '@meshwright/core/errors';
import { createEvaluator, type SweepRange, sweepSizes } from '@meshwright/core/plan';
import { operationCount, pricesOf, type SimulatedStep, simulateProgram } from '@meshwright/core/sim';
import { formatSeconds, seconds } from '@meshwright/core/units';
import { type Detail, framesOf, scriptOptionsOf, stageTimelines, stepFacts, stepScript } from '@meshwright/figures';
import type { Host, Session } from '../host.ts';
import { saveNamed } from '../input/files.ts';
import { readJobFile } from '../input/job-file.ts';
import { type ProgramSource, readProgramSource } from '../input/program-file.ts';
import { checkStepSize } from '../input/step-size.ts';
import { printIssues } from '../output/issues.ts';
import { whole } from '../output/numbers.ts';
import { createProgress } from '../output/progress.ts';
import { type Format, formatOf, formatOption, jsonOption, printReport } from '../output/report.ts';
import { drawExchanges, drawScaling, drawSteps, drawTimeline } from './figure-drawings.ts';
import {
  type Figure,
  mapAxes,
  type PlanFigure,
  type PlanFigureOptions,
  planFigure,
  planFigures,
} from './figure-of-plan.ts';
import { exchangesReport, scalingReport, stepsReport, timelineReport } from './figure-reports.ts';
import { sweepOf } from './plan-options.ts';

const names = ['exchanges', 'steps', 'timeline', 'scaling', ...planFigures] as const;
type FigureName = (typeof names)[number];

/** Options that only one figure has. */
const ownOptions = {
  from: 'timeline',
  to: 'timeline',
  step: 'steps',
  hops: 'steps',
  sweep: 'scaling',
  stage: 'memory-over-time',
  axis: 'map',
  rank: 'map',
} as const;

/** Adds `figure NAME JOB`. */
export function registerFigure(command: Command, { host }: Session): void {
  command
    .command('figure')
    .description(
      'A figure of a job: exchanges (what GPUs hold and move), steps (one step, press by press), timeline (one step in time), scaling (from few GPUs to many), waterfall (where a step goes), ranking (plans by time and memory), memory and memory-over-time (of stages), map (ranks on the cluster).',
    )
    .addArgument(new Argument('<NAME>', 'which figure').choices(names))
    .argument('<JOB>', 'a job file, - for standard input')
    .option('--layout <KEYS>', 'layout keys over those of the job, as in tp=8,pp=4')
    .option('--svg', 'draw it; without, the same facts as a table')
    .option('--out <FILE>', 'write the drawing to a file')
    .addOption(new Option('--from <MS>', 'begin of the timeline in milliseconds').argParser(millisecondsOf('--from')))
    .addOption(new Option('--to <MS>', 'end of the timeline in milliseconds').argParser(millisecondsOf('--to')))
    .addOption(
      new Option('--step <N>', 'steps: the frame to draw, 0 for the beginning').argParser(
        countFrom0('--step', 'a frame'),
      ),
    )
    .option('--hops', 'steps: each message of an exchange is a frame')
    .addOption(new Option('--sweep <RANGE>', 'scaling: the sizes, as in gpus=8..4096').argParser(sweepOf))
    .addOption(new Option('--stage <N>', 'memory-over-time: the stage').argParser(countFrom0('--stage', 'a stage')))
    .addOption(new Option('--axis <AXIS>', 'map: whose groups').choices(mapAxes))
    .addOption(new Option('--rank <N>', 'map: whose group').argParser(countFrom0('--rank', 'a rank')))
    .addOption(formatOption())
    .addOption(jsonOption())
    .action((name, path, options) => {
      checkOptions(name, options);
      const format = formatOf(options);
      const figure = figureOf(name, path, options, host, (issues) => {
        if (format !== 'json') printIssues(issues, host);
      });
      if (options.svg !== true && options.out === undefined) return printReport(figure.report(), format, host);
      deliver(figure.draw(), options.out, host);
    });
}

interface FigureOptions extends PlanFigureOptions {
  readonly layout?: string | undefined;
  readonly svg?: true | undefined;
  readonly out?: string | undefined;
  readonly json?: true | undefined;
  readonly format: Format;
  readonly sweep?: SweepRange | undefined;
  readonly from?: number | undefined;
  readonly to?: number | undefined;
  readonly step?: number | undefined;
  readonly hops?: true | undefined;
}

/** Refuses options that would be ignored. */
function checkOptions(name: FigureName, options: FigureOptions): void {
  const refuse = (option: string, message: string, hint: string): never => {
    throw new InputError([issue('OPTIONS_CONTRADICT', option, message, hint)]);
  };
  for (const [option, owner] of Object.entries(ownOptions)) {
    if (owner === name || options[option as keyof typeof ownOptions] === undefined) continue;
    refuse(`--${option}`, `--${option} is of the figure ${owner}, not of ${name}.`, 'Leave it out.');
  }
  const drawn = options.svg ? '--svg' : options.out === undefined ? undefined : '--out';
  const format = formatOf(options);
  if (drawn === undefined || format === 'text') return;
  refuse(
    options.json ? '--json' : '--format',
    `${drawn} asks for the drawing, and ${format} for its facts.`,
    'Keep one.',
  );
}

const isPlanFigure = (name: FigureName): name is PlanFigure => planFigures.some((each) => each === name);

type Say = (issues: readonly Issue[]) => void;

function figureOf(name: FigureName, path: string, options: FigureOptions, host: Host, say: Say): Figure {
  if (name === 'scaling') return scalingOf(path, options, host, say);
  if (isPlanFigure(name)) {
    const file = readJobFile(path, options.layout, host);
    say(file.issues);
    return planFigure(name, file, options);
  }
  const source = readProgramSource(path, options.layout, host);
  say(source.issues);
  const { program } = source;
  if (name !== 'steps') {
    checkStepSize(operationCount(program), program.microBatches, 'simulated', 'Use a batch of fewer micro-batches');
  }
  switch (name) {
    case 'exchanges':
      return exchangesOf(source);
    case 'steps':
      return stepsOf(source, options.step, options.hops === true ? 'hops' : 'collectives');
    case 'timeline':
      return timelineOf(source, options.from, options.to);
    default:
      return assertUnreachable(name);
  }
}

/** Sizes that are swept when nobody says. */
const USUAL_SWEEP: SweepRange = { from: 8, to: 4096 };

function scalingOf(path: string, { layout, sweep: range }: FigureOptions, host: Host, say: Say): Figure {
  const file = readJobFile(path, layout, host);
  say(file.issues);
  const progress = createProgress(host);
  let doing = '';
  const sweep = sweepSizes(
    file.job,
    range ?? USUAL_SWEEP,
    (done) => progress.update(`${doing}: ${whole(done)} layouts`),
    (next) => {
      doing = next;
      progress.update(next);
    },
  );
  progress.done();
  return { report: () => scalingReport(sweep, file.job.name), draw: () => drawScaling(sweep, file.job.name) };
}

function stepsOf(source: ProgramSource, frame: number | undefined, detail: Detail): Figure {
  const { program, job, layout } = withJob(source);
  const script = stepScript(program, job.cluster, scriptOptionsOf(job, layout));
  const last = framesOf(script, detail);
  if (frame !== undefined && frame > last) {
    const message = `frame ${frame} is beyond the last one, ${last}.`;
    throw new InputError([issue('VALUE_OUT_OF_RANGE', '--step', message, `Use 0 to ${last}.`)]);
  }
  return { report: () => stepsReport(script), draw: () => drawSteps(script, frame, detail) };
}

function exchangesOf(source: ProgramSource): Figure {
  const { program, job } = withJob(source);
  return {
    report: () => exchangesReport(stepFacts(program, job.cluster)),
    draw: () => drawExchanges(program, job.cluster),
  };
}

function timelineOf(source: ProgramSource, from: number | undefined, to: number | undefined): Figure {
  const { program, job, layout } = withJob(source);
  const step: SimulatedStep = simulateProgram(program, pricesOf(program, createEvaluator(job).pricesOf(layout)));
  const window = [from ?? 0, Math.min(to ?? step.seconds, step.seconds)] as const;
  if (window[0] >= window[1]) {
    const message = `nothing of the step lies between ${formatSeconds(seconds(window[0]))} and ${formatSeconds(seconds(to ?? step.seconds))}.`;
    const hint = `The step takes ${formatSeconds(seconds(step.seconds))}.`;
    throw new InputError([issue('VALUE_OUT_OF_RANGE', '--from', message, hint)]);
  }
  return {
    report: () => timelineReport(step, stageTimelines(step)),
    draw: () => drawTimeline(step, layout.schedule, window),
  };
}

/** Figures need links and prices, and so the job that a program came from. */
function withJob({ program, job, layout }: ProgramSource): Required<Omit<ProgramSource, 'issues'>> {
  if (job && layout) return { program, job, layout };
  throw new InputError([
    issue('VALUE_WRONG_TYPE', 'JOB', 'a program alone does not say on which cluster it runs.', 'Name the job file.'),
  ]);
}

function deliver(svg: string, out: string | undefined, host: Host): void {
  if (out === undefined) return host.out.write(svg);
  saveNamed(out, svg, host);
  host.err.write(`wrote ${out}\n`);
}

const millisecondsOf =
  (option: string) =>
  (text: string): number => {
    const value = Number(text);
    if (Number.isFinite(value) && value >= 0) return value / 1e3;
    throw new InputError([
      issue('VALUE_OUT_OF_RANGE', option, `${text} is not a number of milliseconds.`, 'Use 0 or more.'),
    ]);
  };

const countFrom0 =
  (option: string, what: string) =>
  (text: string): number => {
    const value = Number(text);
    if (Number.isSafeInteger(value) && value >= 0) return value;
    throw new InputError([issue('VALUE_OUT_OF_RANGE', option, `${text} is not ${what}.`, 'Use 0 or more.')]);
  };
