/** @file What can be said of a block of operations before it is placed: the clocks from outside that it may wait for (of the
 * host, of its queues, of memory that it finds, of lines that it names), and how long after each of them its operations start
 * at the earliest, which is the same every time.
 */
import type { Replay } from '../../program/index.ts';
import { HOST_QUEUE } from '../lanes.ts';
import type { OperandUse } from '../operand-use.ts';

/** What an operation may wait for: an operation of the block (0 and up), or a clock from outside ({@link clockOf}). */
export type Need = number;

/** The need of a clock, and back. */
export const clockOf = (number: number): number => -1 - number;

/** The host is clock 0, the lines that are named clock 1. */
export const HOST = 0;
export const LINE = 1;

/** What can be said of all instances of a block. */
export interface BlockPlan {
  readonly length: number;
  readonly launch: Float64Array;
  readonly seconds: Float64Array;
  /** Places of exchanges among the operations. */
  readonly exchanges: readonly number[];
  /** Clocks behind {@link LINE}: queues, and memory by the place of its operand among all of the block. */
  readonly clocks: readonly Clock[];
  /** By operation. */
  readonly needs: readonly (readonly Need[])[];
  /** Seconds from a clock to the start of an operation: `operation * clocks + clock`; -Infinity where none leads. */
  readonly after: Float64Array;
  /** The last operation of each queue. */
  readonly lastOf: readonly { readonly queue: number; readonly operation: number }[];
  /** Clocks of memory that the block leaves, by operand of the block. */
  readonly leaves: readonly { readonly operand: number; readonly writes: boolean; readonly operation: number }[];
}

export type Clock =
  | { readonly kind: 'queue'; readonly queue: number }
  | { readonly kind: 'written' | 'read'; readonly operand: number };

/** What plans are made of: samples of a list by number. */
export interface PlanInput {
  readonly replay: Replay;
  readonly use: OperandUse;
  readonly queue: Uint8Array;
  readonly launch: Float64Array;
  readonly seconds: Float64Array;
  /** Operations after which the host is held, and those that take no time: blocks with such are placed one by one. */
  readonly holds: Uint8Array;
  readonly isMark: Uint8Array;
}

/** Clocks beyond which a block is placed one by one. */
const MOST_CLOCKS = 64;

/** The plan of a block whose instance at hand begins at operation `begin`; undefined for blocks that are placed one by one:
 * of fewer operations than `fewest`, or where the host waits. */
export function blockPlan(input: PlanInput, begin: number, fewest: number): BlockPlan | undefined {
  const { replay, holds, isMark, queue } = input;
  const { sampleOf, blockOf, operandFirst } = replay;
  const sample = sampleOf[begin] as number;
  let length = 1;
  while (blockOf[sample + length] === sample) length += 1;
  if (length < fewest) return undefined;
  for (let at = sample; at < sample + length; at++) {
    if (holds[at] === 1 || isMark[at] === 1 || queue[at] === HOST_QUEUE) return undefined;
  }
  const traced = trace(input, begin, length);
  const { clocks, needs } = traced;
  const count = LINE + 1 + clocks.length;
  if (count > MOST_CLOCKS) return undefined;
  const launch = input.launch.slice(sample, sample + length);
  const seconds = input.seconds.slice(sample, sample + length);
  const after = afterClocks(needs, count, launch, seconds);
  const exchanges = [...seconds.keys()].filter((at) => replay.samples[sample + at]?.operation.kind !== 'compute');
  return {
    length,
    launch,
    seconds,
    exchanges,
    ...traced,
    after,
    leaves: traced.leaves.map(({ operation, place, writes }) => ({
      operand: (operandFirst[begin + operation] as number) - (operandFirst[begin] as number) + place,
      writes,
      operation,
    })),
  };
}

interface Traced {
  readonly clocks: readonly Clock[];
  readonly needs: readonly (readonly Need[])[];
  readonly lastOf: readonly { readonly queue: number; readonly operation: number }[];
  readonly leaves: readonly { readonly operation: number; readonly place: number; readonly writes: boolean }[];
}

/** Walks the instance once, with names for the clocks instead of values. */
function trace({ replay, use, queue }: PlanInput, begin: number, length: number): Traced {
  const { sampleOf, operands, operandFirst } = replay;
  const { asks, askFirst, leaves, leaveFirst } = use;
  const sample = sampleOf[begin] as number;
  const clocks: Clock[] = [];
  const numbers = new Map<string, Need>();
  const outside = (name: string, clock: Clock): Need => {
    const known = numbers.get(name) ?? clockOf(LINE + clocks.push(clock));
    numbers.set(name, known);
    return known;
  };
  const lastOf = new Map<number, number>();
  const writer = new Map<number, number>();
  const readers = new Map<number, number[]>();
  const left = new Map<string, Traced['leaves'][number]>();
  const needs: (readonly Need[])[] = [];
  for (let at = 0; at < length; at++) {
    const own = queue[sample + at] as number;
    const operandOf = (place: number): number => (operandFirst[begin + at] as number) + place;
    const relative = (place: number): number => operandOf(place) - (operandFirst[begin] as number);
    const row: Need[] = [
      clockOf(HOST),
      clockOf(LINE),
      lastOf.get(own) ?? outside(`queue ${own}`, { kind: 'queue', queue: own }),
    ];
    for (let each = askFirst[sample + at] as number; each < (askFirst[sample + at + 1] as number); each++) {
      const code = asks[each] as number;
      const memory = operands[operandOf(code >> 1)] as number;
      const operand = relative(code >> 1);
      if ((code & 1) === 0) row.push(writer.get(memory) ?? outside(`written ${memory}`, { kind: 'written', operand }));
      else row.push(...(readers.get(memory) ?? []), outside(`read ${memory}`, { kind: 'read', operand }));
    }
    needs.push([...new Set(row)]);
    lastOf.set(own, at);
    for (let each = leaveFirst[sample + at] as number; each < (leaveFirst[sample + at + 1] as number); each++) {
      const code = leaves[each] as number;
      const place = code >> 1;
      const memory = operands[operandOf(place)] as number;
      const writes = (code & 1) === 1;
      if (writes) writer.set(memory, at);
      else readers.set(memory, [...(readers.get(memory) ?? []), at]);
      // A later write outdates an earlier one; of readers in one queue the last ends last.
      left.set(writes ? `written ${memory}` : `read ${memory} ${own}`, { operation: at, place, writes });
    }
  }
  return {
    clocks,
    needs,
    lastOf: [...lastOf].map(([each, operation]) => ({ queue: each, operation })),
    leaves: [...left.values()],
  };
}

function afterClocks(
  needs: BlockPlan['needs'],
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
