/** @file Scaling: the best layout of a job on clusters of its kind from few devices to many. */
import { gpuCount } from '../../cluster/index.ts';
import { batchTokens, type Job } from '../../job/index.ts';
import { formatLayout, microBatchesOf } from '../../layout/index.ts';
import { flopsPerToken } from '../../model/index.ts';
import type { StepParts } from '../../sim/index.ts';
import { bytes, formatBytes } from '../../units/index.ts';
import { detailOf } from '../detail.ts';
import { peakRate } from '../peak-rate.ts';
import { type SearchOptions, searchLayouts } from '../search.ts';
import { thresholds } from '../thresholds.ts';
import { kneeOf } from './knee.ts';
import { jobOnGpus } from './size.ts';
import type { ScalingCurve, Sweep, SweepGap, SweepPoint, SweepRange } from './sweep-types.ts';

/** Plans `job` on every size of the range, with its batch (strong) and with a batch that grows with the devices (weak).
 *
 * `onSize` is called before each search. Sizes on which nothing fits, or whose batch is no whole number of sequences, are
 * gaps with their reason.
 */
export function sweepSizes(
  job: Job,
  range: SweepRange,
  onProgress?: SearchOptions['onProgress'],
  onSize: (doing: string) => void = () => undefined,
): Sweep {
  const options = { top: 1, ...(onProgress && { onProgress }) };
  const curves = (['strong', 'weak'] as const).map((kind): ScalingCurve => {
    const planned = sizesOf(range).map((gpus) => {
      onSize(`${kind} scaling, ${gpus} GPUs`);
      return planSize(job, gpus, kind, options);
    });
    const points = withEfficiency(planned.filter((each): each is Measured => 'seconds' in each));
    const knee = kneeOf(points);
    return { kind, points, gaps: planned.filter((each): each is SweepGap => 'code' in each), ...(knee && { knee }) };
  });
  return { ...range, threshold: thresholds.kneeEfficiency, curves };
}

/** Doubling from `from`; `to` itself is the last. */
function sizesOf({ from, to }: SweepRange): readonly number[] {
  const sizes: number[] = [];
  for (let gpus = from; gpus < to; gpus *= 2) sizes.push(gpus);
  return [...sizes, to];
}

type Measured = Omit<SweepPoint, 'efficiency'>;

function planSize(job: Job, gpus: number, kind: ScalingCurve['kind'], options: SearchOptions): Measured | SweepGap {
  const resized = jobOnGpus(job, gpus);
  if (resized === undefined) {
    const why = `${gpus} GPUs are neither whole nodes of ${job.cluster.gpusPerNode} nor a divisor of one`;
    return { gpus, code: 'NODE_NOT_WHOLE', why };
  }
  const sequences = kind === 'strong' ? job.batch.sequences : (job.batch.sequences * gpus) / gpuCount(job.cluster);
  if (!Number.isInteger(sequences)) {
    const why = `${sequences} sequences would keep the batch of a GPU`;
    return { gpus, code: 'BATCH_NOT_A_MULTIPLE', why };
  }
  return measure({ ...resized, batch: { ...job.batch, sequences } }, gpus, options);
}

function measure(job: Job, gpus: number, options: SearchOptions): Measured | SweepGap {
  const { best, atRisk, evaluator, leastMemory } = searchLayouts(job, options);
  const found = best[0] ?? atRisk[0];
  if (found === undefined) {
    const least = leastMemory
      ? `the smallest layout needs ${formatBytes(bytes(leastMemory.peakBytes))}`
      : 'none is legal';
    return { gpus, code: 'NOTHING_FITS', why: least };
  }
  const { layout, evaluation, verdict } = found;
  const { seconds } = evaluation;
  const { parts, bubbleSeconds } = detailOf(evaluator, found, (dtype) => peakRate(job, dtype));
  const tokens = batchTokens(job.batch);
  return {
    gpus,
    sequences: job.batch.sequences,
    layout: formatLayout(layout),
    verdict,
    seconds,
    tokensPerSecondPerGpu: tokens / seconds / gpus,
    exposedShare: exposedSeconds(parts) / seconds,
    bubbleShare: bubbleSeconds.reduce((sum, each) => sum + each, 0) / bubbleSeconds.length / seconds,
    mfu: (flopsPerToken(job.model, job.batch.length) * tokens) / seconds / gpus / peakRate(job),
    partsSeconds: parts,
    tensor: layout.tensor,
    stages: layout.pipeline,
    dataRanks: layout.data,
    microBatches: microBatchesOf(job, layout),
    beyondLimit: job.batch.maxTokens !== undefined && tokens > job.batch.maxTokens,
  };
}

/** Seconds that the slowest rank waits for exchanges. */
export const exposedSeconds = ({ tensor, context, expert, data, pipelineSend }: StepParts): number =>
  tensor + context + expert + data + pipelineSend;

function withEfficiency(points: readonly Measured[]): readonly SweepPoint[] {
  let most = 0;
  return points.map((point) => {
    most = Math.max(most, point.tokensPerSecondPerGpu);
    return { ...point, efficiency: point.tokensPerSecondPerGpu / most };
  });
}
