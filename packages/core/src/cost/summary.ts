/** @file Summarises the operations of one call: a max-plus matrix for time and a memory profile. */
import type { ExpandedOperation } from '../program/index.ts';
import { type BlockMatrix, ENTRY, EXIT, emptyMatrix } from './maxplus.ts';

/** What an operation costs: its own duration, and the host's time to issue it. */
export interface OperationCost {
  readonly duration: (operation: ExpandedOperation) => number;
  readonly launchCompute: number;
  readonly launchExchange: number;
}

/** Seconds from each entry clock, by column; a plain vector in max-plus algebra. */
type ClockVector = Float64Array;

const never = (): ClockVector => new Float64Array(6).fill(Number.NEGATIVE_INFINITY);

function unit(column: number): ClockVector {
  const vector = never();
  vector[column] = 0;
  return vector;
}

function later(a: ClockVector, b: ClockVector): ClockVector {
  return a.map((value, index) => Math.max(value, b[index] as number));
}

const plus = (a: ClockVector, seconds: number): ClockVector => a.map((value) => value + seconds);

/** Names of the buffers at a call's borders, as instances. */
export interface Borders {
  readonly input: string | undefined;
  /** The input is there once the compute lane is free: nothing of another rank is waited for. */
  readonly inputOfLane?: true;
  readonly output: string | undefined;
}

/** The matrix of a row of operations in order of issue.
 *
 * Same rules as the operation-level simulation: the host issues in order; an operation starts when it is issued, its lane
 * is free, what it reads is written and what it overwrites is read. Buffers written before the call are ready, save for the border's input and
 * gathered weights: those are entry clocks.
 */
export function summarizeTime(
  operations: readonly ExpandedOperation[],
  borders: Borders,
  cost: OperationCost,
): BlockMatrix {
  let host = unit(ENTRY.host);
  const lanes = new Map<string, ClockVector>([
    ['compute', unit(ENTRY.compute)],
    ['tensor', unit(ENTRY.tensor)],
  ]);
  const written = new Map<string, ClockVector>();
  const read = new Map<string, ClockVector>();
  const gradients = { own: never(), tied: never() };
  let end = host;
  for (const expanded of operations) {
    const { operation } = expanded;
    if (operation.kind === 'wait') {
      // The host reads a value: what it issues next comes after the value is there.
      for (const operand of expanded.reads) {
        const ready = operand && (written.get(operand.instance.name) ?? outsideClock(operand.instance.name, borders));
        if (ready) host = later(host, ready);
      }
      continue;
    }
    host = plus(host, operation.kind === 'compute' ? cost.launchCompute : cost.launchExchange);
    let start = later(host, lanes.get(operation.lane) ?? never());
    for (const operand of expanded.reads) {
      if (operand === undefined) continue;
      const ready = written.get(operand.instance.name) ?? outsideClock(operand.instance.name, borders);
      if (ready) start = later(start, ready);
    }
    for (const { operand } of expanded.writes) {
      const { name } = operand.instance;
      start = later(later(start, written.get(name) ?? start), read.get(name) ?? start);
    }
    end = plus(start, cost.duration(expanded));
    for (const operand of expanded.reads) {
      if (operand) read.set(operand.instance.name, later(read.get(operand.instance.name) ?? end, end));
    }
    lanes.set(operation.lane, end);
    for (const { operand } of expanded.writes) {
      written.set(operand.instance.name, end);
      if (operand.instance.name.startsWith('G.')) {
        const kind = isTied(operand.instance.name) ? 'tied' : 'own';
        gradients[kind] = later(gradients[kind], end);
      }
    }
  }
  const output = borders.output === undefined ? undefined : written.get(borders.output);
  return matrixOf([
    [EXIT.host, host],
    [EXIT.compute, lanes.get('compute') ?? never()],
    [EXIT.tensor, lanes.get('tensor') ?? never()],
    [EXIT.output, output ?? never()],
    [EXIT.end, end],
    [EXIT.own, gradients.own],
    [EXIT.tied, gradients.tied],
  ]);
}

/** In the second bucket of a block: the tied matrix at the ends, experts over a grid of their own in layers. */
const isTied = (instance: string): boolean => /^[WG]\.(tied\b|[\w-]+\.experts\b)/.test(instance);

function outsideClock(instance: string, borders: Borders): ClockVector | undefined {
  if (instance === borders.input) return unit(borders.inputOfLane ? ENTRY.compute : ENTRY.input);
  if (instance.startsWith('W.')) return unit(isTied(instance) ? ENTRY.tied : ENTRY.own);
  return undefined;
}

function matrixOf(rows: readonly (readonly [number, ClockVector])[]): BlockMatrix {
  const matrix = emptyMatrix();
  for (const [row, vector] of rows) matrix.set(vector, row * vector.length);
  return matrix;
}

/** Live bytes of a call relative to its entry, weights and gradients of buckets left out.
 *
 * `net` is what stays. `peaks` are the highest live bytes in the five parts that the events cut the call into; events are
 * the last reads of gathered weights and the first writes of gradient buckets. An event acts between its two parts.
 */
export interface MemoryProfile {
  readonly net: number;
  /** The highest of `peaks`. */
  readonly rise: number;
  readonly peaks: readonly number[];
  readonly events: readonly BucketEvent[];
}

/** After its part a gathered weight may be freed; before the next part a gradient bucket is there. */
export type BucketEvent = 'free-own' | 'free-tied' | 'allocate-own' | 'allocate-tied';

/** Live range of an instance in operations of the sample, first and last. */
export interface SampleRange {
  readonly first: number;
  readonly last: number;
  readonly bytes: number;
  readonly instance: string;
}

/** Profile of the operations [from, to) of a sample with the live ranges of its buffers. */
export function profileMemory(
  operations: readonly ExpandedOperation[],
  ranges: readonly SampleRange[],
  from: number,
  to: number,
): MemoryProfile {
  const allocated = new Float64Array(to - from);
  const freed = new Float64Array(to - from);
  for (const { first, last, bytes, instance } of ranges) {
    if (/^[WG]\./.test(instance)) continue;
    if (within(first, from, to)) allocated[first - from] = (allocated[first - from] ?? 0) + bytes;
    if (within(last, from, to)) freed[last - from] = (freed[last - from] ?? 0) + bytes;
  }
  return walk(allocated, freed, bucketMarks(operations.slice(from, to)));
}

/** Last reads of weights and first writes of gradients in one call. A gradient is there before its operation begins. */
function bucketMarks(operations: readonly ExpandedOperation[]): readonly { at: number; event: BucketEvent }[] {
  const marks = new Map<BucketEvent, number>();
  operations.forEach(({ reads, writes }, index) => {
    for (const read of reads) {
      const name = read?.instance.name ?? '';
      if (name.startsWith('W.')) marks.set(isTied(name) ? 'free-tied' : 'free-own', index);
    }
    for (const { operand } of writes) {
      const event = isTied(operand.instance.name) ? 'allocate-tied' : 'allocate-own';
      if (operand.instance.name.startsWith('G.') && !marks.has(event)) marks.set(event, index - 0.5);
    }
  });
  return [...marks].map(([event, at]) => ({ at, event })).sort((a, b) => a.at - b.at);
}

const within = (index: number, from: number, to: number): boolean => index >= from && index < to;

function walk(
  allocated: Float64Array,
  freed: Float64Array,
  marks: readonly { at: number; event: BucketEvent }[],
): MemoryProfile {
  const peaks: number[] = [];
  let live = 0;
  let peak = Number.NEGATIVE_INFINITY;
  let mark = 0;
  for (let index = 0; index < allocated.length; index++) {
    while (mark < marks.length && (marks[mark]?.at ?? 0) < index) {
      peaks.push(peak);
      peak = Number.NEGATIVE_INFINITY;
      mark += 1;
    }
    live += allocated[index] ?? 0;
    if (live > peak) peak = live;
    live -= freed[index] ?? 0;
  }
  while (mark < marks.length) {
    peaks.push(peak);
    peak = Number.NEGATIVE_INFINITY;
    mark += 1;
  }
  peaks.push(peak);
  return { net: live, rise: Math.max(...peaks), peaks, events: marks.map(({ event }) => event) };
}
