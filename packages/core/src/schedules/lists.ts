/** @file Schedules as data: the order in which a stage computes its chunks and micro-batches. Nothing here knows of time.
 *
 * Sources: naive and gpipe [huang2019]; 1f1b [narayanan2019] with flush; interleaved-1f1b [narayanan2021] in the order
 * of Megatron-LM, megatron/core/pipeline_parallel/schedules.py (warm-up and groups of `stages` micro-batches).
 */
import { assertInvariant } from '../errors/index.ts';
import {
  assertCounts,
  backwardCode,
  decodeInvocation,
  forwardCode,
  type Invocation,
  type ScheduleName,
  type ScheduleShape,
  type SplitScheduleName,
} from './invocation.ts';
import { isSplit, placementOf } from './placement.ts';
import { splitSchedules } from './split/schedules.ts';

/** What a schedule is: the forwards that a stage runs ahead of its first backward, and the order within a direction. */
export interface ScheduleRow {
  /** One sentence for tables and hints. */
  readonly what: string;
  /** Forwards of stage `stage` before its first backward: the steady state is one forward, one backward. */
  readonly warmup: (shape: ScheduleShape, stage: number) => number;
}

/** Schedules that never split a backward; a stage's list is its warm-up forwards, then forward and backward in turns, then
 * backwards.
 */
export const schedules: Readonly<Record<Exclude<ScheduleName, SplitScheduleName>, ScheduleRow>> = {
  none: { what: 'one stage: each micro-batch forward, then backward', warmup: () => 0 },
  naive: { what: 'one micro-batch at a time through all stages', warmup: () => 0 },
  gpipe: {
    what: 'all forwards, then all backwards',
    warmup: ({ microBatches }) => microBatches,
  },
  '1f1b': {
    what: 'one forward, one backward once the pipeline is full',
    warmup: ({ stages, microBatches }, stage) => Math.min(stages - stage - 1, microBatches),
  },
  'interleaved-1f1b': {
    what: 'one forward, one backward over several chunks per stage',
    warmup: ({ stages, chunks, microBatches }, stage) =>
      Math.min((stages - stage - 1) * 2 + (chunks - 1) * stages, chunks * microBatches),
  },
};

/** Invocations of one stage in order of issue, as codes. */
export function scheduleCodes(shape: ScheduleShape, stage: number): Int32Array {
  const { schedule } = shape;
  assertShape(shape);
  if (isSplit(schedule)) return Int32Array.from(splitSchedules[schedule].list(shape, stage));
  const codes = new Int32Array(2 * shape.chunks * shape.microBatches);
  writeTurns(shape, schedules[schedule].warmup(shape, stage), codes);
  return codes;
}

/** Invocations of one stage in order of issue, readable. */
export const scheduleList = (shape: ScheduleShape, stage: number): readonly Invocation[] =>
  Array.from(scheduleCodes(shape, stage), decodeInvocation);

/** Throws an internal error when a schedule cannot have this shape; users get issues from `checkLayout` before. */
export function assertShape(shape: ScheduleShape): void {
  assertCounts(shape);
  const { schedule, stages, chunks, microBatches } = shape;
  const interleaved = schedule === 'interleaved-1f1b';
  const legal = isSplit(schedule)
    ? splitSchedules[schedule].takes(shape) && chunks === (placementOf(schedule) === 'line' ? 1 : 2)
    : interleaved === chunks > 1 && (!interleaved || microBatches % stages === 0);
  assertInvariant(
    legal,
    () => `schedule ${schedule} cannot have ${stages} stages, ${chunks} chunks, ${microBatches} micro-batches`,
  );
}

function writeTurns(shape: ScheduleShape, ahead: number, into: Int32Array): void {
  const total = shape.chunks * shape.microBatches;
  let at = 0;
  for (let turn = 0; turn < ahead; turn++) into[at++] = forwardTurn(shape, turn);
  for (let turn = 0; turn < total - ahead; turn++) {
    into[at++] = forwardTurn(shape, turn + ahead);
    into[at++] = backwardTurn(shape, turn);
  }
  for (let turn = total - ahead; turn < total; turn++) into[at++] = backwardTurn(shape, turn);
}

/** The `turn`-th forward: groups of `stages` micro-batches visit one chunk after the other. */
function forwardTurn({ stages, chunks }: ScheduleShape, turn: number): number {
  if (chunks === 1) return forwardCode(0, turn);
  const group = Math.floor(turn / (stages * chunks));
  return forwardCode(Math.floor(turn / stages) % chunks, group * stages + (turn % stages));
}

/** The `turn`-th backward: the same groups, last chunk first. */
function backwardTurn({ stages, chunks }: ScheduleShape, turn: number): number {
  if (chunks === 1) return backwardCode(0, turn);
  const group = Math.floor(turn / (stages * chunks));
  return backwardCode(chunks - 1 - (Math.floor(turn / stages) % chunks), group * stages + (turn % stages));
}
