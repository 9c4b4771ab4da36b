/** @file `meshwright checkpoint`: what the checkpoints of a job hold, and their weights as a Hugging Face folder. */
import { join } from 'node:path';
import { type Command, Option } from '@commander-js/extra-typings';
import { adapterConfigOf, configOf } from '@meshwright/core/model';
import {
  ADAPTER_FOLDER,
  checkpointPath,
  completeSteps,
  exportWeights,
  loadCheckpoint,
  type Manifest,
  readManifestOf,
} from '@meshwright/runtime';
import type { Host, Session } from '../host.ts';
import { folderOption, usualFolder } from '../input/checkpoint-options.ts';
import { saveNamed } from '../input/files.ts';
import { readJobFile } from '../input/job-file.ts';
import { wholeOption } from '../input/run-request.ts';
import { count, whole } from '../output/numbers.ts';
import { jsonOption, printReport } from '../output/report.ts';
import { numbers, tableOf, words } from '../output/table.ts';

const NO_CONFIG =
  'config.json is not written: it is for models of GPT-2, Llama and Mixtral kind. Put that of the model beside the weights.\n';

/** Adds `checkpoint show JOB` and `checkpoint export JOB FOLDER`. */
export function registerCheckpoint(command: Command, session: Session): void {
  const { host } = session;
  const checkpoint = command.command('checkpoint').description('Shows the checkpoints of a job, or exports weights.');
  checkpoint
    .command('show')
    .description('Lists the complete checkpoints of a job; every byte of the last one is checked.')
    .argument('<JOB>', 'the job file of the run')
    .addOption(folderOption())
    .addOption(jsonOption())
    .action((path, options) => show(folderOf(path, options.checkpoints, host), options.json === true, host));
  checkpoint
    .command('export')
    .description(
      'Writes the weights of a checkpoint as model.safetensors under Hugging Face names, and its config.json; adapters into a folder of their own inside, with adapter_config.json.',
    )
    .argument('<JOB>', 'the job file of the run')
    .argument('<FOLDER>', 'where to write; it must be empty or absent')
    .addOption(folderOption())
    .addOption(
      new Option('--step <N>', 'the checkpoint to read (default: the last)').argParser(wholeOption('--step', 1)),
    )
    .action((path, target, options) => {
      const { job } = readJobFile(path, undefined, host);
      const state = loadCheckpoint(options.checkpoints ?? usualFolder(job), options.step);
      const bytes = exportWeights(state, target);
      const config = configOf(job.model);
      if (config) saveNamed(join(target, 'config.json'), `${JSON.stringify(config, null, 2)}\n`, host);
      else host.err.write(NO_CONFIG);
      const adapters = adapterConfigOf(job.model);
      if (adapters)
        saveNamed(join(target, ADAPTER_FOLDER, 'adapter_config.json'), `${JSON.stringify(adapters, null, 2)}\n`, host);
      const tensors = count(Object.keys(state.tensors).length, 'tensor');
      host.out.write(`${tensors} of step ${state.manifest.step}, ${whole(bytes)} bytes, in ${target}\n`);
    });
}

const folderOf = (path: string, given: string | undefined, host: Host): string =>
  given ?? usualFolder(readJobFile(path, undefined, host).job);

/** What else is in each checkpoint of a run that trains adapters alone. */
function frozenLines({ frozen = [], shapes }: Manifest): readonly string[] {
  if (frozen.length === 0) return [];
  const trained = Object.keys(shapes).length - frozen.length;
  return [
    `${count(trained, 'tensor')} of adapters with their optimizer state; ${whole(frozen.length)} frozen weights beside them.`,
  ];
}

function show(folder: string, json: boolean, host: Host): void {
  const last = loadCheckpoint(folder);
  const rows = completeSteps(folder).map((step) => {
    const { files, optimizer, data } = readManifestOf(folder, step);
    const bytes = files.reduce((sum, each) => sum + each.bytes, 0);
    return {
      step,
      path: checkpointPath(folder, step),
      files: files.length,
      bytes,
      optimizer,
      data: data?.name ?? null,
    };
  });
  printReport(
    {
      answer: `${count(rows.length, 'checkpoint')} in ${folder}; the last one, of step ${last.manifest.step}, is whole`,
      tables: [
        tableOf(rows, [
          numbers('step', ({ step }) => whole(step)),
          numbers('files', ({ files }) => whole(files)),
          numbers('bytes', ({ bytes }) => whole(bytes)),
          words('optimizer', ({ optimizer }) => optimizer),
          words('tokens', ({ data }) => data ?? 'drawn from the seed'),
        ]),
      ],
      reasons: frozenLines(last.manifest),
      json: () => ({ schema: 'meshwright.checkpoints/1', folder, checkpoints: rows, settings: last.manifest.settings }),
    },
    json ? 'json' : 'text',
    host,
  );
}
