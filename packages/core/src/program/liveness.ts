/** @file Lifetimes of buffers, derived in the order of the list: allocated at the line of the first writer (an input: of
 * the first reader), released after the line of the last reader. Nothing here depends on durations.
 *
 * A write of a whole buffer that adds nothing, by an operation that does not read the buffer, starts a new lifetime.
 * Resident buffers live throughout. A shard in place is its buffer: it takes no bytes and keeps the buffer alive.
 */
import type { Degrees } from '../tensor/index.ts';
import type { ExpandedList, ExpandedOperation, ExpandedWrite, Instance, Operand } from './expand.ts';
import { bufferBytes } from './shapes.ts';
import { type Storages, storagesOf } from './storage.ts';

/** One lifetime of a buffer; `first` and `last` are indices of operations, both inside. */
export interface LiveRange {
  readonly instance: Instance;
  readonly first: number;
  readonly last: number;
  readonly bytes: number;
}

export interface Lifetimes {
  /** In order of `first`; buffers that live throughout are in `residents` instead. */
  readonly ranges: readonly LiveRange[];
  readonly residents: readonly LiveRange[];
  readonly residentBytes: number;
  /** Bytes alive while operation i runs, residents included. */
  readonly live: Float64Array;
  readonly peakBytes: number;
  /** The first operation at which the peak is reached. */
  readonly peakIndex: number;
  /** Whether write `write` of operation `index` adds to nothing, so that it overwrites. */
  readonly overwrites: (index: number, write: number) => boolean;
}

/** Lifetimes of all buffers of one list, live bytes at each operation, and the peak. */
export function lifetimesOf(expanded: ExpandedList, degrees: Degrees): Lifetimes {
  const { operations } = expanded;
  const tracker = createTracker(expanded, degrees);
  const starts = new Uint32Array(operations.length + 1);
  const overwriting: number[] = [];
  for (const operation of operations) {
    for (const read of operation.reads) if (read) tracker.touch(read.instance, operation.index);
    for (const write of operation.writes) overwriting.push(tracker.write(operation, write) ? 1 : 0);
    starts[operation.index + 1] = overwriting.length;
  }
  const { ranges, residents } = tracker.finish();
  const residentBytes = residents.reduce((sum, range) => sum + range.bytes, 0);
  const live = liveBytes(ranges, residentBytes, operations.length);
  const peakIndex = indexOfMaximum(live);
  return {
    ranges,
    residents,
    residentBytes,
    live,
    peakBytes: live[peakIndex] ?? residentBytes,
    peakIndex,
    overwrites: (index, write) => overwriting[(starts[index] ?? 0) + write] === 1,
  };
}

/** The same lifetimes with other bytes: those of rows that a run has counted. */
export function withBytes(
  lifetimes: Lifetimes,
  bytesOfInstance: (instance: Instance) => number | undefined,
): Lifetimes {
  const ranges = lifetimes.ranges.map((range) => ({ ...range, bytes: bytesOfInstance(range.instance) ?? range.bytes }));
  const live = liveBytes(ranges, lifetimes.residentBytes, lifetimes.live.length);
  const peakIndex = indexOfMaximum(live);
  return { ...lifetimes, ranges, live, peakIndex, peakBytes: live[peakIndex] ?? lifetimes.residentBytes };
}

/** What is alive while operation `index` runs, residents first. */
export const aliveAt = (lifetimes: Lifetimes, index: number): readonly LiveRange[] => [
  ...lifetimes.residents,
  ...lifetimes.ranges.filter((range) => range.first <= index && index <= range.last),
];

interface Tracker {
  readonly touch: (instance: Instance, index: number) => void;
  /** Whether the write overwrites. */
  readonly write: (operation: ExpandedOperation, write: ExpandedWrite) => boolean;
  readonly finish: () => Pick<Lifetimes, 'ranges' | 'residents'>;
}

/** The open lifetime of one memory, and what has been written of it so far: all, or some views, slices and shards. */
interface Open {
  readonly owner: Instance;
  readonly first: number;
  last: number;
  whole: boolean;
  parts: Set<object | string> | undefined;
}

function createTracker(expanded: ExpandedList, degrees: Degrees): Tracker {
  const storages = storagesOf(expanded);
  const open: (Open | undefined)[] = [];
  const closed: Open[] = [];
  const start = (number: number, owner: Instance, index: number): Open => {
    const created: Open = { owner, first: index, last: index, whole: false, parts: undefined };
    open[number] = created;
    closed.push(created);
    return created;
  };
  const extend = (instance: Instance, index: number): Open => {
    const number = storages.numberOf(instance);
    const known = open[number] ?? start(number, storages.owners[number] ?? instance, index);
    known.last = index;
    return known;
  };
  return {
    touch: (instance, index) => void extend(instance, index),
    write: (operation, { operand, accumulate }) => {
      const { instance } = operand;
      if (!accumulate && isWhole(operand) && !readsStorage(operation, instance, storages)) {
        const number = storages.numberOf(instance);
        start(number, storages.owners[number] ?? instance, operation.index).whole = true;
        return true;
      }
      return !addsTo(extend(instance, operation.index), operand, accumulate);
    },
    finish: () => ({
      ranges: closed.filter(({ owner }) => !owner.declaration.resident).map((each) => rangeOf(each, degrees)),
      residents: residentInstances(expanded, storages).map((instance) => ({
        instance,
        first: 0,
        last: expanded.operations.length - 1,
        bytes: instanceBytes(instance, degrees),
      })),
    }),
  };
}

/** Whether an accumulating write finds what it adds to; notes what is written. */
function addsTo(range: Open, operand: Operand, accumulate: boolean): boolean {
  if (isWhole(operand)) {
    const adds = accumulate && range.whole;
    range.whole = true;
    return adds;
  }
  const part = operand.view ?? operand.slice ?? operand.instance;
  range.parts ??= new Set();
  const adds = accumulate && (range.whole || range.parts.has(part));
  range.parts.add(part);
  return adds;
}

const isWhole = ({ instance, view, slice }: Operand): boolean =>
  view === undefined && slice === undefined && instance.declaration.shardOf === undefined;

const readsStorage = ({ reads }: ExpandedOperation, instance: Instance, storages: Storages): boolean =>
  reads.some((read) => read !== undefined && storages.numberOf(read.instance) === storages.numberOf(instance));

const rangeOf = ({ owner, first, last }: Open, degrees: Degrees): LiveRange => ({
  instance: owner,
  first,
  last,
  bytes: instanceBytes(owner, degrees),
});

const instanceBytes = (instance: Instance, degrees: Degrees): number =>
  bufferBytes({ instance, dims: instance.declaration.dims }, degrees);

/** Resident buffers that the list declares, touched or not, and resident ones of the program that it touches. */
function residentInstances(expanded: ExpandedList, storages: Storages): readonly Instance[] {
  const owners = storages.owners.filter(({ declaration }) => declaration.resident);
  const touched = new Set(owners.map(({ name }) => name));
  const untouched = expanded.list.buffers
    .filter(({ name, resident, shardOf }) => resident && shardOf === undefined && !touched.has(name))
    .map((declaration) => ({ name: declaration.name, declaration }));
  return [...owners, ...untouched];
}

function liveBytes(ranges: readonly LiveRange[], residentBytes: number, length: number): Float64Array {
  const live = new Float64Array(length + 1);
  for (const { first, last, bytes } of ranges) {
    live[first] = (live[first] ?? 0) + bytes;
    live[last + 1] = (live[last + 1] ?? 0) - bytes;
  }
  let sum = residentBytes;
  for (let index = 0; index < length; index++) {
    sum += live[index] ?? 0;
    live[index] = sum;
  }
  return live.subarray(0, length);
}

function indexOfMaximum(values: Float64Array): number {
  let best = 0;
  for (let index = 1; index < values.length; index++) {
    if ((values[index] ?? 0) > (values[best] ?? 0)) best = index;
  }
  return best;
}
