/** @file `meshwright resume`: goes on with a run from its last complete checkpoint, under the same layout or another. */
import { type Command, Option } from '@commander-js/extra-typings';
import { forcedAlgorithms } from '@meshwright/core/collectives';
import { InputError, issue, quote, throwOnErrors } from '@meshwright/core/errors';
import {
  type Corpus,
  checkRunnable,
  completeSteps,
  type KernelEngine,
  kernelEngines,
  type Manifest,
  markOf,
  readManifestOf,
} from '@meshwright/runtime';
import type { Session } from '../host.ts';
import { everyOption, folderOption, keepOption, usualFolder } from '../input/checkpoint-options.ts';
import { readJobFile } from '../input/job-file.ts';
import {
  exchangesOption,
  programToRun,
  type RunSources,
  readRunRequest,
  tokenizerOption,
  wholeOption,
} from '../input/run-request.ts';
import { printIssues } from '../output/issues.ts';
import { jsonLinesOption } from '../output/report.ts';
import { usualValidation } from './run.ts';
import { resumeCommand, type TrainingSettings, trainAndReport } from './training.ts';

/** Adds `resume JOB`. */
export function registerResume(command: Command, session: Session): void {
  command
    .command('resume')
    .description('Goes on with a run from its last complete checkpoint, under the same layout or another.')
    .argument('<JOB>', 'the job file of the run')
    .option('--layout <KEYS>', 'another layout, as in tp=2,pp=2 (default: that of the run)')
    .addOption(
      new Option('--steps <N>', 'the last step (default: that of the run)').argParser(wholeOption('--steps', 1)),
    )
    .addOption(new Option('--step <N>', 'the checkpoint to go on from').argParser(wholeOption('--step', 1)))
    .option('--data <FILE>', 'the same tokens at another place')
    .addOption(tokenizerOption())
    .addOption(new Option('--kernels <ENGINE>', 'what computes (default: that of the run)').choices(kernelEngines))
    .addOption(exchangesOption('that of the run'))
    .addOption(folderOption())
    .addOption(everyOption())
    .addOption(keepOption())
    .addOption(jsonLinesOption())
    .action(async (path, options) => {
      const { host } = session;
      const folder = options.checkpoints ?? usualFolder(readJobFile(path, options.layout, host).job);
      const manifest = readManifestOf(folder, options.step);
      refuseLater(folder, manifest.step);
      const saved = settingsOf(manifest);
      const layout = options.layout ?? saved.layout;
      const data = options.data ?? saved.data;
      const tokenizer = options.tokenizer ?? saved.tokenizer;
      const exchanges = options.exchanges ?? saved.exchanges;
      const request = await readRunRequest(path, { layout, data, tokenizer }, host);
      const json = options.json === true;
      if (!json) printIssues(request.issues, host);
      checkCorpus(manifest, request.corpus);
      const program = programToRun(request.job, request.layout, exchanges);
      const steps = options.steps ?? saved.settings.steps;
      const kernels = options.kernels ?? saved.settings.kernels;
      if (steps <= manifest.step) throw new InputError([finished(manifest.step, steps)]);
      request.file.placing(() => throwOnErrors(checkRunnable(program, { steps, corpus: request.corpus, kernels })));
      if (!json) host.out.write(`from the checkpoint of step ${manifest.step}\n`);
      await trainAndReport(
        {
          program,
          request,
          settings: { ...saved.settings, steps, kernels },
          given: { layout, data, tokenizer, exchanges },
          checkpoints: {
            folder,
            every: options.checkpointEvery ?? saved.every,
            ...(options.keep && { keep: options.keep }),
          },
          from: { folder, step: manifest.step },
          resume: resumeCommand(path, request.job, folder, usualFolder),
          json,
        },
        session,
      );
    });
}

/** A run that goes on from an earlier step would write later ones again. Throws FILE_EXISTS. */
function refuseLater(folder: string, step: number): void {
  const last = completeSteps(folder).at(-1) ?? step;
  if (last <= step) return;
  const message = `${quote(folder)} holds the checkpoint of step ${last} too, which stays as it is.`;
  const hint = `Move what is later than step ${step} away, or copy that one into a folder of its own and name it by --checkpoints.`;
  throw new InputError([issue('FILE_EXISTS', '--step', message, hint)]);
}

const finished = (step: number, steps: number) =>
  issue('VALUE_OUT_OF_RANGE', '--steps', `the run has done ${step} of ${steps} steps.`, `Use --steps ${2 * step}.`);

interface SavedRun {
  readonly settings: TrainingSettings;
  readonly layout: string | undefined;
  readonly data: string | undefined;
  readonly tokenizer: string | undefined;
  readonly exchanges: RunSources['exchanges'];
  readonly every: number;
}

/** What a checkpoint remembers of its run; one that somebody else wrote may know less. */
function settingsOf({ settings, step, seed }: Manifest): SavedRun {
  const whole = (key: string, otherwise: number): number => {
    const value = settings[key];
    return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : otherwise;
  };
  const text = (key: string): string | undefined => (settings[key] ? String(settings[key]) : undefined);
  const steps = whole('steps', 2 * step);
  const rate = settings['rate'];
  const kernels: KernelEngine = kernelEngines.find((engine) => engine === settings['kernels']) ?? 'wasm';
  return {
    settings: {
      steps,
      seed,
      kernels,
      rate: typeof rate === 'number' && rate > 0 ? rate : 0.001,
      validateEvery: whole('validateEvery', usualValidation(steps)),
    },
    layout: text('layout'),
    data: text('data'),
    tokenizer: text('tokenizer'),
    exchanges: forcedAlgorithms.find((name) => name === settings['exchanges']),
    every: Math.max(1, whole('every', steps)),
  };
}

/** Other tokens would be another run. Throws CHECKPOINT_OF_ANOTHER. */
function checkCorpus({ data }: Manifest, corpus: Corpus | undefined): void {
  const now = corpus && markOf(corpus);
  if (now?.sha256 === data?.sha256) return;
  const before = data ? `${data.tokens} tokens of ${data.name}` : 'tokens drawn from its seed';
  const after = now ? `${now.tokens} tokens of ${now.name}` : 'tokens drawn from the seed';
  const message = `the run was trained on ${before}, and this would be ${after}.`;
  throw new InputError([issue('CHECKPOINT_OF_ANOTHER', '--data', message, 'Name the same tokens by --data.')]);
}
