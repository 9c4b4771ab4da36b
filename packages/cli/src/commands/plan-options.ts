/** @file The options of `meshwright plan` that are more than a word. */
import { InputError, issue } from '@meshwright/core/errors';
import type { SweepRange } from '@meshwright/core/plan';

/** How many layouts to show. */
export function topOf(text: string): number {
  const value = Number(text);
  if (Number.isInteger(value) && value >= 1 && value <= 1000) return value;
  throw refused('--top', `${text} is not a whole number from 1 to 1,000.`, 'Use 5.');
}

/** Most devices that are planned for. */
const MOST_GPUS = 65_536;

const isGpus = (value: number): boolean => Number.isInteger(value) && value >= 1 && value <= MOST_GPUS;

/** `min`, or how many devices. */
export function gpusOf(text: string): 'min' | number {
  if (text === 'min') return 'min';
  const value = Number(text);
  if (isGpus(value)) return value;
  throw refused('--gpus', `${text} is neither min nor a whole number from 1 to ${MOST_GPUS}.`, 'Use min or 64.');
}

/** How many devices. */
export function countOfGpus(text: string): number {
  const value = Number(text);
  if (isGpus(value)) return value;
  throw refused('--gpus', `${text} is not a whole number from 1 to ${MOST_GPUS}.`, 'Use 64.');
}

/** `gpus=8..4096`. */
export function sweepOf(text: string): SweepRange {
  const match = /^gpus=(\d+)\.\.(\d+)$/.exec(text.replaceAll(',', ''));
  const [from, to] = [Number(match?.[1]), Number(match?.[2])];
  if (isGpus(from) && isGpus(to) && from < to) return { from, to };
  throw refused('--sweep', `"${text}" is no range of GPUs from fewer to more.`, 'Write gpus=8..4096.');
}

/** GB/s as bytes per second. */
export function storageOf(text: string): number {
  const value = Number(text);
  if (Number.isFinite(value) && value > 0) return value * 1e9;
  throw refused('--storage', `${text} is not a rate greater than 0.`, 'Use the GB/s that all nodes write together.');
}

/** Mean hours of a device between failures. */
export function hoursOf(text: string): number {
  const value = Number(text);
  if (Number.isFinite(value) && value > 0) return value;
  throw refused(
    '--mtbf',
    `${text} is no number of hours greater than 0.`,
    'Use the mean hours of one GPU, as in 50000.',
  );
}

/** Seconds of a restart. */
export function restartOf(text: string): number {
  const value = Number(text);
  if (Number.isFinite(value) && value >= 0) return value;
  throw refused('--restart', `${text} is no number of seconds.`, 'Use the seconds from a failure to the next step.');
}

/** Of one device for an hour. */
export function priceOf(text: string): number {
  const value = Number(text);
  if (Number.isFinite(value) && value > 0) return value;
  throw refused('--price', `${text} is not a price greater than 0.`, 'Use the price of a GPU-hour, as in 2.50.');
}

const refused = (option: string, message: string, hint: string): InputError =>
  new InputError([issue('VALUE_OUT_OF_RANGE', option, message, hint)]);
