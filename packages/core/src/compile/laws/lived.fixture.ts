/** @file Lists of a program with the lifetimes of their buffers, and what the laws ask of them. */
import {
  degreesOf,
  type ExpandedList,
  expandList,
  type Lifetimes,
  type LiveRange,
  lifetimesOf,
  type Program,
} from '../../program/index.ts';
import type { StateBytes } from './index.ts';

/** One list, written out, with its lifetimes. */
export interface Lived {
  readonly list: ExpandedList;
  readonly lifetimes: Lifetimes;
}

export const livedLists = (program: Program): readonly Lived[] =>
  program.lists.map((each) => {
    const list = expandList(program, each);
    return { list, lifetimes: lifetimesOf(list, degreesOf(program)) };
  });

export const bytesIn = (ranges: readonly LiveRange[]): number => ranges.reduce((sum, { bytes }) => sum + bytes, 0);

/** Resident bytes of buckets; scalars are resident too and belong to no bucket. */
export function stateOf({ lifetimes }: Lived): StateBytes {
  const bytes = (role: string): number =>
    bytesIn(
      lifetimes.residents.filter(
        ({ instance: { declaration } }) => declaration.role === role && declaration.bucket !== undefined,
      ),
    );
  return { weights: bytes('weight'), gradients: bytes('gradient'), optimizer: bytes('optimizer') };
}

/** What is still needed of one layer and micro-batch when its forward has ended: its own buffers and its input. */
export function keptBy({ list, lifetimes }: Lived, layer: number, microBatch: number): readonly LiveRange[] {
  const end = list.operations.findLastIndex(
    (each) => each.block === layer && each.microBatch === microBatch && !each.again && isForward(list, each.item),
  );
  const own = new Set([`[${layer},${microBatch}]`, `x${layer}[${microBatch}]`]);
  const isOwn = (name: string): boolean => own.has(name) || own.has(name.slice(name.indexOf('[')));
  return lifetimes.ranges.filter(({ instance, first, last }) => first <= end && last > end && isOwn(instance.name));
}

function isForward({ list }: ExpandedList, line: number): boolean {
  const item = list.items[line - 1];
  return item?.kind === 'call' && item.template.startsWith('F.');
}

/** What the activation laws leave out by name: statistics of norms and attention, and what a router chose. */
export const isStatistic = ({ instance }: LiveRange): boolean => /^(st\d|lse|rw|ri)\[/.test(instance.name);

/** The largest number of buffers of one declaration, named like one of `names`, that are alive together. */
export function mostAlive({ lifetimes }: Lived, declared: string, ...names: readonly string[]): number {
  const changes = new Int32Array(lifetimes.live.length + 1);
  for (const { instance, first, last } of lifetimes.ranges) {
    if (instance.declaration.name !== declared || !names.some((name) => instance.name.includes(name))) continue;
    changes[first] = (changes[first] ?? 0) + 1;
    changes[last + 1] = (changes[last + 1] ?? 0) - 1;
  }
  let alive = 0;
  return changes.reduce((most, change) => {
    alive += change;
    return Math.max(most, alive);
  }, 0);
}
