/** @file Schedules that split the backward, keep two streams or never drain, as data. Programs are compiled for all but
 * PipeDream, which has no step to compile: weights are updated while other micro-batches are under way.
 */
import { invocationCode, type SplitScheduleName } from '../invocation.ts';
import { dualPipe, dualPipeV } from './dual.ts';
import { type SplitShape, zeroBubbleH1, zeroBubbleH2, zeroBubbleV } from './zero-bubble.ts';

/** Their names, as `layout.schedule` has them, and the one that is placed and drawn only. */
export type SplitListName = SplitScheduleName | 'pipedream';

/** Seconds, or any unit, of the parts of one invocation of a chunk. */
export interface SplitCosts {
  readonly forward: number;
  readonly input: number;
  readonly weight: number;
  /** A forward and a backward that run together; their sum where it is left out. The forms of bubbles are exact for
   * the sum, and too large for less. */
  readonly pair?: number;
}

/** A schedule: its lists, how much it holds, and how long its busiest stage idles. */
export interface SplitSchedule {
  /** One sentence for tables. */
  readonly what: string;
  /** Whether it has lists for this shape. */
  readonly takes: (shape: SplitShape) => boolean;
  /** Invocations of a stage in order of issue, as codes. */
  readonly list: (shape: SplitShape, stage: number) => number[];
  /** Most chunk passes that a stage holds at a time, from the forward to the end of the weight part. */
  readonly inFlight: (shape: SplitShape, stage: number) => number;
  /** Idle time between the first start and the last end of the stage that idles most; chunks of equal costs, transfers
   * free, `exact` shapes only. Costs are those of one chunk. */
  readonly bubble: (shape: SplitShape, costs: SplitCosts) => number;
  /** Whether `bubble` is exact for a shape and costs. */
  readonly exact: (shape: SplitShape, costs: SplitCosts) => boolean;
}

/** The first backward of the stage where the streams turn need not wait for two forwards; an input part that takes longer
 * than a forward gains by that, and the form is too large. */
const isExactDual = ({ forward, input, weight, pair }: SplitCosts): boolean =>
  weight <= input && input <= forward && pair === undefined;

const pairOf = ({ forward, input, weight, pair }: SplitCosts): number => pair ?? forward + input + weight;

/** All of them. */
export const splitSchedules: Readonly<Record<SplitListName, SplitSchedule>> = {
  'zero-bubble-h1': {
    what: 'weight parts wait and fill the end; the activations of 1f1b',
    takes: () => true,
    list: zeroBubbleH1,
    inFlight: ({ stages, microBatches }) => Math.min(stages, microBatches),
    bubble: ({ stages }, { forward, input, weight }) => (stages - 1) * (forward + input - weight),
    exact: ({ stages, microBatches }, { input, weight }) => microBatches >= stages && weight <= input,
  },
  'zero-bubble-h2': {
    what: 'weight parts wait longer; about twice the activations of 1f1b',
    takes: () => true,
    list: zeroBubbleH2,
    inFlight: ({ stages, microBatches }) => Math.min(2 * stages - 1, microBatches),
    bubble: ({ stages }, { forward, input, weight }) => (stages - 1) * (forward + input - 2 * weight),
    exact: ({ stages, microBatches }, { forward, input, weight }) =>
      microBatches >= 2 * stages - 1 && weight <= input && 2 * weight <= forward + input,
  },
  'zero-bubble-v': {
    what: 'two chunks a stage, folded; the activations of 1f1b and no bubble for equal parts',
    takes: () => true,
    list: zeroBubbleV,
    inFlight: ({ stages, microBatches }) => Math.min(2 * stages, 2 * microBatches),
    bubble: () => 0,
    exact: ({ stages, microBatches }, { forward, input, weight }) =>
      microBatches >= 2 * stages - 1 && forward === input && input === weight,
  },
  dualpipe: {
    what: 'two copies of the model in opposite order; forward and backward run together',
    takes: ({ stages, microBatches }) => stages % 2 === 0 && microBatches % 2 === 0 && microBatches >= 2 * stages,
    list: dualPipe,
    inFlight: ({ stages }) => stages + 1,
    bubble: ({ stages }, costs) => (stages / 2 - 1) * (pairOf(costs) + costs.input + costs.weight - 3 * costs.weight),
    exact: (_, costs) => isExactDual(costs),
  },
  'dualpipe-v': {
    what: 'two chunks a stage, folded; forward and backward run together',
    takes: ({ stages, microBatches }) => microBatches >= 2 * stages,
    list: dualPipeV,
    inFlight: ({ stages }) => 2 * stages + 1,
    bubble: ({ stages }, costs) => (stages - 1) * (pairOf(costs) + costs.input + costs.weight - 3 * costs.weight),
    exact: (_, costs) => isExactDual(costs),
  },
  pipedream: {
    what: '1f1b that never drains: each stage keeps a version of its weights for every micro-batch in flight',
    takes: () => true,
    list: ({ stages, microBatches }, stage) => neverDrained(microBatches, stages - stage),
    inFlight: ({ stages, microBatches }, stage) => Math.min(stages - stage, microBatches),
    bubble: () => 0,
    exact: () => false,
  },
};

/** `ahead` forwards, then backward and forward in turns; the next step goes on where this one ends. */
function neverDrained(microBatches: number, ahead: number): number[] {
  const first = Math.min(ahead, microBatches);
  const codes = Array.from({ length: first }, (_, turn) => invocationCode('F', 0, turn));
  for (let turn = 0; turn < microBatches; turn++) {
    codes.push(invocationCode('B', 0, turn));
    if (turn + first < microBatches) codes.push(invocationCode('F', 0, turn + first));
  }
  return codes;
}
