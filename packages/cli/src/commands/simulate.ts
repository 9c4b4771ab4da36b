/** @file `meshwright simulate`: one step operation by operation, as a report, a drawing, and files for other viewers. */
import { type Command, Option } from '@commander-js/extra-typings';
import { compileProgram } from '@meshwright/core/compile';
import type { Prices } from '@meshwright/core/cost';
import { InputError, type Issue, issue } from '@meshwright/core/errors';
import { type TracedStep, tracedRanks } from '@meshwright/core/export';
import type { Job } from '@meshwright/core/job';
import { type Layout, microBatchesOf } from '@meshwright/core/layout';
import type { AxisName } from '@meshwright/core/mesh';
import { createEvaluator, peakRate, settleLayout, showLayout } from '@meshwright/core/plan';
import type { Program } from '@meshwright/core/program';
import { operationCount, type SimulatedStep, timelineOf } from '@meshwright/core/sim';
import type { Host, Session } from '../host.ts';
import { chooseLayout, readJobFile } from '../input/job-file.ts';
import { checkStepSize } from '../input/step-size.ts';
import { printIssues } from '../output/issues.ts';
import { whole } from '../output/numbers.ts';
import { createProgress } from '../output/progress.ts';
import { type Format, formatOf, formatOption, jsonOption, printReport } from '../output/report.ts';
import { drawTimeline } from './figure-drawings.ts';
import { simulateAgainst } from './simulate-against.ts';
import {
  type DisturbanceOptions,
  exchangeNames,
  protocolNames,
  readDisturbances,
  readWays,
} from './simulate-disturbances.ts';
import { type OutputOptions, readOutputs, writeOutputs } from './simulate-outputs.ts';
import { simulateReport } from './simulate-report.ts';

/** Adds `simulate JOB`. */
export function registerSimulate(command: Command, { host }: Session): void {
  command
    .command('simulate')
    .description(
      'One step in time, operation by operation: its critical path, idle time and lanes; traces for viewers.',
    )
    .argument('<JOB>', 'a job file (YAML or JSON), - for standard input')
    .option('--layout <KEYS>', 'layout keys over those of the job, as in tp=8,pp=4')
    .option('--trace <FILE>', 'write a trace: .pftrace (Perfetto) or .json (Chrome), .gz after it to compress')
    .option('--memory <FILE>', "write what is allocated and given back, for PyTorch's memory viewer")
    .option('--chakra <DIR>', 'write Chakra execution traces, one file for each rank')
    .addOption(
      new Option(
        '--ranks <WHICH>',
        'ranks in traces: the first of each list (default), or all (default of --chakra)',
      ).choices(['all', 'one-per-list'] as const),
    )
    .addOption(
      new Option('--micro-batches <N>', 'simulate fewer micro-batches than the step has').argParser(microBatchCount),
    )
    .option('--alone', 'every operation as if nothing else ran: no shared links, no mutual slow-down')
    .option(
      '--slow <DEVICE=PERCENT>',
      'a device whose kernels take so much longer, as in 5=20; repeat it for more',
      (text: string, before: readonly string[] | undefined) => [...(before ?? []), text],
    )
    .option(
      '--link <KIND:INDEX=SHARE>',
      'a link at a share of its speed, or gone, as in nic:3=0.5 or nic:3=gone; repeat it for more',
      (text: string, before: readonly string[] | undefined) => [...(before ?? []), text],
    )
    .option('--jitter <PERCENT>', 'kernels vary by so much (standard deviation), drawn from --seed')
    .option('--seed <N>', 'seed of --jitter, 0 by default')
    .addOption(
      new Option(
        '--exchanges <NAME>',
        'collectives by one algorithm on every tier, or as libraries choose; default: as the tables of links were measured',
      ).choices(exchangeNames),
    )
    .addOption(new Option('--protocol <NAME>', 'the protocol of collectives').choices(protocolNames))
    .option('--against <FILE>', 'lay a step over it that was measured by run --json; --trace then writes that one')
    .option('--svg', 'draw the step instead of the report')
    .option('--force', 'write over files that are there')
    .addOption(formatOption())
    .addOption(jsonOption())
    .action((path, options) => simulate(path, options, host));
}

interface SimulateOptions extends OutputOptions, DisturbanceOptions {
  readonly layout?: string | undefined;
  readonly against?: string | undefined;
  readonly ranks?: 'all' | 'one-per-list' | undefined;
  readonly microBatches?: number | undefined;
  readonly svg?: true | undefined;
  readonly format: Format;
  readonly json?: true | undefined;
}

async function simulate(path: string, options: SimulateOptions, host: Host): Promise<void> {
  const file = readJobFile(path, options.layout, host);
  const { layout, issues } = chooseLayout(file);
  const job = shortened(file.job, layout, options.microBatches);
  const program = compileProgram(job, layout);
  if (options.against !== undefined) {
    return simulateAgainst({ job, layout, program }, { ...options, against: options.against }, formatOf(options), host);
  }
  const disturbances = readDisturbances(options);
  const ways = readWays(options);
  const ranksOf = (which: 'all' | 'one-per-list', step?: SimulatedStep) =>
    tracedRanks(program, options.ranks ?? which, job.cluster.gpusPerNode, step?.graph);
  const planned = ranksOf('all').map(({ rank }) => rank);
  const outputs = readOutputs(options, job.name, planned, host);
  const format = formatOf(options);
  if (format !== 'json') printIssues([...file.issues, ...issues], host);
  const operations = operationCount(program);
  sayIfLarge(operations, microBatchesOf(job, layout), Object.keys(outputs).length > 0, host);

  const progress = createProgress(host);
  progress.update(`simulating ${whole(operations)} operations`);
  const prices = createEvaluator(job, ways && { ways }).pricesOf(layout);
  const settled = settleLayout(job, layout, prices, disturbances);
  const { step } = settled;
  const traced = tracedStep(step, ranksOf('one-per-list', step), prices);
  const files = await writeOutputs(outputs, traced, ranksOf('all', step), progress, host);
  progress.done();
  if (options.svg === true) {
    for (const { path: written } of files) host.err.write(`wrote ${written}\n`);
    return host.out.write(drawTimeline(step, layout.schedule));
  }
  const shown = showLayout(job, layout);
  const placed = { ...shown, warnings: shown.warnings.map(file.place), issues: [...file.issues, ...issues] };
  const all = microBatchesOf(file.job, layout);
  const shorter = microBatchesOf(job, layout) < all && { shortenedFrom: all };
  const peak = (dtype: string): number => peakRate(job, dtype);
  printReport(
    simulateReport({ settled, shown: placed, peak, disturbances, files, ...(ways && { ways }), ...shorter }),
    format,
    host,
  );
}

function tracedStep(step: SimulatedStep, ranks: TracedStep['ranks'], prices: Prices): TracedStep {
  const { program } = step;
  return {
    program,
    ranks,
    lists: program.lists.map((list) => expandedOf(step, list.pipeline)),
    timeline: timelineOf(step),
    links: linkNames(program, prices),
  };
}

function expandedOf({ lists }: SimulatedStep, pipeline: number): SimulatedStep['lists'][number]['expanded'] {
  const found = lists.find(({ expanded }) => expanded.list.pipeline === pipeline);
  if (found === undefined) throw new Error('internal: a list that nobody runs.');
  return found.expanded;
}

const linkNames = ({ mesh }: Program, prices: Prices): Readonly<Record<string, string>> =>
  Object.fromEntries(
    mesh.axes
      .filter(({ degree }) => degree > 1)
      .map(({ name }): [AxisName, string] => [name, prices.linkOf([name], 'all').name]),
  );

/** The job with as many sequences as these micro-batches take. */
function shortened(job: Job, layout: Layout, microBatches: number | undefined): Job {
  if (microBatches === undefined) return job;
  const all = microBatchesOf(job, layout);
  const unit = layout.chunks > 1 ? layout.pipeline : 1;
  if (microBatches > all || microBatches % unit !== 0) {
    const least = unit > 1 ? `a multiple of ${unit} up to` : 'from 1 to';
    throw new InputError([
      microBatchIssue(`${microBatches} is not ${least} the ${whole(all)} micro-batches of the step.`),
    ]);
  }
  return { ...job, batch: { ...job.batch, sequences: microBatches * layout.data * layout.microBatch } };
}

const microBatchIssue = (message: string): Issue =>
  issue('VALUE_OUT_OF_RANGE', '--micro-batches', message, 'Use a whole number in that range.');

function microBatchCount(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new InputError([microBatchIssue(`${text} is not a whole number of micro-batches.`)]);
}

/** Operations from which a step is called large. */
const LARGE = 2e6;
/** Says what takes long, and refuses what would not fit this process. */
function sayIfLarge(operations: number, microBatches: number, writes: boolean, { err }: Host): void {
  checkStepSize(operations, microBatches, writes ? 'written' : 'simulated', 'Shorten it with --micro-batches N');
  if (operations > LARGE) {
    err.write(
      `${whole(operations)} operations: this takes a while; --micro-batches N simulates fewer of the ${whole(microBatches)}.\n`,
    );
  }
}
