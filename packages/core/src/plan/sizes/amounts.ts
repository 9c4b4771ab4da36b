/** @file What a step takes beside time: GPU time, money, energy. */
import { InputError, issue } from '../../errors/index.ts';
import { batchTokens, type Job } from '../../job/index.ts';

/** Of one step, and of 10^9 tokens. */
export interface Amounts {
  readonly gpuSeconds: number;
  readonly gpuHoursPerBillionTokens: number;
  /** In the currency of the price; absent without one. */
  readonly cost?: number;
  readonly costPerBillionTokens?: number;
  /** Joules at the rated power of the devices throughout the step: hosts, network and cooling are not in it. */
  readonly joules?: number;
  readonly kilowattHoursPerBillionTokens?: number;
  /** Watts of a device, and where they are from. */
  readonly watts?: { readonly value: number; readonly source: string };
}

const HOUR = 3600;
const BILLION = 1e9;

/** What a step of `seconds` on `gpus` devices takes. */
export function amountsOf(job: Job, gpus: number, seconds: number, pricePerGpuHour: number | undefined): Amounts {
  const gpuSeconds = gpus * seconds;
  const perBillion = BILLION / batchTokens(job.batch);
  const price = priceOf(job, pricePerGpuHour);
  const watts = wattsOf(job);
  return {
    gpuSeconds,
    gpuHoursPerBillionTokens: (gpuSeconds / HOUR) * perBillion,
    ...(price !== undefined && {
      cost: (gpuSeconds / HOUR) * price,
      costPerBillionTokens: (gpuSeconds / HOUR) * price * perBillion,
    }),
    ...(watts && {
      joules: gpuSeconds * watts.value,
      kilowattHoursPerBillionTokens: ((gpuSeconds * watts.value) / HOUR / 1e3) * perBillion,
      watts,
    }),
  };
}

const priceOf = ({ cluster }: Job, given: number | undefined): number | undefined => given ?? cluster.price?.value;

function wattsOf({ cluster }: Job): Amounts['watts'] {
  const { value, source } = cluster.device.power;
  return Number.isFinite(value) && value > 0 ? { value, source } : undefined;
}

/** Refuses an objective whose numbers nobody gave: a price is the user's, and no power is guessed. */
export function checkAmounts(job: Job, objective: 'cost' | 'energy', pricePerGpuHour: number | undefined): void {
  if (objective === 'cost' && priceOf(job, pricePerGpuHour) === undefined) {
    const hint = 'Give it with --price, or as pricePerGpuHour of the cluster.';
    throw new InputError([
      issue('KEY_MISSING', 'cluster.pricePerGpuHour', 'the price of a GPU-hour is not given.', hint),
    ]);
  }
  if (objective === 'energy' && wattsOf(job) === undefined) {
    const message = `the power of ${job.cluster.device.name} is not known.`;
    throw new InputError([issue('KEY_MISSING', 'cluster.gpu', message, 'Use another objective.')]);
  }
}
