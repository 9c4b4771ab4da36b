/** @file Options of checkpoints: where they are, when they are written, how many stay. */
import { Option } from '@commander-js/extra-typings';
import type { Job } from '@meshwright/core/job';
import { wholeOption } from './run-request.ts';

type NumberOption<Flags extends string> = Option<Flags, undefined, undefined, number, false, undefined>;

/** `--checkpoints FOLDER`. */
export const folderOption = (): Option<'--checkpoints <FOLDER>', undefined, undefined, undefined, false, undefined> =>
  new Option('--checkpoints <FOLDER>', 'where checkpoints are (default: checkpoints/<name of the job>)');

/** `--checkpoint-every N`. */
export const everyOption = (): NumberOption<'--checkpoint-every <N>'> =>
  new Option('--checkpoint-every <N>', 'steps between checkpoints; the last step and Ctrl-C write one too').argParser(
    wholeOption('--checkpoint-every', 1),
  );

/** `--keep N`. */
export const keepOption = (): NumberOption<'--keep <N>'> =>
  new Option('--keep <N>', 'remove all but the last checkpoints of this run').argParser(wholeOption('--keep', 1));

/** The folder of a job's checkpoints where nobody names one. */
export const usualFolder = ({ name }: Job): string => `checkpoints/${name.replaceAll(/[^\w-]+/g, '-')}`;
