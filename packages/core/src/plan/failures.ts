/** @file How often failures stop a job, how often a checkpoint is then worth its time, and what is lost all the same.
 *
 * First order [young1974]: failures come at any time, the job stands still while it writes, and a failure costs half of an
 * interval and a restart. In seconds of work between two checkpoints tau, seconds to write W, mean between failures M and
 * seconds of a restart R, each second of work is paid with W / tau + tau / (2 M) + R / M, least at tau = sqrt(2 W M).
 */
import type { Assumption } from '../cost/index.ts';

/** What of it is known. What is left out is assumed. */
export interface FailureOptions {
  /** Mean hours of one device between failures that stop the job. */
  readonly deviceHours?: number;
  /** From a failure to the next step: found, replaced, started, read. */
  readonly restartSeconds?: number;
  /** What all nodes together write to storage. */
  readonly storageBytesPerSecond?: number;
}

/** Shares of the time, with their sum. */
export interface LostTime {
  readonly writing: number;
  /** Work that is done again. */
  readonly repeated: number;
  readonly restarting: number;
  readonly share: number;
}

/** The three times that decide. Seconds. */
export interface FailureTimes {
  /** Mean between failures of the job: that of one device over its devices. */
  readonly meanSeconds: number;
  readonly writeSeconds: number;
  readonly restartSeconds: number;
}

export interface Failures extends FailureTimes {
  /** Work between two checkpoints at which least is lost: sqrt(2 W M). */
  readonly intervalSeconds: number;
  /** In whole steps, one at least. */
  readonly intervalSteps: number;
  /** With a checkpoint after so many steps. */
  readonly lost: LostTime;
  /** Writing takes less than a tenth of the time between failures: the law is meant for that. */
  readonly rare: boolean;
}

/** 419 interruptions that nobody had planned in 54 days of 16,384 GPUs [llama3]. */
const DEVICE_HOURS: Omit<Assumption, 'what'> = {
  value: (54 * 24 * 16_384) / 419,
  low: 13_000,
  high: 100_000,
  source: 'Llama 3 405B: 419 unexpected interruptions in 54 days on 16,384 H100; the range is a guess',
};
const RESTART: Omit<Assumption, 'what'> = { value: 600, low: 120, high: 3600, source: 'a guess with a range' };
/** 2 TB/s for 2,048 nodes [llama3]. */
const NODE_STORAGE: Omit<Assumption, 'what'> = {
  value: 1e9,
  low: 0.2e9,
  high: 5e9,
  source: 'Llama 3 405B: storage that sustains 2 TB/s for 2,048 nodes; the range is a guess',
};

/** Job of which failures are asked. */
export interface Interrupted {
  readonly devices: number;
  readonly nodes: number;
  readonly checkpointBytes: number;
  readonly stepSeconds: number;
}

/** What failures cost a job. */
export function failuresOf(job: Interrupted, options: FailureOptions = {}): Failures {
  const { devices, nodes, checkpointBytes, stepSeconds } = job;
  const { deviceHours = DEVICE_HOURS.value, restartSeconds = RESTART.value } = options;
  const { storageBytesPerSecond = nodes * NODE_STORAGE.value } = options;
  const times = {
    meanSeconds: (deviceHours * 3600) / devices,
    writeSeconds: checkpointBytes / storageBytesPerSecond,
    restartSeconds,
  };
  const intervalSeconds = bestInterval(times);
  const intervalSteps = Math.max(1, Math.round(intervalSeconds / stepSeconds));
  return {
    ...times,
    intervalSeconds,
    intervalSteps,
    lost: lostTime(times, intervalSteps * stepSeconds),
    rare: times.writeSeconds < times.meanSeconds / 10,
  };
}

/** Seconds of work between two checkpoints at which least is lost [young1974]. */
export const bestInterval = ({ meanSeconds, writeSeconds }: FailureTimes): number =>
  Math.sqrt(2 * writeSeconds * meanSeconds);

/** What is lost with a checkpoint after `interval` seconds of work. */
export function lostTime({ meanSeconds, writeSeconds, restartSeconds }: FailureTimes, interval: number): LostTime {
  const [writing, repeated, restarting] = [
    writeSeconds / interval,
    interval / (2 * meanSeconds),
    restartSeconds / meanSeconds,
  ];
  const whole = 1 + writing + repeated + restarting;
  return {
    writing: writing / whole,
    repeated: repeated / whole,
    restarting: restarting / whole,
    share: 1 - 1 / whole,
  };
}

/** What is lost at one interval. */
export interface LostAt {
  /** Of work between two checkpoints. */
  readonly seconds: number;
  readonly lost: LostTime;
}

/** What is lost from a twentieth to twenty times of the best interval, in even ratios; the best is the one in the middle. */
export function lostCurve(times: FailureTimes): readonly LostAt[] {
  const best = bestInterval(times);
  return Array.from({ length: 41 }, (_, index) => {
    const interval = best * 20 ** (index / 20 - 1);
    return { seconds: interval, lost: lostTime(times, interval) };
  });
}

/** What {@link failuresOf} assumes where it is not told. */
export const failureAssumptions = (options: FailureOptions): readonly Assumption[] => [
  ...(options.deviceHours === undefined
    ? [{ what: 'hours of a device between failures that stop the job', ...DEVICE_HOURS }]
    : []),
  ...(options.restartSeconds === undefined ? [{ what: 'seconds of a restart', ...RESTART }] : []),
  ...(options.storageBytesPerSecond === undefined
    ? [{ what: 'what a node writes to storage (bytes/s)', ...NODE_STORAGE }]
    : []),
];
