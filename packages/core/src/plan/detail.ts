/** @file One layout operation by operation: where the time goes, what travels, what is alive at the peak.
 *
 * The sum of short steps (./short-steps.ts) is checked against the evaluation of the real step, and they grow until both
 * agree.
 */
import { type MemoryParts, peakParts } from '../memory/index.ts';
import { bytesSent, degreesOf, type ExpandedList, replayOf } from '../program/index.ts';
import {
  bubbleOfList,
  type ExchangeTime,
  exchangesOf,
  operationCount,
  type PeakRate,
  partsOfList,
  type StepParts,
} from '../sim/index.ts';
import type { Evaluator } from './evaluate/index.ts';
import type { Candidate } from './search.ts';
import { MOST_OPERATIONS, type ShortStep, type ShortSteps, shortSteps } from './short-steps.ts';

export interface ExchangeDetail extends ExchangeTime {
  /** Bytes that one rank of the slowest list sends in a step. */
  readonly bytes: number;
}

export interface LayoutDetail {
  readonly parts: StepParts;
  readonly hiddenSeconds: number;
  readonly exchanges: readonly ExchangeDetail[];
  /** Seconds that each stage waits for other stages. */
  readonly bubbleSeconds: readonly number[];
  /** Bytes alive at the peak of each stage. */
  readonly memory: readonly MemoryParts[];
  /** Operations of the largest program that was simulated. */
  readonly operations: number;
}

/** Details of a candidate; parts add up to its evaluation to 1e-9. `steps` may be given where others ask for short steps of its
 * layout. */
export function detailOf(
  evaluator: Evaluator,
  candidate: Candidate,
  peak: PeakRate,
  steps: ShortSteps = shortSteps(evaluator, candidate),
): LayoutDetail {
  const { evaluation } = candidate;
  const { all, stride, fewest } = steps;
  const further = (count: number): Extrapolated => {
    const near = measure(steps.of(count), peak);
    return extrapolate(near, measure(steps.of(count + stride), peak, near), (all - count) / stride);
  };
  const isSmall = (count: number): boolean =>
    operationCount(steps.of(fewest).program) * count <= MOST_OPERATIONS * fewest;
  for (const count of steps.counts()) {
    if (count > fewest && !isSmall(count + stride)) break;
    const found = further(count);
    if (isClose(found.seconds, evaluation.seconds, 1e-9)) return withPeaks(found, evaluation.peakBytes);
  }
  if (fewest < all && !isSmall(all)) {
    const found = further(fewest);
    const drift = evaluation.seconds - found.seconds;
    // What a stage computes and exchanges grows with its micro-batches; how long stages wait for one another may not. Nobody
    // waits for less than nothing.
    if (isClose(found.seconds, evaluation.seconds, MOST_DRIFT) && found.parts.bubble + drift >= 0) {
      return withPeaks(withDrift(found, drift), evaluation.peakBytes);
    }
  }
  return measure(steps.of(all), peak);
}

/** Share of a step that short steps may miss where the whole one is too large to be written out. */
const MOST_DRIFT = 0.01;

const isClose = (one: number, other: number, share: number): boolean => Math.abs(one - other) <= share * other;

/** What a step takes that the short ones did not see, as waiting for other stages. */
function withDrift(detail: Extrapolated, seconds: number): LayoutDetail {
  return {
    ...detail,
    parts: { ...detail.parts, bubble: detail.parts.bubble + seconds },
    bubbleSeconds: detail.bubbleSeconds.map((bubble) => Math.max(0, bubble + seconds)),
  };
}

interface Measured extends LayoutDetail {
  readonly seconds: number;
  readonly last: number;
}

/** Measures a shortened step. `near`: a shorter one, whose slowest list it looks at and whose memory it repeats. */
function measure({ program, alone: step }: ShortStep, peak: PeakRate, near?: Measured): Measured {
  const lists = step.lists.map(({ expanded }) => expanded);
  const last = near?.last ?? step.last;
  const parts = partsOfList(step, last, peak);
  const own = lists[last] as ExpandedList;
  const sent = bytesSent({ ...program, lists: [own.list] }, [own]).lists[0];
  const exchanges = exchangesOf(step, last).map((row): ExchangeDetail => {
    const match = sent?.exchanges.filter((each) => each.kind === row.kind && each.over === row.over) ?? [];
    return { ...row, bytes: match.reduce((sum, each) => sum + each.bytes, 0) };
  });
  return {
    seconds: step.seconds,
    last,
    parts,
    bubbleSeconds: lists.map((_, index) => (index === last ? parts.bubble : bubbleOfList(step, index))),
    exchanges,
    hiddenSeconds: exchanges.reduce((sum, row) => sum + row.seconds - row.exposedSeconds, 0),
    memory: near?.memory ?? lists.map((each) => peakParts(each, degreesOf(program))),
    operations: lists.reduce((sum, each) => sum + replayOf(each).length, 0),
  };
}

/** A detail, and the seconds that its parts add up to. */
type Extrapolated = LayoutDetail & Pick<Measured, 'seconds'>;

function extrapolate(near: Measured, next: Measured, rounds: number): Extrapolated {
  const further = (a: number, b: number): number => a + rounds * (b - a);
  const records = <Key extends string>(a: Readonly<Record<Key, number>>, b: Readonly<Record<Key, number>>) =>
    Object.fromEntries(Object.keys(a).map((key) => [key, further(a[key as Key], b[key as Key])])) as Record<
      Key,
      number
    >;
  return {
    seconds: further(near.seconds, next.seconds),
    parts: records(near.parts, next.parts),
    bubbleSeconds: near.bubbleSeconds.map((bubble, stage) => further(bubble, next.bubbleSeconds[stage] ?? bubble)),
    hiddenSeconds: further(near.hiddenSeconds, next.hiddenSeconds),
    exchanges: near.exchanges.map((row, index) => {
      const other = next.exchanges[index] ?? row;
      return {
        ...row,
        count: further(row.count, other.count),
        seconds: further(row.seconds, other.seconds),
        exposedSeconds: further(row.exposedSeconds, other.exposedSeconds),
        bytes: further(row.bytes, other.bytes),
      };
    }),
    memory: near.memory,
    operations: next.operations,
  };
}

/** What further micro-batches keep alive (all of them under GPipe) is activations. */
function withPeaks(detail: LayoutDetail, peaks: Float64Array): LayoutDetail {
  const memory = detail.memory.map((parts, stage) => {
    const sum = Object.values(parts).reduce((total, part) => total + part, 0);
    return { ...parts, activations: parts.activations + (peaks[stage] ?? sum) - sum };
  });
  return { ...detail, memory };
}
