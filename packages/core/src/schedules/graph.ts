/** @file All invocations of all stages with what each waits for, in one order that respects it all: what a planner walks
 * once per layout. Computed once for each (schedule, stages, chunks, micro-batches); the caller keeps it.
 */
import { assertInvariant } from '../errors/index.ts';
import {
  backwardCode,
  chunkOf,
  formatInvocations,
  forwardCode,
  invocationCount,
  isBackward,
  microBatchOf,
  type ScheduleShape,
} from './invocation.ts';
import { writeCodes } from './lists.ts';

/** Invocation `id` is the (id % perStage)-th of stage floor(id / perStage).
 *
 * An invocation starts after the one before it in its stage, and after `producer[id]`. */
export interface ScheduleGraph {
  readonly shape: ScheduleShape;
  readonly perStage: number;
  /** Codes by id. */
  readonly codes: Int32Array;
  /** The id on another stage whose result this one receives; -1 when it receives nothing. */
  readonly producer: Int32Array;
  /** All ids, each after the one before it in its stage and after its producer. */
  readonly order: Int32Array;
}

/** The graph of a schedule. Throws an internal error for a schedule whose lists would deadlock. */
export function scheduleGraph(shape: ScheduleShape): ScheduleGraph {
  const { stages } = shape;
  const perStage = invocationCount(shape);
  const codes = new Int32Array(stages * perStage);
  for (let stage = 0; stage < stages; stage++) writeCodes(shape, stage, codes, stage * perStage);
  const producer = producersOf(shape, codes);
  const order = orderOf(stages, perStage, producer);
  assertInvariant(order !== undefined, () => {
    const lists = Array.from({ length: stages }, (_, stage) =>
      formatInvocations(codes.subarray(stage * perStage, (stage + 1) * perStage), shape.chunks),
    );
    return `schedule ${shape.schedule} deadlocks: ${lists.join(' | ')}`;
  });
  return { shape, perStage, codes, producer, order };
}

/** Stage and code that `code` on `stage` receives from; undefined when it reads what its own stage has. */
export function producerOf(
  shape: ScheduleShape,
  stage: number,
  code: number,
): { readonly stage: number; readonly code: number } | undefined {
  const { stages, chunks } = shape;
  if (stages === 1) return undefined;
  const chunk = chunkOf(code);
  const microBatch = microBatchOf(code);
  if (isBackward(code)) {
    if (stage < stages - 1) return { stage: stage + 1, code };
    return chunk < chunks - 1 ? { stage: 0, code: backwardCode(chunk + 1, microBatch) } : undefined;
  }
  if (stage > 0) return { stage: stage - 1, code };
  return chunk > 0 ? { stage: stages - 1, code: forwardCode(chunk - 1, microBatch) } : undefined;
}

function producersOf(shape: ScheduleShape, codes: Int32Array): Int32Array {
  const { stages, chunks, microBatches } = shape;
  const perStage = invocationCount(shape);
  const slotOf = (code: number): number =>
    (microBatchOf(code) * chunks + chunkOf(code)) * 2 + (isBackward(code) ? 1 : 0);
  const idOf = new Int32Array(stages * microBatches * chunks * 2);
  for (let id = 0; id < codes.length; id++) {
    const stage = Math.floor(id / perStage);
    idOf[stage * perStage + slotOf(codes[id] ?? 0)] = id;
  }
  const producer = new Int32Array(codes.length).fill(-1);
  for (let id = 0; id < codes.length; id++) {
    const from = producerOf(shape, Math.floor(id / perStage), codes[id] ?? 0);
    if (from) producer[id] = idOf[from.stage * perStage + slotOf(from.code)] ?? -1;
  }
  return producer;
}

/** Kahn's order with a queue of stages whose next invocation may have become ready; undefined on a deadlock. */
function orderOf(stages: number, perStage: number, producer: Int32Array): Int32Array | undefined {
  const order = new Int32Array(stages * perStage);
  const next = new Int32Array(stages);
  /** Per invocation, the stage whose next one waits for it; one at most, since each result has one receiver. */
  const waiting = new Int32Array(stages * perStage).fill(-1);
  const finished = new Uint8Array(stages * perStage);
  const queue: number[] = Array.from({ length: stages }, (_, stage) => stage);
  let at = 0;
  for (let head = 0; head < queue.length; head++) {
    const stage = queue[head] ?? 0;
    let position = next[stage] ?? 0;
    for (; position < perStage; position++) {
      const id = stage * perStage + position;
      const from = producer[id] ?? -1;
      if (from >= 0 && finished[from] === 0) {
        waiting[from] = stage;
        break;
      }
      finished[id] = 1;
      order[at++] = id;
      const woken = waiting[id] ?? -1;
      if (woken >= 0) queue.push(woken);
    }
    next[stage] = position;
  }
  return at === order.length ? order : undefined;
}
