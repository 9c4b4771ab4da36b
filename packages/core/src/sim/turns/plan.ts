/** @file What can be said of a turn before it is placed: the clocks from outside that it may wait for (of the
 * host, of its queues, of memory that it finds, of lines that it names), and how long after each of them its operations start
 * at the earliest, which is the same every time.
 */
import type { Replay } from '../../program/index.ts';
import { HOST_QUEUE } from '../lanes.ts';
import type { OperandUse } from '../operand-use.ts';

/** What an operation may wait for: an operation of the turn (0 and up), or a clock from outside ({@link clockOf}). */
export type Need = number;

/** The need of a clock, and back. */
export const clockOf = (number: number): number => -1 - number;

/** The host is clock 0, the lines that are named clock 1. */
export const HOST = 0;
export const LINE = 1;

/** What can be said of all instances of a turn. Operands are those of all its operations, one after the other. */
export interface TurnPlan {
  readonly length: number;
  readonly launch: Float64Array;
  readonly seconds: Float64Array;
  /** By clock: its kind, and the number of the queue, or of the operand whose memory it is of. */
  readonly clockKind: Uint8Array;
  readonly clockOf: Uint16Array;
  /** By operation. */
  readonly needs: readonly (readonly Need[])[];
  /** Seconds from a clock to the start of an operation: `operation * clocks + clock`; -Infinity where none leads. */
  readonly after: Float64Array;
  /** The last operation of each queue. */
  readonly lastQueue: Uint8Array;
  readonly lastOf: Uint16Array;
  /** Clocks of memory that the turn leaves: the operand, 1 for the last writer, and the operation whose end it is. */
  readonly leaves: Uint16Array;
  readonly leaveWrites: Uint8Array;
  readonly leaveOf: Uint16Array;
}

/** Kinds of clocks; of the host and of named turns there is one each. */
export const QUEUE = 1;
export const WRITTEN = 2;
const READ = 3;

/** What plans are made of: samples of a list by number. */
export interface PlanInput {
  readonly rows: Replay;
  readonly use: OperandUse;
  readonly queue: Uint8Array;
  readonly launch: Float64Array;
  readonly seconds: Float64Array;
  /** Operations after which the host is held, and those that take no time: turns with such are placed one by one. */
  readonly holds: Uint8Array;
  readonly isMark: Uint8Array;
}

/** Clocks beyond which a turn is placed one by one. */
const MOST_CLOCKS = 64;

/** The plan of a turn whose row begins at operation `begin`; undefined for turns that are placed one by one, where the host
 * waits or too much may be waited for. */
export function turnPlan(input: PlanInput, begin: number, length: number): TurnPlan | undefined {
  const { rows, holds, isMark, queue } = input;
  const samples = rows.sampleOf.subarray(begin, begin + length);
  if (samples.some((each) => holds[each] === 1 || isMark[each] === 1 || queue[each] === HOST_QUEUE)) return undefined;
  const traced = trace(input, begin, length);
  const count = traced.clockKind.length;
  if (count > MOST_CLOCKS) return undefined;
  const launch = Float64Array.from(samples, (each) => input.launch[each] as number);
  const seconds = Float64Array.from(samples, (each) => input.seconds[each] as number);
  const after = afterClocks(traced.needs, count, launch, seconds);
  return { length, launch, seconds, ...traced, after };
}

/** Walks the row once, with names for the clocks instead of values. */
function trace({ rows, use, queue }: PlanInput, begin: number, length: number) {
  const { sampleOf, operands, operandFirst } = rows;
  const { asks, askFirst, leaves, leaveFirst } = use;
  const { slotOf } = rows.owners();
  const { outside, clockKind, clockOfKind } = namedClocks();
  const lastOf = new Map<number, number>();
  const writer = new Map<number, number>();
  const readers = new Map<number, number[]>();
  const left = new Map<string, { readonly operand: number; readonly writes: boolean; readonly operation: number }>();
  const needs: (readonly Need[])[] = [];
  for (let at = 0; at < length; at++) {
    const sample = sampleOf[begin + at] as number;
    const own = queue[sample] as number;
    const first = operandFirst[begin + at] as number;
    const before = first - (operandFirst[begin] as number);
    const row: Need[] = [clockOf(HOST), clockOf(LINE), lastOf.get(own) ?? outside(`queue ${own}`, QUEUE, own)];
    for (let each = askFirst[sample] as number; each < (askFirst[sample + 1] as number); each++) {
      const code = asks[each] as number;
      const memory = operands[first + (code >> 1)] as number;
      const operand = before + (code >> 1);
      if ((code & 1) === 0) row.push(writer.get(memory) ?? outside(`written ${memory}`, WRITTEN, operand));
      else row.push(...(readers.get(memory) ?? []), outside(`read ${memory}`, READ, operand));
    }
    needs.push([...new Set(row)]);
    lastOf.set(own, at);
    for (let each = leaveFirst[sample] as number; each < (leaveFirst[sample + 1] as number); each++) {
      const code = leaves[each] as number;
      const memory = operands[first + (code >> 1)] as number;
      const writes = (code & 1) === 1;
      if (writes) writer.set(memory, at);
      else readers.set(memory, [...(readers.get(memory) ?? []), at]);
      if (use.isSeenOutside[2 * (slotOf[memory] as number) + (code & 1)] === 0) continue;
      // A later write outdates an earlier one; of readers in one queue the last ends last.
      left.set(writes ? `written ${memory}` : `read ${memory} ${own}`, {
        operation: at,
        operand: before + (code >> 1),
        writes,
      });
    }
  }
  const kept = [...left.values()];
  return {
    clockKind: Uint8Array.from(clockKind),
    clockOf: Uint16Array.from(clockOfKind),
    needs,
    lastQueue: Uint8Array.from(lastOf.keys()),
    lastOf: Uint16Array.from(lastOf.values()),
    leaves: Uint16Array.from(kept, ({ operand }) => operand),
    leaveWrites: Uint8Array.from(kept, ({ writes }) => (writes ? 1 : 0)),
    leaveOf: Uint16Array.from(kept, ({ operation }) => operation),
  };
}

/** Clocks in the order in which they are first named, behind those of the host and of named turns. */
function namedClocks() {
  const clockKind = [0, 0];
  const clockOfKind = [0, 0];
  const numbers = new Map<string, Need>();
  const outside = (name: string, kind: number, of: number): Need => {
    const known = numbers.get(name);
    if (known !== undefined) return known;
    clockOfKind.push(of);
    const made = clockOf(clockKind.push(kind) - 1);
    numbers.set(name, made);
    return made;
  };
  return { outside, clockKind, clockOfKind };
}

function afterClocks(
  needs: TurnPlan['needs'],
  clocks: number,
  launch: Float64Array,
  seconds: Float64Array,
): Float64Array {
  const after = new Float64Array(needs.length * clocks).fill(Number.NEGATIVE_INFINITY);
  let issued = 0;
  for (const [at, row] of needs.entries()) {
    issued += launch[at] as number;
    for (const need of row) {
      if (need < 0) {
        const clock = clockOf(need);
        const seconds = clock === HOST ? issued : 0;
        if (seconds > (after[at * clocks + clock] as number)) after[at * clocks + clock] = seconds;
        continue;
      }
      for (let clock = 0; clock < clocks; clock++) {
        const later = (after[need * clocks + clock] as number) + (seconds[need] as number);
        if (later > (after[at * clocks + clock] as number)) after[at * clocks + clock] = later;
      }
    }
  }
  return after;
}
