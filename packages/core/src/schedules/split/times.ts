/** @file Lists of a schedule in time: the longest path for given costs, free transfers. */
import { assertInvariant } from '../../errors/index.ts';
import {
  chunkOf,
  formatInvocations,
  isBackward,
  isTogether,
  kindOf,
  microBatchOf,
  type ScheduleShape,
} from '../invocation.ts';
import { scheduleCodes } from '../lists.ts';
import { neighbourOf, placementOf } from '../placement.ts';
import { type SplitCosts, type SplitListName, splitSchedules } from './schedules.ts';
import type { SplitShape } from './zero-bubble.ts';

/** When each stage begins and ends, and what it holds. */
export interface SplitTimes {
  readonly lists: readonly ArrayLike<number>[];
  /** By stage and position in its list. */
  readonly start: readonly Float64Array[];
  readonly end: readonly Float64Array[];
  /** The last end of all. */
  readonly length: number;
  /** By stage: time between its first start and last end in which it does nothing. */
  readonly idle: readonly number[];
}

/** What others wait for: the weight part of a backward is waited for by nobody. */
type Part = 'F' | 'I' | 'W';
const parts: readonly Part[] = ['F', 'I', 'W'];

/** Places all lists of a schedule that is compiled. Throws an internal error when they wait for each other in a circle. */
export const scheduleTimes = (shape: ScheduleShape, costs: SplitCosts): SplitTimes =>
  timesOf(
    Array.from({ length: shape.stages }, (_, stage) => scheduleCodes(shape, stage)),
    shape,
    costs,
  );

/** Places all lists of a split schedule by its name. Throws as {@link scheduleTimes} does. */
export function splitTimes(name: SplitListName, shape: SplitShape, costs: SplitCosts): SplitTimes {
  const lists = Array.from({ length: shape.stages }, (_, stage) => splitSchedules[name].list(shape, stage));
  const schedule = name === 'pipedream' ? '1f1b' : name;
  return timesOf(lists, { ...shape, schedule, chunks: placementOf(schedule) === 'line' ? 1 : 2 }, costs);
}

function timesOf(lists: readonly ArrayLike<number>[], shape: ScheduleShape, costs: SplitCosts): SplitTimes {
  const { stages, chunks } = shape;
  const start = lists.map((codes) => new Float64Array(codes.length));
  const end = lists.map((codes) => new Float64Array(codes.length));
  const done = new Float64Array(stages * chunks * shape.microBatches * parts.length).fill(Number.NaN);
  const slot = (part: Part, stage: number, chunk: number, microBatch: number): number =>
    ((stage * chunks + chunk) * shape.microBatches + microBatch) * parts.length + parts.indexOf(part);
  const doneAt = (part: Part, stage: number, chunk: number, microBatch: number): number =>
    done[slot(part, stage, chunk, microBatch)] as number;
  const at = new Uint32Array(stages);
  /** When what an invocation reads is there; not a number while it is not. */
  const ready = (stage: number, code: number): number => {
    const kind = kindOf(code);
    const [chunk, micro] = [chunkOf(code), microBatchOf(code)];
    if (kind === 'W') return doneAt('I', stage, chunk, micro);
    const from = neighbourOf(shape, stage, chunk, kind === 'F' ? -1 : 1);
    if (from === undefined) return kind === 'F' ? 0 : doneAt('F', stage, chunk, micro);
    return doneAt(kind === 'F' ? 'F' : 'I', from.stage, from.chunk, micro);
  };
  const advance = (stage: number): boolean => {
    const codes = lists[stage] as ArrayLike<number>;
    const first = at[stage] as number;
    if (first >= codes.length) return false;
    const count = isTogether(codes[first] as number) ? 2 : 1;
    const group = Array.from({ length: count }, (_, index) => codes[first + index] as number);
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
      const part = isBackward(code) ? 'I' : kind === 'W' ? 'W' : 'F';
      done[slot(part, stage, chunkOf(code), microBatchOf(code))] = finish;
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
    () =>
      `schedule ${shape.schedule} deadlocks: ${lists.map((codes) => formatInvocations(Array.from(codes), chunks)).join(' | ')}`,
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
export function mostInFlight(codes: Iterable<number>): number {
  let held = 0;
  let most = 0;
  for (const code of codes) {
    const kind = kindOf(code);
    if (kind === 'F') most = Math.max(most, ++held);
    else if (kind !== 'I') held -= 1;
  }
  return most;
}
