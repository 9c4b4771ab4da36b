/** @file Lists of a split schedule in time: the longest path for given costs, free transfers. */
import { assertInvariant } from '../../errors/index.ts';
import { formatSplit, isTogether, kindOf, splitChunkOf, splitMicroBatchOf } from './code.ts';
import { type Placement, type SplitCosts, type SplitScheduleName, splitSchedules } from './schedules.ts';
import type { SplitShape } from './zero-bubble.ts';

/** When each stage begins and ends, and what it holds. */
export interface SplitTimes {
  readonly lists: readonly (readonly number[])[];
  /** By stage and position in its list. */
  readonly start: readonly Float64Array[];
  readonly end: readonly Float64Array[];
  /** The last end of all. */
  readonly length: number;
  /** By stage: time between its first start and last end in which it does nothing. */
  readonly idle: readonly number[];
}

/** Stage and chunk of the neighbour of a chunk in the model, `step` 1 towards the loss, -1 away; undefined at the ends. */
function neighbour(
  placement: Placement,
  stages: number,
  stage: number,
  chunk: number,
  step: 1 | -1,
): { readonly stage: number; readonly chunk: number } | undefined {
  const last = (placement === 'fold' ? 2 * stages : stages) - 1;
  const down = placement !== 'mirror' || chunk === 0;
  const part = placement === 'fold' && chunk === 1 ? 2 * stages - 1 - stage : down ? stage : stages - 1 - stage;
  const next = part + step;
  if (next < 0 || next > last) return undefined;
  if (placement === 'fold')
    return next < stages ? { stage: next, chunk: 0 } : { stage: 2 * stages - 1 - next, chunk: 1 };
  return { stage: down ? next : stages - 1 - next, chunk };
}

/** What others wait for: the weight part of a backward is waited for by nobody. */
type Part = 'F' | 'I' | 'W';
const parts: readonly Part[] = ['F', 'I', 'W'];

/** Places all lists of a schedule. Throws an internal error when they wait for each other in a circle. */
export function splitTimes(name: SplitScheduleName, shape: SplitShape, costs: SplitCosts): SplitTimes {
  const { placement, list } = splitSchedules[name];
  const { stages } = shape;
  const lists = Array.from({ length: stages }, (_, stage) => list(shape, stage));
  const start = lists.map((codes) => new Float64Array(codes.length));
  const end = lists.map((codes) => new Float64Array(codes.length));
  const done = new Float64Array(stages * 2 * shape.microBatches * parts.length).fill(Number.NaN);
  const slot = (part: Part, stage: number, chunk: number, microBatch: number): number =>
    ((stage * 2 + chunk) * shape.microBatches + microBatch) * parts.length + parts.indexOf(part);
  const doneAt = (part: Part, stage: number, chunk: number, microBatch: number): number =>
    done[slot(part, stage, chunk, microBatch)] as number;
  const at = new Uint32Array(stages);
  /** When what an invocation reads is there; not a number while it is not. */
  const ready = (stage: number, code: number): number => {
    const kind = kindOf(code);
    const [chunk, micro] = [splitChunkOf(code), splitMicroBatchOf(code)];
    if (kind === 'W') return doneAt('I', stage, chunk, micro);
    const from = neighbour(placement, stages, stage, chunk, kind === 'F' ? -1 : 1);
    if (from === undefined) return kind === 'F' ? 0 : doneAt('F', stage, chunk, micro);
    return doneAt(kind === 'F' ? 'F' : 'I', from.stage, from.chunk, micro);
  };
  const advance = (stage: number): boolean => {
    const codes = lists[stage] as number[];
    const first = at[stage] as number;
    if (first >= codes.length) return false;
    const count = isTogether(codes[first] as number) ? 2 : 1;
    const group = codes.slice(first, first + count);
    const free = first === 0 ? 0 : ((end[stage] as Float64Array)[first - 1] as number);
    let begin = free;
    for (const code of group) {
      const when = ready(stage, code);
      if (Number.isNaN(when)) return false;
      begin = Math.max(begin, when);
    }
    const finish = begin + durationOf(group, costs);
    group.forEach((code, index) => {
      (start[stage] as Float64Array)[first + index] = begin;
      (end[stage] as Float64Array)[first + index] = finish;
      const kind = kindOf(code);
      done[slot(kind === 'B' ? 'I' : kind, stage, splitChunkOf(code), splitMicroBatchOf(code))] = finish;
    });
    at[stage] = first + count;
    return true;
  };
  for (let moved = true; moved; ) {
    moved = false;
    for (let stage = 0; stage < stages; stage++) while (advance(stage)) moved = true;
  }
  const complete = lists.every((codes, stage) => at[stage] === codes.length);
  assertInvariant(
    complete,
    () => `schedule ${name} deadlocks: ${lists.map((codes) => formatSplit(codes, 2)).join(' | ')}`,
  );
  return { lists, start, end, ...measured(start, end) };
}

function durationOf(group: readonly number[], { forward, input, weight, pair }: SplitCosts): number {
  if (group.length === 2 && pair !== undefined) return pair;
  const of = { F: forward, B: input + weight, I: input, W: weight };
  return group.reduce((sum, code) => sum + of[kindOf(code)], 0);
}

function measured(start: readonly Float64Array[], end: readonly Float64Array[]): Pick<SplitTimes, 'length' | 'idle'> {
  const idle = start.map((starts, stage) => {
    const ends = end[stage] as Float64Array;
    let sum = 0;
    for (let index = 1; index < starts.length; index++) {
      sum += Math.max(0, (starts[index] as number) - (ends[index - 1] as number));
    }
    return sum;
  });
  return { length: Math.max(...end.map((ends) => ends.at(-1) ?? 0)), idle };
}

/** Most chunk passes that a list holds at a time, from the start of the forward to the end of the weight part. */
export function mostInFlight(codes: readonly number[]): number {
  let held = 0;
  let most = 0;
  for (const code of codes) {
    const kind = kindOf(code);
    if (kind === 'F') most = Math.max(most, ++held);
    else if (kind !== 'I') held -= 1;
  }
  return most;
}
