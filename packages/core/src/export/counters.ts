/** @file Values over time: bytes alive on a rank, and how fast it sends along each axis. */
import {
  bookedAxis,
  degreesOf,
  type ExpandedList,
  type Instance,
  type LiveRange,
  lifetimesOf,
  type Program,
  sentBytes,
  storagesOf,
} from '../program/index.ts';
import { type OperationTimes, type TracedRank, type TracedStep, timesOf } from './traced.ts';

/** A value that holds from `time[i]` (nanoseconds) until the next one. Times grow strictly. */
export interface Counter {
  readonly name: string;
  readonly unit: 'bytes' | 'bytes per second';
  readonly time: readonly number[];
  readonly value: readonly number[];
}

/** The counters of a rank: memory first, then links. Ranks that are timed alike share them. */
export function countersOf(step: TracedStep): (rank: TracedRank) => readonly Counter[] {
  const times = timesOf(step);
  const known = new Map<number, readonly Counter[]>();
  return ({ timedAs, list }) => {
    const found = known.get(timedAs);
    if (found !== undefined) return found;
    const expanded = step.lists[list];
    const time = times.get(timedAs);
    const counters =
      expanded === undefined || time === undefined
        ? []
        : [memoryCounter(step.program, expanded, time), ...linkCounters(step.program, expanded, time)];
    known.set(timedAs, counters);
    return counters;
  };
}

/** Bytes alive: a buffer from the start of its first writer to the last end of all that touch it; residents throughout.
 *
 * List order decides what lives together (lifetimes); this says when. So the highest value may differ a little from the
 * peak of the ledger, where lanes run ahead of each other. */
function memoryCounter(program: Program, list: ExpandedList, times: OperationTimes): Counter {
  const { ranges, residentBytes } = lifetimesOf(list, degreesOf(program));
  const ends = lastEnds(list, ranges, times);
  const changes = ranges.flatMap(({ first, bytes }, index): [number, number][] => [
    [times.start[first] as number, bytes],
    [ends[index] as number, -bytes],
  ]);
  return { name: 'memory', unit: 'bytes', ...added(changes, residentBytes) };
}

/** For each lifetime the last end of the operations that touch it. */
function lastEnds(list: ExpandedList, ranges: readonly LiveRange[], { end }: OperationTimes): Float64Array {
  const ends = new Float64Array(ranges.length);
  const lifetimes = lifetimesByInstance(list, ranges);
  const touch = (instance: Instance, at: number): void => {
    const found = lifetimes(instance);
    if (found === undefined) return;
    while ((ranges[found.numbers[found.next] as number]?.last ?? at) < at) found.next++;
    const range = found.numbers[found.next];
    if (range !== undefined) ends[range] = Math.max(ends[range] as number, end[at] as number);
  };
  for (const { index, reads, writes } of list.operations) {
    for (const read of reads) if (read) touch(read.instance, index);
    for (const { operand } of writes) touch(operand.instance, index);
  }
  return ends;
}

/** Lifetimes of one memory in order, and the first of them that has not ended. */
interface Lifetimes {
  readonly numbers: number[];
  next: number;
}

/** Finds the lifetimes of the memory that an instance lies in: its own, or for a shard in place those of its buffer. */
function lifetimesByInstance(
  list: ExpandedList,
  ranges: readonly LiveRange[],
): (instance: Instance) => Lifetimes | undefined {
  const own = new Map<Instance, Lifetimes>();
  const byName = new Map<string, Lifetimes>();
  for (const [number, { instance }] of ranges.entries()) {
    const known = own.get(instance);
    if (known !== undefined) known.numbers.push(number);
    else own.set(instance, { numbers: [number], next: 0 });
  }
  const { owners, numberOf } = storagesOf(list);
  for (const [instance, lifetimes] of own) byName.set(instance.name, lifetimes);
  return (instance) =>
    instance.declaration.shardOf === undefined
      ? own.get(instance)
      : byName.get(owners[numberOf(instance)]?.name ?? instance.name);
}

/** Bytes per second that a rank sends, by the axis that exchanges are booked on. */
function linkCounters(program: Program, list: ExpandedList, times: OperationTimes): readonly Counter[] {
  const degrees = degreesOf(program);
  const changes = new Map<string, [number, number][]>();
  for (const expanded of list.operations) {
    const { operation, index } = expanded;
    if (operation.kind !== 'send' && operation.kind !== 'collective') continue;
    const start = times.start[index] as number;
    const end = times.end[index] as number;
    if (end <= start) continue;
    const axis = operation.kind === 'send' ? 'pipeline' : bookedAxis(program, operation.axis);
    const known = changes.get(axis) ?? [];
    changes.set(axis, known);
    const rate = Math.round((sentBytes(expanded, degrees) / (end - start)) * 1e9);
    known.push([start, rate], [end, -rate]);
  }
  return [...changes].map(([axis, each]) => ({ name: axis, unit: 'bytes per second', ...added(each, 0) }));
}

/** Running sum of changes, one value for each time at which it changes; it begins at time 0. */
function added(changes: [number, number][], initial: number): Pick<Counter, 'time' | 'value'> {
  changes.sort(([one], [other]) => one - other);
  const time = [0];
  const value = [initial];
  let sum = initial;
  for (const [at, change] of changes) {
    sum += change;
    if (time.at(-1) === at) value[value.length - 1] = sum;
    else {
      time.push(at);
      value.push(sum);
    }
  }
  return { time, value };
}
