/** @file `meshwright plan`: the best layouts of a job, and why the first one is first. */
import { type Command, Option } from '@commander-js/extra-typings';
import { nearestRun, type PublishedRun } from '@meshwright/core/explain';
import {
  jobOnGpus,
  type Objective,
  objectives,
  type Planned,
  type PlanOptions,
  planJob,
  type RecipeName,
  recipeNames,
  type Shown,
  type SweepRange,
} from '@meshwright/core/plan';
import { exitCodes, type Host, type Session } from '../host.ts';
import { type JobFile, readJobFile } from '../input/job-file.ts';
import { printIssues } from '../output/issues.ts';
import { count, percent, significant, whole } from '../output/numbers.ts';
import { degreeWords, headline, linkLines, rejectionWords } from '../output/plan-words.ts';
import { createProgress } from '../output/progress.ts';
import { type Format, formatOf, formatOption, jsonOption, printReport, type Report } from '../output/report.ts';
import { shellWords } from '../output/shell.ts';
import { gpusOf, priceOf, sweepOf, topOf } from './plan-options.ts';
import { curveTables, planTable, recipeReasons, sizeTable, sweepReasons, workloadTable } from './plan-tables.ts';

const USUAL_TOP = 5;

/** Adds `plan JOB`. */
export function registerPlan(command: Command, session: Session): void {
  command
    .command('plan')
    .description('The best layouts of a job, ranked, and why the first one is first.')
    .argument('<JOB>', 'a job file (YAML or JSON), - for standard input')
    .option('--layout <KEYS>', 'keys that are fixed, as in tp=8,pp=4; the rest is searched')
    .addOption(new Option('--top <N>', 'how many layouts to show').argParser(topOf))
    .addOption(new Option('--gpus <N>', 'min: the smallest cluster that fits; or how many GPUs').argParser(gpusOf))
    .addOption(new Option('--objective <NAME>', 'what is best; default time').choices(objectives))
    .addOption(new Option('--price <AMOUNT>', 'of a GPU-hour, in any currency').argParser(priceOf))
    .addOption(new Option('--sweep <RANGE>', 'scaling over sizes, as in gpus=8..4096').argParser(sweepOf))
    .addOption(new Option('--recipe <NAME>', 'a recipe of the field beside the search').choices(recipeNames))
    .option('--per-layer', 'let some layers recompute and others not')
    .addOption(formatOption())
    .addOption(jsonOption())
    .action((path, options) => {
      const { host } = session;
      const file = readJobFile(path, options.layout, host);
      const planned = planWithProgress(file, requestOf(options), host);
      const format = formatOf(options);
      const resized = planned.sizes !== undefined || options.gpus !== undefined;
      const issues = planned.issues.map(file.place);
      if (format !== 'json') printIssues([...file.issues, ...issues], host);
      if (planned.plans.length === 0 || planned.issues.some((each) => each.severity === 'error'))
        session.end(exitCodes.failed);
      const report = planReport({ ...planned, issues }, path, options.layout, resized, format);
      const [first] = planned.plans;
      const published = first && nearestRun(jobOnGpus(file.job, first.gpus) ?? file.job);
      printReport(withPublished(report, published), format, host);
    });
}

/** The nearest published run beside the plan. */
function withPublished(report: Report, run: PublishedRun | undefined): Report {
  if (run === undefined) return report;
  const degrees = run.tensor * run.pipeline * run.data > 0 ? `, ${run.tensor} x ${run.pipeline} x ${run.data}` : '';
  const words =
    `Nearest published run: ${run.model} on ${whole(run.gpus)} ${run.gpu}${degrees}, length ${whole(run.length)}, ` +
    `${run.bits}-bit products: ${whole(run.tokensPerSecondPerGpu)} tokens/s/GPU (${run.source}, ${run.year}).`;
  return {
    ...report,
    reasons: [...report.reasons.slice(0, -1), words, ...report.reasons.slice(-1)],
    json: () => ({ ...report.json(), published: run }),
  };
}

interface Options {
  readonly top?: number | undefined;
  readonly gpus?: 'min' | number | undefined;
  readonly objective?: Objective | undefined;
  readonly price?: number | undefined;
  readonly sweep?: SweepRange | undefined;
  readonly recipe?: RecipeName | undefined;
  readonly perLayer?: true | undefined;
}

const requestOf = ({ top, gpus, objective, price, sweep, recipe, perLayer }: Options): PlanOptions => ({
  top: top ?? USUAL_TOP,
  ...(gpus !== undefined && { gpus }),
  ...(objective !== undefined && { objective }),
  ...(price !== undefined && { pricePerGpuHour: price }),
  ...(sweep && { sweep }),
  ...(recipe !== undefined && { recipe }),
  ...(perLayer && { perLayer }),
});

function planWithProgress(file: JobFile, options: PlanOptions, host: Host): Planned {
  const progress = createProgress(host);
  try {
    return file.placing(() =>
      planJob(file.job, {
        ...options,
        onProgress: (done, total, phase, doing) => {
          const where = doing ? `${doing}: ` : '';
          progress.update(
            phase === 'bound'
              ? `${where}bounding ${whole(done)} of ${whole(total)} layouts`
              : `${where}evaluated ${whole(done)} layouts`,
          );
        },
      }),
    );
  } finally {
    progress.done();
  }
}

function planReport(
  planned: Planned,
  path: string,
  layoutText: string | undefined,
  resized: boolean,
  format: Format,
): Report {
  const { plans, sizes, workloads, sweep, recipe } = planned;
  const [first, second] = plans;
  return {
    answer: first
      ? `${bestWords(planned, first)}: ${degreeWords(first.layout)} - ${headline(first)}`
      : 'no layout of this job fits',
    tables: [
      ...(first ? [planTable(planned, format)] : []),
      ...(sizes && sizes.length > 0 ? [sizeTable(sizes)] : []),
      ...(workloads ? [workloadTable(workloads)] : []),
      ...(sweep ? curveTables(sweep) : []),
    ],
    reasons: [
      ...(first ? linkLines(first) : []),
      ...(first && second ? [aheadOf(first, second, planned)] : []),
      ...amountWords(planned),
      ...(recipe ? recipeReasons(recipe, first) : []),
      ...(sweep ? sweepReasons(sweep) : []),
      ...(planned.considered > 0 ? [consideredWords(planned)] : []),
      ...(first ? [inFull(path, first, { resized })] : layoutText ? ['Free some keys of --layout.'] : []),
    ],
    json: () => planned,
  };
}

function bestWords({ objective, slowestSeconds }: Planned, { gpus, job }: Shown): string {
  switch (objective) {
    case 'time':
      return 'best';
    case 'memory':
      return slowestSeconds === undefined
        ? 'least memory'
        : `least memory in a step of at most ${significant(slowestSeconds)} s, 1.25 x the fastest`;
    case 'gpus':
      return `smallest: ${count(gpus, 'GPU')} (${job['cluster']})`;
    case 'cost':
      return `cheapest: ${count(gpus, 'GPU')} (${job['cluster']})`;
    case 'energy':
      return `least energy: ${count(gpus, 'GPU')} (${job['cluster']})`;
  }
}

function amountWords({ objective, amounts }: Planned): readonly string[] {
  if (!amounts) return [];
  const { costPerBillionTokens, kilowattHoursPerBillionTokens, watts, gpuHoursPerBillionTokens } = amounts;
  const hours = `${significant(gpuHoursPerBillionTokens)} GPU-hours`;
  const money =
    costPerBillionTokens === undefined ? '' : ` and ${significant(costPerBillionTokens)} of the price's currency`;
  const lines =
    objective === 'cost' || costPerBillionTokens !== undefined ? [`10^9 tokens take ${hours}${money}~.`] : [];
  if (objective !== 'energy' || !watts || kilowattHoursPerBillionTokens === undefined) return lines;
  return [
    ...lines,
    `10^9 tokens take ${significant(kilowattHoursPerBillionTokens)} kWh~: ${hours} at ${whole(watts.value)} W a GPU (${watts.source}); hosts, network and cooling are not counted.`,
  ];
}

/** How to see the first plan in full, on its own number of GPUs. */
function inFull(path: string, first: Shown, { resized }: { readonly resized: boolean }): string {
  const gpus = resized ? ['--gpus', String(first.gpus)] : [];
  return `In full: ${shellWords(['meshwright', 'show', path, ...gpus, '--layout', first.layout.short])}`;
}

function aheadOf(first: Shown, second: Shown, { explain, settled }: Planned): string {
  const ahead = (second.step.seconds - first.step.seconds) / first.step.seconds;
  const parts = explain.map((reason) => reason.words).join(', ');
  const because = parts === '' ? '' : `: ${parts}`;
  const [own, other] = settled.map(({ simulatedSeconds }) => simulatedSeconds);
  if (ahead >= 0 || own === undefined || other === undefined) {
    return `#1 is ${percent(ahead, 2)} % ahead of #2${because}.`;
  }
  return `#1 is ${percent(other / own - 1, 2)} % ahead of #2 on shared links, where operations alone put it ${percent(-ahead, 2)} % behind${because}.`;
}

function consideredWords({ considered, legal, evaluated, rejected, proven, settled, objective }: Planned): string {
  const reasons = rejectionWords(rejected);
  const isSettled = settled.length > 1 && settled.every(({ simulatedSeconds }) => simulatedSeconds !== undefined);
  const order = isSettled ? ', every operation taken alone; shared links give the order above' : '';
  const proof = proven
    ? ` No layout of this space that fits ${objective === 'memory' ? 'and is fast enough needs less' : 'is faster'} (proven by bounds)${order}.`
    : '';
  const without = reasons === '' ? '' : `; rejected: ${reasons}`;
  return `${count(considered, 'layout')} considered, ${whole(legal)} legal, ${whole(evaluated)} evaluated${without}.${proof}`;
}
