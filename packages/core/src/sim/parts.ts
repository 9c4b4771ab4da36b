/** @file What a step is made of: the compute lane of one list, busy and idle, cut up so that nothing is left over. */
import { type ExpandedOperation, replayOf, type Work } from '../program/index.ts';
import type { DType } from '../tensor/index.ts';
import { type IdlePart, visitIdle } from './idle.ts';
import { COMPUTE_LANE } from './lanes.ts';
import { worksOf } from './prices.ts';
import type { SimulatedStep } from './types.ts';

/** What the compute lane does while it is busy. `ideal`: products and attention at the peak rate of their type.
 * `inefficiency`: what they take beyond that. `memoryBound`: all other kernels. `recompute`: forward once more.
 * `optimizer`: norm, clipping and update. */
export type BusyPart = 'ideal' | 'inefficiency' | 'memoryBound' | 'recompute' | 'optimizer';

/** Seconds of each part; they add up to the step. */
export type StepParts = Readonly<Record<BusyPart | IdlePart, number>>;

/** FLOP/s of the device at its best, by type of the operands. */
export type PeakRate = (dtype: DType) => number;

/** Parts of the step, seen from the list that ends last. Adds up to `step.seconds` within 1e-9. */
export const partsOfStep = (step: SimulatedStep, peak: PeakRate): StepParts => partsOfList(step, step.last, peak);

/** Parts of the step, seen from one list; after its own last operation it waits for the others (bubble). */
export function partsOfList(step: SimulatedStep, list: number, peak: PeakRate): StepParts {
  const parts = noParts();
  const simulated = step.lists[list];
  if (simulated === undefined) return parts;
  const { samples, sampleOf } = replayOf(simulated.expanded);
  const base = step.graph.base[list] as number;
  const workOf = worksOf(step.program);
  const shares: (Share | undefined)[] = [];
  for (let index = 0; index < sampleOf.length; index++) {
    if (step.graph.lane[base + index] !== COMPUTE_LANE) continue;
    const sample = sampleOf[index] as number;
    shares[sample] ??= shareOf(samples[sample] as ExpandedOperation, workOf, peak);
    const { part, idealSeconds } = shares[sample];
    const seconds = (simulated.end[index] as number) - (simulated.start[index] as number);
    if (part !== 'ideal') parts[part] += seconds;
    else {
      const ideal = Math.min(seconds, idealSeconds);
      parts.ideal += ideal;
      parts.inefficiency += seconds - ideal;
    }
  }
  visitIdle(step, list, step.seconds, ({ part, seconds }) => {
    parts[part] += seconds;
  });
  return parts;
}

/** Seconds that a list waits for other stages: the bubble among its parts. */
export function bubbleOfList(step: SimulatedStep, list: number): number {
  let bubble = 0;
  if (step.lists[list] === undefined) return bubble;
  visitIdle(step, list, step.seconds, ({ part, seconds }) => {
    if (part === 'bubble') bubble += seconds;
  });
  return bubble;
}

/** The part that a kernel belongs to; products and attention are `ideal` for so many seconds. */
interface Share {
  readonly part: BusyPart;
  readonly idealSeconds: number;
}

function shareOf(expanded: ExpandedOperation, workOf: (each: ExpandedOperation) => Work, peak: PeakRate): Share {
  const part = spentAgain(expanded) ?? tailPart(expanded);
  const work = workOf(expanded);
  if (part !== undefined) return { part, idealSeconds: 0 };
  return work.kind === 'memory'
    ? { part: 'memoryBound', idealSeconds: 0 }
    : { part: 'ideal', idealSeconds: work.flops / peak(work.dtype) };
}

const noParts = (): Record<BusyPart | IdlePart, number> => ({
  ideal: 0,
  inefficiency: 0,
  memoryBound: 0,
  recompute: 0,
  optimizer: 0,
  tensor: 0,
  context: 0,
  expert: 0,
  data: 0,
  pipelineSend: 0,
  bubble: 0,
  host: 0,
  offload: 0,
});

const spentAgain = ({ operation, again }: ExpandedOperation): 'recompute' | undefined =>
  again || operation.why.rule === 'recompute' ? 'recompute' : undefined;

const tailPart = ({ operation }: ExpandedOperation): 'optimizer' | undefined =>
  operation.why.rule === 'optimizer' || operation.why.rule === 'global-norm' ? 'optimizer' : undefined;
