/** @file `meshwright show`: one layout in full. */
import { type Command, Option } from '@commander-js/extra-typings';
import { type Shown, showLayout, sizedJob } from '@meshwright/core/plan';
import { formatCount, formatDuration, seconds } from '@meshwright/core/units';
import type { Session } from '../host.ts';
import { readJobFile } from '../input/job-file.ts';
import { printIssues } from '../output/issues.ts';
import { count, fixed, percent, significant, whole } from '../output/numbers.ts';
import { degreeWords, GIB, gib, headline } from '../output/plan-words.ts';
import { type Format, formatOf, formatOption, jsonOption, printReport, type Report } from '../output/report.ts';
import { countOfGpus, hoursOf, restartOf, storageOf } from './plan-options.ts';
import { assumptionTable, groupTable, memoryTable, partTable, trafficTable } from './show-tables.ts';

/** Adds `show JOB`. */
export function registerShow(command: Command, { host }: Session): void {
  command
    .command('show')
    .description(
      'One layout in full: time, memory of each stage, traffic, pipeline. Defaults for keys that are left out.',
    )
    .argument('<JOB>', 'a job file (YAML or JSON), - for standard input')
    .option('--layout <KEYS>', 'layout keys over those of the job, as in tp=8,pp=4')
    .addOption(new Option('--gpus <N>', 'on so many GPUs of its cluster instead').argParser(countOfGpus))
    .addOption(new Option('--storage <GBPS>', 'what all nodes write together, in GB/s').argParser(storageOf))
    .addOption(new Option('--mtbf <HOURS>', 'mean hours of a GPU between failures').argParser(hoursOf))
    .addOption(new Option('--restart <SECONDS>', 'from a failure to the next step').argParser(restartOf))
    .option('--groups', 'list the ranks of every group')
    .option('--assumptions', 'list the numbers that are assumed (~)')
    .addOption(formatOption())
    .addOption(jsonOption())
    .action((path, options) => {
      const file = readJobFile(path, options.layout, host);
      const groups = options.groups === true;
      const found = file.placing(() => {
        const job = options.gpus === undefined ? file.job : sizedJob(file.job, options.gpus);
        return showLayout(job, job.layout, {
          groups,
          ...(options.storage !== undefined && { storageBytesPerSecond: options.storage }),
          ...(options.mtbf !== undefined && { deviceHours: options.mtbf }),
          ...(options.restart !== undefined && { restartSeconds: options.restart }),
        });
      });
      const shown: Shown = {
        ...found,
        warnings: found.warnings.map(file.place),
        issues: [...file.issues, ...found.issues].map(file.place),
      };
      const format = formatOf(options);
      if (format !== 'json') printIssues([...shown.issues, ...shown.warnings], host);
      printReport(showReport(shown, options.assumptions === true, format), format, host);
    });
}

/** What loaders deliver, and what a checkpoint takes. */
function storageLines({ input, checkpoint }: Shown['storage']): readonly string[] {
  const { bytesPerSecondPerNode, dataRanksPerNode } = input;
  const ranks = count(dataRanksPerNode, 'data rank');
  const adapters = checkpoint.bytes - checkpoint.frozenBytes;
  const of =
    checkpoint.frozenBytes === 0
      ? `${checkpoint.bytesPerParameter} bytes a parameter`
      : `${significant(adapters / GIB)} of adapters at ${checkpoint.bytesPerParameter} bytes a trained parameter, ${significant(checkpoint.frozenBytes / GIB)} of frozen weights`;
  const written =
    checkpoint.writeSeconds === undefined
      ? `; ${significant(checkpoint.bytesPerSecondForOneStep / 1e9)} GB/s of storage~ write it within a step`
      : `, written in ${significant(checkpoint.writeSeconds)} s`;
  return [
    `Loaders deliver ${significant(bytesPerSecondPerNode / 1e3)} kB/s of token ids~ on each node of ${ranks}.`,
    `A checkpoint is ${gib(checkpoint.bytes)} GiB (${of})${written}.`,
  ];
}

/** How often a checkpoint is worth its time. */
function failureLine({ failures, gpus }: Shown): string {
  const { meanSeconds, intervalSeconds, intervalSteps, lost, rare } = failures;
  const long = (value: number): string => formatDuration(seconds(value));
  const law = rare
    ? ''
    : ' Writing takes more than a tenth of the time between failures: more is lost than this law says.';
  return `Failures stop ${whole(gpus)} GPUs once in ${long(meanSeconds)}~: a checkpoint every ${long(intervalSeconds)}~ (${count(intervalSteps, 'step')}) loses least, ${percent(lost.share, 2)} % of the time~.${law}`;
}

const verdicts = {
  fits: 'fits',
  'at-risk': 'fits only if the assumptions are kind',
  'does-not-fit': 'does not fit',
} as const;

/** Rows of stages that fit a screen. */
const MOST_STAGES = 12;

function showReport(shown: Shown, withAssumptions: boolean, format: Format): Report {
  const { layout, memory, groups } = shown;
  return {
    answer: `${degreeWords(layout)} - ${headline(shown)}: ${verdicts[memory.verdict]}`,
    tables: [
      partTable(shown),
      memoryTable(shown, format === 'text' ? MOST_STAGES : Number.POSITIVE_INFINITY),
      ...(shown.traffic.length > 0 ? [trafficTable(shown)] : []),
      ...(groups ? [groupTable(groups)] : []),
      ...(withAssumptions ? [assumptionTable(shown)] : []),
    ],
    reasons: reasonsOf(shown),
    json: () => shown,
  };
}

/** What is trained where the weights are frozen. */
function adapterLine(job: Shown['job']): readonly string[] {
  if (job['workload'] !== 'lora') return [];
  const [trained, all] = [Number(job['trainableParameters']), Number(job['parameters'])];
  return [
    `Adapters of rank ${job['loraRank']} beside ${job['loraTargets']}: ${formatCount(trained)} of ${formatCount(all)} parameters are trained (${percent(trained / all, 2)} %); the others are frozen and have no gradient and no state.`,
  ];
}

function reasonsOf(shown: Shown): readonly string[] {
  const { step, layout, pipeline, gpus, job, assumptions, storage } = shown;
  const { schedule, stages, chunks, microBatches, bubbleShare, bubbleRatio, closedFormShare } = pipeline;
  const staged =
    stages > 1
      ? `, ${schedule} over ${stages} stages${chunks > 1 ? ` of ${chunks} chunks` : ''}: bubble ${percent(bubbleShare)} % of the step, ${percent(bubbleRatio)} % of the work (equal stages and free exchanges: ${percent(closedFormShare)} % of the step)`
      : '';
  return [
    `Layout on ${whole(gpus)} GPUs: ${layout.short}`,
    `${whole(microBatches)} micro-batches a step${staged}.`,
    `${whole(Number(job['tokens']))} tokens a step: ${whole(step.tokensPerSecondPerGpu)} tokens/s and ${fixed(step.tflopsPerGpu, 0)} TFLOP/s per GPU~, ` +
      `HFU ${percent(step.hfu)} %~. The step is between ${fixed(step.low, 3)} and ${fixed(step.high, 3)} s; ` +
      `${fixed(step.hiddenSeconds, 3)} s of exchanges are hidden behind compute.`,
    ...adapterLine(job),
    ...storageLines(storage),
    failureLine(shown),
    `MFU counts ${step.mfuConvention}.`,
    `~ rests on ${assumptions.length} assumed numbers (--assumptions).`,
  ];
}
