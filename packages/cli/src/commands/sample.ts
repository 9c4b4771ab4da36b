/** @file `meshwright sample`: text that the trained model of a job writes, from a checkpoint of any layout. */
import { type Command, Option } from '@commander-js/extra-typings';
import { compileProgram } from '@meshwright/core/compile';
import { InputError, issue } from '@meshwright/core/errors';
import type { Job } from '@meshwright/core/job';
import { importWeights, loadCheckpoint, type SampleOptions, sampleTokens } from '@meshwright/runtime';
import type { Session } from '../host.ts';
import { folderOption, usualFolder } from '../input/checkpoint-options.ts';
import { chooseLayout, readJobFile } from '../input/job-file.ts';
import { oneRankLayout } from '../input/one-rank.ts';
import { kernelsOption, tokenizerOf, tokenizerOption, wholeOption } from '../input/run-request.ts';
import { jsonOption } from '../output/report.ts';

const USUAL_TOKENS = 200;
const USUAL_TEMPERATURE = 0.8;
/** A letter begins most texts; with bytes a line's end is one too. */
const USUAL_PROMPT = '\n';

/** Adds `sample JOB`. */
export function registerSample(command: Command, session: Session): void {
  command
    .command('sample')
    .description('Writes text with the trained model of a job, from a checkpoint of whatever layout.')
    .argument('<JOB>', 'the job file of the run')
    .addOption(folderOption())
    .addOption(
      new Option('--step <N>', 'the checkpoint to read (default: the last)').argParser(wholeOption('--step', 1)),
    )
    .option('--from <FOLDER>', 'weights of a Hugging Face folder instead of a checkpoint')
    .addOption(
      new Option('--prompt <TEXT>', 'what the text begins with (default: a new line)').default(USUAL_PROMPT, ''),
    )
    .addOption(
      new Option('--tokens <N>', 'tokens to write').argParser(wholeOption('--tokens', 1)).default(USUAL_TOKENS),
    )
    .addOption(
      new Option('--temperature <T>', '0 takes the likeliest token, above 1 is bold')
        .argParser(temperatureOf)
        .default(USUAL_TEMPERATURE),
    )
    .addOption(new Option('--seed <N>', 'of the draws').argParser(wholeOption('--seed', 0)).default(1))
    .addOption(tokenizerOption())
    .addOption(kernelsOption())
    .addOption(jsonOption())
    .action(async (path, options) => {
      const { host } = session;
      const file = readJobFile(path, undefined, host);
      const { job } = file;
      const one: Job = { ...job, batch: { ...job.batch, sequences: 1 }, precision: 'fp32' };
      const program = file.placing(() => {
        const { layout } = chooseLayout(file);
        return compileProgram(one, { ...oneRankLayout(one, layout), microBatch: 1, gradientType: 'fp32' });
      });
      const weights: Pick<SampleOptions, 'from' | 'initial'> =
        options.from === undefined
          ? { from: loadCheckpoint(options.checkpoints ?? usualFolder(job), options.step) }
          : { initial: importWeights(options.from, program) };
      const remembered = weights.from?.manifest.settings['tokenizer'];
      const tokenizer = await tokenizerOf(options.tokenizer ?? (remembered ? String(remembered) : undefined), host);
      const { prompt, tokens, temperature, seed, kernels } = options;
      const drawn = sampleTokens(program, {
        ...weights,
        prompt: Array.from(tokenizer.encode(prompt)),
        tokens,
        temperature,
        seed,
        kernels,
      });
      const text = tokenizer.decode([...Array.from(tokenizer.encode(prompt)), ...drawn]);
      const step = weights.from?.manifest.step ?? null;
      host.out.write(
        options.json ? `${JSON.stringify({ schema: 'meshwright.sample/1', step, prompt, text })}\n` : `${text}\n`,
      );
    });
}

/** Throws VALUE_OUT_OF_RANGE. */
function temperatureOf(text: string): number {
  const value = Number(text);
  if (text.trim() !== '' && Number.isFinite(value) && value >= 0) return value;
  const message = `${text} is not a number from 0.`;
  throw new InputError([issue('VALUE_OUT_OF_RANGE', '--temperature', message, 'Use 0.8.')]);
}
