/** @file What is right: every number from the laws, the layouts from the search over the exam's own job. */
import { capacityBytes, gpuCount } from '../../cluster/index.ts';
import { type Issue, issue } from '../../errors/index.ts';
import type { Job } from '../../job/index.ts';
import { completeLayout, formatLayout } from '../../layout/index.ts';
import { countParameters } from '../../model/index.ts';
import { splitCosts } from '../../plan/index.ts';
import { bubbleShare } from '../../schedules/index.ts';
import { createTrials, fits, issuesOfTrial, type LegalTrial, type Trials } from '../trials.ts';
import { gib, share, whole } from '../words.ts';
import { STATE_PER_PARAMETER } from './job.ts';

export type Degrees = readonly [tensor: number, pipeline: number, data: number];

/** What marks are given by. */
export interface ExamKey {
  readonly job: Job;
  readonly trials: Trials;
  /** Bytes of state of one layer, and the devices that it fills. */
  readonly layerBytes: number;
  readonly layerDevices: number;
  /** The smallest tensor degree that holds a layer and that the heads allow. */
  readonly tensorNeeded: number;
  /** The fastest layout that fits. */
  readonly best: LegalTrial;
}

/** The key of a job whose fastest layout keeps tensor groups in the box; undefined where it does not, or where nothing fits. */
export function keyOf(job: Job): ExamKey | undefined {
  const trials = createTrials(job);
  const best = trials.bestOf({});
  if (!fits(best) || !staysInside(job, best.candidate.layout.tensor)) return undefined;
  const layerBytes = Math.max(...countParameters(job.model).perLayer) * STATE_PER_PARAMETER;
  const layerDevices = layerBytes / capacityBytes(job.cluster);
  return { job, trials, layerBytes, layerDevices, tensorNeeded: tensorNeeded(job, layerDevices), best };
}

function tensorNeeded(job: Job, devices: number): number {
  let tensor = Math.ceil(devices);
  while (tensorIssue(job, tensor) !== undefined && tensor < gpuCount(job.cluster)) tensor += 1;
  return tensor;
}

/** The rule that a tensor degree breaks, whatever the other degrees are. */
export const tensorIssue = (job: Job, tensor: number): Issue | undefined =>
  completeLayout({ ...job.layout, tensor, pipeline: 1, data: 1 }, job, splitCosts(job)).issues.find(
    ({ severity, path, code }) => severity === 'error' && path === 'layout.tensor' && code !== 'DEGREES_NOT_GPUS',
  );

/** A layer is larger than `tensor` devices: with the numbers. */
export function layerRefusal(
  { job, layerBytes, layerDevices, tensorNeeded }: ExamKey,
  tensor: number,
): Issue | undefined {
  const capacity = capacityBytes(job.cluster);
  const each = layerBytes / tensor;
  if (each <= capacity) return undefined;
  const parameters = Math.max(...countParameters(job.model).perLayer);
  const shares = tensor === 1 ? '' : `, ${gib(each)} on each of ${tensor} tensor ranks`;
  const message = `a layer of ${(parameters / 1e9).toFixed(1)} G parameters has ${gib(layerBytes)} of state${shares}, more than the ${gib(capacity)} of a GPU: it fills ${layerDevices.toFixed(2)} of them.`;
  return issue('LAYER_DOES_NOT_FIT', 'layout.tensor', message, `Use tensor ${tensorNeeded} or more.`);
}

export const degreesOf = ({ candidate: { layout } }: LegalTrial): Degrees => [
  layout.tensor,
  layout.pipeline,
  layout.data,
];

/** Bubble of 1F1B with micro-batches of one sequence. */
export const bubbleOf = ({ batch }: Job, [, pipeline, data]: Degrees): number =>
  pipeline === 1
    ? 0
    : bubbleShare({ schedule: '1f1b', stages: pipeline, chunks: 1, microBatches: Math.floor(batch.sequences / data) });

/** Bytes of state a parameter under ZeRO-1: weights and gradients whole, 12 bytes of optimizer over the data ranks. */
export const zeroState = (data: number): number => STATE_PER_PARAMETER - 12 + 12 / data;

/** Does the tensor group stay in the box? */
export const staysInside = ({ cluster }: Job, tensor: number): boolean => tensor <= cluster.intra.gpus;

/** How much longer a step takes than that of the search, in words. */
export const slower = (trial: LegalTrial, best: LegalTrial): string =>
  share(trial.candidate.evaluation.seconds / best.candidate.evaluation.seconds - 1);

/** The best layout of the given degrees, or why there is none that fits. */
export function judgeDegrees({ trials }: ExamKey, [tensor, pipeline, data]: Degrees): LegalTrial | string {
  const trial = trials.bestOf({ tensor, pipeline, data });
  if (fits(trial)) return trial;
  if (!trial.candidate) return issuesOfTrial(trial);
  const { layout, deviceBytes } = trial.candidate;
  return `the fullest GPU needs ${gib(deviceBytes)} at least (${formatLayout(layout)}), more than the ${gib(capacityBytes(trials.job.cluster))} that it has`;
}

/** `8 x 32 x 2`. */
export const productWords = (degrees: readonly number[]): string => degrees.map((each) => whole(each)).join(' x ');
