/** @file The memory of the operations of one call as a profile. Where buffers begin and end is written down once; bytes are
 * filled in as often as they differ.
 */
import type { ExpandedOperation } from '../program/index.ts';
import { isTied } from './time-shape.ts';

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

/** Where ranges begin and end in a call, and its events. */
export interface MemoryShape {
  readonly length: number;
  /** In pairs: a range and the operation, counted from the first of the call, at which it begins, or ends. */
  readonly begins: readonly (readonly [range: number, at: number])[];
  readonly ends: readonly (readonly [range: number, at: number])[];
  readonly marks: readonly { readonly at: number; readonly event: BucketEvent }[];
}

/** The shape of the operations [from, to) of a sample with the live ranges of its buffers. */
export function memoryShape(
  operations: readonly ExpandedOperation[],
  ranges: readonly SampleRange[],
  from: number,
  to: number,
): MemoryShape {
  const begins: [number, number][] = [];
  const ends: [number, number][] = [];
  ranges.forEach(({ first, last, instance }, range) => {
    if (/^[WG]\./.test(instance)) return;
    if (within(first, from, to)) begins.push([range, first - from]);
    if (within(last, from, to)) ends.push([range, last - from]);
  });
  return { length: to - from, begins, ends, marks: bucketMarks(operations.slice(from, to)) };
}

/** Profile of a call whose ranges take these bytes. */
export function profileOf({ length, begins, ends, marks }: MemoryShape, bytes: Float64Array): MemoryProfile {
  const allocated = new Float64Array(length);
  const freed = new Float64Array(length);
  for (const [range, at] of begins) allocated[at] = (allocated[at] ?? 0) + (bytes[range] as number);
  for (const [range, at] of ends) freed[at] = (freed[at] ?? 0) + (bytes[range] as number);
  return walk(allocated, freed, marks);
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
