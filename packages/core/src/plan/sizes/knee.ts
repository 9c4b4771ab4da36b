/** @file Where scaling stops to pay, and what does it.
 *
 * GPU-seconds of a token are the sum of the parts of a step over tokens per second. Perfect scaling keeps them; the part
 * that grows most between the best size and the first one beyond the knee is the cause.
 */
import type { StepParts } from '../../sim/index.ts';
import { formatShare, formatWhole } from '../../units/index.ts';
import { partWords } from '../compare.ts';
import { thresholds } from '../thresholds.ts';
import type { Knee, SweepPoint } from './sweep-types.ts';

/** The knee of a curve whose points stand in ascending order; undefined where none falls below the threshold. */
export function kneeOf(points: readonly SweepPoint[]): Knee | undefined {
  const index = points.findIndex((point) => point.efficiency < thresholds.kneeEfficiency);
  const [beyond, last] = [points[index], points[index - 1]];
  if (beyond === undefined || last === undefined) return undefined;
  const best = points.slice(0, index).reduce((most, point) => (point.efficiency === 1 ? point : most));
  const cause = grownMost(best, beyond);
  return {
    gpus: last.gpus,
    beyond: beyond.gpus,
    efficiency: beyond.efficiency,
    cause,
    words: `${formatWhole(beyond.gpus)} GPUs reach ${formatShare(beyond.efficiency)} of the tokens/s/GPU of ${formatWhole(best.gpus)}: ${causeWords(cause, best, beyond)}.`,
  };
}

/** GPU-seconds of a token in one part, up to a factor that both points share. */
const perToken = (point: SweepPoint, part: keyof StepParts): number =>
  point.partsSeconds[part] / point.seconds / point.tokensPerSecondPerGpu;

function grownMost(best: SweepPoint, beyond: SweepPoint): keyof StepParts {
  const parts = Object.keys(best.partsSeconds) as (keyof StepParts)[];
  const growth = (part: keyof StepParts): number => perToken(beyond, part) - perToken(best, part);
  return parts.reduce((most, part) => (growth(part) > growth(most) ? part : most));
}

function causeWords(cause: keyof StepParts, best: SweepPoint, beyond: SweepPoint): string {
  const share = (point: SweepPoint): string => formatShare(point.partsSeconds[cause] / point.seconds);
  return `${partWords[cause]} grew from ${share(best)} to ${share(beyond)} of the step, ${reasonOf(cause, best, beyond)}`;
}

/** What of the layouts makes that part grow. */
function reasonOf(cause: keyof StepParts, best: SweepPoint, beyond: SweepPoint): string {
  const sequences = beyond.sequences / beyond.dataRanks;
  switch (cause) {
    case 'bubble':
    case 'pipelineSend':
      return `with ${beyond.microBatches} micro-batches for ${beyond.stages} stages`;
    case 'data':
      return `with ${sequences} sequences of the batch on each of ${formatWhole(beyond.dataRanks)} data ranks to hide it behind`;
    case 'tensor':
    case 'context':
    case 'expert':
      return `with ${beyond.tensor} tensor ranks in place of ${best.tensor}`;
    case 'recompute':
      return 'because only layouts that compute forward again are left';
    case 'optimizer':
      return `with ${sequences} sequences a step on each data rank for one update`;
    default:
      return `with ${beyond.tensor} tensor ranks and ${sequences} sequences a step on each data rank`;
  }
}
