/** @file `meshwright run`: trains the job's model under its layout on this machine, one rank a thread. */
import { type Command, Option } from '@commander-js/extra-typings';
import { InputError, issue, quote, throwOnErrors } from '@meshwright/core/errors';
import { checkRunnable, completeSteps } from '@meshwright/runtime';
import type { Session } from '../host.ts';
import { everyOption, folderOption, keepOption, usualFolder } from '../input/checkpoint-options.ts';
import {
  exchangesOption,
  kernelsOption,
  positiveOption,
  programToRun,
  readRunRequest,
  tokenizerOption,
  wholeOption,
} from '../input/run-request.ts';
import { printIssues } from '../output/issues.ts';
import { jsonLinesOption } from '../output/report.ts';
import { resumeCommand, trainAndReport } from './training.ts';

const USUAL_STEPS = 20;
const USUAL_PEAK = 0.001;
const VALIDATIONS = 5;

/** Steps between validations where nobody says: five in all. */
export const usualValidation = (steps: number): number => Math.max(1, Math.ceil(steps / VALIDATIONS));

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
    .addOption(tokenizerOption())
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
    .option('--from <FOLDER>', 'start from the weights of a Hugging Face folder (safetensors)')
    .addOption(everyOption())
    .addOption(folderOption())
    .addOption(keepOption())
    .addOption(kernelsOption())
    .addOption(exchangesOption('ring, scalars direct'))
    .addOption(jsonLinesOption())
    .action(async (path, options) => {
      const { host } = session;
      const request = await readRunRequest(path, options, host);
      const json = options.json === true;
      if (!json) printIssues(request.issues, host);
      const { steps, seed, rate, kernels, layout, data, tokenizer, exchanges } = options;
      const program = programToRun(request.job, request.layout, exchanges);
      request.file.placing(() => throwOnErrors(checkRunnable(program, { steps, corpus: request.corpus, kernels })));
      const folder = options.checkpoints ?? usualFolder(request.job);
      const saves = options.checkpoints !== undefined || options.checkpointEvery !== undefined;
      if (saves) refuseOthers(folder);
      await trainAndReport(
        {
          program,
          request,
          settings: { steps, seed, rate, kernels, validateEvery: options.validate ?? usualValidation(steps) },
          given: { layout, data, tokenizer, exchanges },
          checkpoints: saves
            ? { folder, every: options.checkpointEvery ?? steps, ...(options.keep && { keep: options.keep }) }
            : undefined,
          weights: options.from,
          resume: resumeCommand(path, request.job, folder, usualFolder),
          json,
        },
        session,
      );
    });
}

/** Checkpoints of another run stay as they are. Throws FILE_EXISTS. */
function refuseOthers(folder: string): void {
  const steps = completeSteps(folder);
  if (steps.length === 0) return;
  const message = `${quote(folder)} holds the checkpoint of step ${steps.at(-1)} of a run.`;
  const hint = 'Go on with meshwright resume, or name another folder by --checkpoints.';
  throw new InputError([issue('FILE_EXISTS', '--checkpoints', message, hint)]);
}
