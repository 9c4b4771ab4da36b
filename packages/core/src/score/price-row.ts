/** @file Prices one run: its cluster, job and layout, the step with its range, and the fullest device. */
import { capacityBytes } from '../cluster/index.ts';
import type { PriceOptions } from '../cost/index.ts';
import type { Job } from '../job/index.ts';
import { type Layout, microBatchesOf } from '../layout/index.ts';
import { flopsPerToken } from '../model/index.ts';
import {
  createEvaluator,
  deviceMemory,
  type Evaluator,
  evaluateLayout,
  optionsOfEra,
  settleCandidate,
  type Verdict,
  verdictOf,
} from '../plan/index.ts';
import { clusterOf } from './cluster-of.ts';
import { foldReplicas } from './fold-replicas.ts';
import { frameworkOf } from './framework-of.ts';
import { jobOf } from './job-of.ts';
import { type LayoutOfRun, layoutOf } from './layout-of.ts';
import { leastGivenUp } from './lightest.ts';
import type { RunRow } from './run-row.ts';
import { type Outcome, skip } from './skip.ts';

/** A run, priced. */
export interface PricedRun {
  readonly seconds: number;
  readonly low: number;
  readonly high: number;
  /** Bytes of the fullest stage: of tensors, with fragments, and on the device. */
  readonly allocatedBytes: number;
  readonly reservedBytes: number;
  readonly deviceBytes: number;
  readonly verdict: Verdict;
  readonly assumed: readonly string[];
  /** FLOPs of the model in a step, on all devices; recomputation not counted. */
  readonly flops: number;
  /** Idle over ideal time of the pipeline schedule. */
  readonly bubble: number;
  /** Devices and products of one kind: `H100-80GB-SXM fp8`. */
  readonly rateKey: string;
  /** Runs of one job in several layouts share it. */
  readonly jobKey: string;
  /** Seconds of the step on shared links, with mutual slow-down; undefined where even a short step is too large. */
  readonly settle: () => number | undefined;
}

/** Prices a run, or says why not. */
export function priceRun(row: RunRow): Outcome<PricedRun> {
  if (row.unreadable.length > 0) return skip('unreadable', row.unreadable.join(', '));
  const replica = foldReplicas(row);
  if (replica.skipped) return replica;
  const { row: folded } = replica.value;
  const cluster = clusterOf(folded);
  if (cluster.skipped) return cluster;
  const { framework, era, assumed } = frameworkOf(row);
  const made = jobOf(folded, { cluster: cluster.value.cluster, framework, era });
  if (made.skipped) return made;
  const { job } = made.value;
  const layout = layoutOf(folded, job, era);
  if (layout.skipped) return layout;
  const options = optionsOfEra(job, era);
  const evaluator = createEvaluator(job, options);
  const taken = takeLeast(evaluator, layout.value);
  const seconds = secondsOf(evaluator, taken);
  return {
    value: {
      seconds,
      ...rangeOf(job, options, taken, seconds),
      ...memoryOf(evaluator, taken),
      assumed: [...assumed, ...[cluster, replica, made].flatMap(({ value }) => value.assumed), ...taken.assumed],
      ...amountsOf(job, layout.value.layout, row),
      settle: () => settled(evaluator, taken.layout, seconds),
      jobKey: [row.source, job.model.name, modelKey(row), row.gpu, row.n_gpus, row.precision].join('|'),
    },
  };
}

/** What shared links add to the layout of a run comes on top of what is predicted. */
function settled(evaluator: Evaluator, layout: Layout, seconds: number): number | undefined {
  const { evaluatedSeconds, simulatedSeconds } = settleCandidate(evaluator, evaluateLayout(evaluator, layout));
  return simulatedSeconds === undefined ? undefined : seconds + simulatedSeconds - evaluatedSeconds;
}

const modelKey = (row: RunRow): string =>
  [row.layers, row.hidden, row.ffn_hidden, row.heads, row.vocab, row.seq, row.global_batch].join(':');

/** Where the row leaves it open: the least that must be given up to fit. */
function takeLeast(evaluator: Evaluator, run: LayoutOfRun): LayoutOfRun {
  const { layout, open, assumed } = run;
  if (open === undefined) return run;
  const priceOf = (of: Layout) => ({
    seconds: evaluateLayout(evaluator, of).evaluation.seconds,
    ...memoryOfLayout(evaluator, of),
  });
  const kept = priceOf(layout);
  if (kept.verdict !== 'does-not-fit') return { layout, assumed };
  const least = leastGivenUp(evaluator.job, layout, kept, priceOf(open));
  if (least === undefined) return { layout, assumed };
  const { share, by, waits } = least;
  const others = assumed.filter((each) => !each.startsWith('recomputation'));
  return {
    layout,
    recomputed: { layout: open, share: by === 'recompute' ? share : 0, memoryShare: share, waits },
    assumed: [...others, least.assumed],
  };
}

/** Between two layouts where a share of the work is like the second one's: layers add up. */
function secondsOf(evaluator: Evaluator, { layout, recomputed }: LayoutOfRun): number {
  const { seconds } = evaluateLayout(evaluator, layout).evaluation;
  if (recomputed === undefined) return seconds;
  const { share, waits = 0 } = recomputed;
  if (share === 0) return seconds + waits;
  const other = evaluateLayout(evaluator, recomputed.layout).evaluation.seconds;
  return seconds + share * (other - seconds) + waits;
}

/** Range of the host's launch times over the assumed value. */
const HOST = { low: 0.5, high: 2 } as const;

/** The step under the kindest and the unkindest values of what is assumed of device and host. */
function rangeOf(job: Job, options: PriceOptions, layout: LayoutOfRun, seconds: number): { low: number; high: number } {
  const { sustained, attention } = job.cluster.device;
  const { forward = 1, backward = 1 } = options.attention ?? {};
  const under = (kind: 'low' | 'high'): number => {
    const host = kind === 'low' ? HOST.low : HOST.high;
    const rate = kind === 'low' ? 'high' : 'low';
    const own: PriceOptions = {
      ...options,
      launchCompute: (options.launchCompute ?? 0) * host,
      launchExchange: (options.launchExchange ?? 0) * host,
      sustained: sustained[rate],
      spread: (options.spread ?? 0) * (kind === 'low' ? 0 : 2),
      attention: {
        forward: (forward * attention.forward[rate]) / attention.forward.value,
        backward: (backward * attention.backward[rate]) / attention.backward.value,
      },
    };
    return secondsOf(createEvaluator(job, own), layout);
  };
  return { low: Math.min(seconds, under('low')), high: Math.max(seconds, under('high')) };
}

type Bytes = 'allocatedBytes' | 'reservedBytes' | 'deviceBytes' | 'mostBytes';
type Memory = Readonly<Record<Bytes, number>> & Pick<PricedRun, 'verdict'>;

/** What is recomputed is not kept: bytes lie between those of two layouts as the time does. */
function memoryOf(evaluator: Evaluator, { layout, recomputed }: LayoutOfRun): Memory {
  const first = memoryOfLayout(evaluator, layout);
  if (recomputed === undefined) return first;
  const other = memoryOfLayout(evaluator, recomputed.layout);
  const { share, memoryShare = share } = recomputed;
  const between = (key: Bytes): number => first[key] + memoryShare * (other[key] - first[key]);
  const [deviceBytes, mostBytes] = [between('deviceBytes'), between('mostBytes')];
  return {
    allocatedBytes: between('allocatedBytes'),
    reservedBytes: between('reservedBytes'),
    deviceBytes,
    mostBytes,
    verdict: verdictOf(deviceBytes, mostBytes, capacityBytes(evaluator.job.cluster)),
  };
}

function memoryOfLayout(evaluator: Evaluator, layout: Layout): Memory {
  const { evaluation, verdict } = evaluateLayout(evaluator, layout);
  const stages = evaluator
    .specOf(layout)
    .stages.map((stage, index) =>
      deviceMemory(evaluator.job, layout, evaluation.peakBytes[index] ?? 0, stage.residentBytes),
    );
  const most = (key: Bytes): number => Math.max(...stages.map((stage) => stage[key]));
  return {
    allocatedBytes: most('allocatedBytes'),
    reservedBytes: most('reservedBytes'),
    deviceBytes: most('deviceBytes'),
    mostBytes: most('mostBytes'),
    verdict,
  };
}

function amountsOf(job: Job, layout: Layout, row: RunRow): Pick<PricedRun, 'flops' | 'bubble' | 'rateKey'> {
  const { model, batch, cluster, kernels } = job;
  const { seq: length = batch.length, global_batch: sequences = batch.sequences } = row;
  return {
    flops: flopsPerToken(model, length) * sequences * length,
    bubble: (layout.pipeline - 1) / (layout.chunks * microBatchesOf(job, layout)),
    rateKey: `${cluster.device.name} ${kernels.products === undefined ? 'half' : 'fp8'}`,
  };
}
