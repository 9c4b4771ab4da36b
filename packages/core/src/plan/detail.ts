/** @file One layout operation by operation: where the time goes, what travels, what is alive at the peak.
 *
 * A step repeats itself once its pipeline is full. So the program is compiled for few micro-batches, twice, one round of
 * the steady state apart; the difference is what each further round adds. The sum is checked against the evaluation of
 * the real step and the programs grow until they agree.
 */
import type { Layout } from '../layout/index.ts';
import { type MemoryParts, peakParts } from '../memory/index.ts';
import { bytesSent, degreesOf, type ExpandedList, replayOf } from '../program/index.ts';
import {
  bubbleOfList,
  type ExchangeTime,
  exchangesOf,
  type PeakRate,
  partsOfList,
  type StepParts,
} from '../sim/index.ts';
import { createEvaluator, type Evaluator, evaluateStep } from './evaluate/index.ts';
import type { Candidate } from './search.ts';
import { type ShortStep, type ShortSteps, shortSteps } from './short-steps.ts';
import { shortenedJob } from './shortened.ts';

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

/** Details of a candidate; agrees with its evaluation to 1e-9. `steps` may be given where others ask for short steps of its
 * layout. */
export function detailOf(
  evaluator: Evaluator,
  { layout, evaluation }: Candidate,
  peak: PeakRate,
  steps: ShortSteps = shortSteps(evaluator, layout),
): LayoutDetail {
  const { all, counts, stride } = countsOf(evaluator, layout);
  const secondsOf = blockSeconds(evaluator, layout);
  for (const count of counts) {
    if (count >= all) break;
    const rounds = (all - count) / stride;
    const agrees = (near: number, next: number): boolean =>
      Math.abs(near + rounds * (next - near) - evaluation.seconds) <= 1e-9 * evaluation.seconds;
    // Blocks say in milliseconds where writing operations out would not yet agree.
    if (!agrees(secondsOf(count), secondsOf(count + stride))) continue;
    const near = measure(steps.of(count), peak);
    const next = measure(steps.of(count + stride), peak, near);
    if (agrees(near.seconds, next.seconds)) return withPeaks(extrapolate(near, next, rounds), evaluation.peakBytes);
  }
  return measure(steps.of(all), peak);
}

/** Micro-batches of shortened steps, each about twice the one before, up to the whole step. */
function countsOf(evaluator: Evaluator, layout: Layout) {
  const { written, stride, extra } = evaluator.orderOf(layout);
  const all = written + extra * stride;
  const counts: number[] = [];
  for (let count = Math.min(all, written); count < all; count += stride * Math.ceil(count / stride)) counts.push(count);
  return { all, counts, stride };
}

/** Seconds of shortened steps at block level. */
function blockSeconds(evaluator: Evaluator, layout: Layout): (microBatches: number) => number {
  const spec = evaluator.specOf(layout);
  const book = { pricesOf: () => evaluator.pricesOf(layout) };
  return (microBatches) => {
    const short = createEvaluator(shortenedJob(evaluator.job, layout, microBatches), {}, book);
    return evaluateStep(spec, short.orderOf(layout)).seconds;
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

function extrapolate(near: Measured, next: Measured, rounds: number): LayoutDetail {
  const further = (a: number, b: number): number => a + rounds * (b - a);
  const records = <Key extends string>(a: Readonly<Record<Key, number>>, b: Readonly<Record<Key, number>>) =>
    Object.fromEntries(Object.keys(a).map((key) => [key, further(a[key as Key], b[key as Key])])) as Record<
      Key,
      number
    >;
  return {
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
