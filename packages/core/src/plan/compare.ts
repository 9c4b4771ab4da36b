/** @file Why one plan is ahead of another: the parts of the step in which they differ, largest first, in words. */
import type { StepParts } from '../sim/index.ts';
import { formatSeconds, seconds } from '../units/index.ts';
import type { Shown } from './show-types.ts';

export interface Reason {
  readonly part: string;
  /** Seconds that the first plan saves here; negative where it loses. */
  readonly savesSeconds: number;
  readonly words: string;
}

/** Parts of a step in words that follow `less of` and `more of`. */
export const partWords: Readonly<Record<keyof StepParts, string>> = {
  ideal: 'compute at peak rate',
  inefficiency: 'compute beyond peak rate (shapes, clocks)',
  memoryBound: 'memory-bound kernels',
  recompute: 'recomputation',
  optimizer: 'the optimizer',
  tensor: 'waiting for tensor exchanges',
  data: 'waiting for the data axis',
  pipelineSend: 'waiting for sends between stages',
  bubble: 'the pipeline bubble',
  host: 'waiting for the host',
  context: 'waiting for context exchanges',
  expert: 'waiting for expert exchanges',
  offload: 'waiting for offload',
};

/** Reasons that account for the difference, largest first; what is below a hundredth of it is left out. */
export function compareShown(first: Shown, second: Shown): readonly Reason[] {
  const total = Math.abs(second.step.seconds - first.step.seconds);
  return Object.entries(first.step.partsSeconds)
    .map(([part, mine]) => ({
      part,
      savesSeconds: second.step.partsSeconds[part as keyof typeof second.step.partsSeconds] - mine,
    }))
    .filter((row) => Math.abs(row.savesSeconds) > Math.max(total / 100, 1e-6))
    .sort((a, b) => Math.abs(b.savesSeconds) - Math.abs(a.savesSeconds))
    .map((row) => ({ ...row, words: inWords(row.part, row.savesSeconds) }));
}

function inWords(part: string, saves: number): string {
  const name = partWords[part as keyof StepParts];
  const size = formatSeconds(seconds(Math.abs(saves)));
  return saves > 0 ? `${size} less of ${name}` : `${size} more of ${name}`;
}
