/** @file Memory of each rank list, read from lifetimes: what is resident, the peak, and what is alive at the peak. */
import {
  aliveAt,
  degreesOf,
  type ExpandedList,
  expandList,
  type Lifetimes,
  lifetimesOf,
  type Program,
  peakOf,
  type Role,
  replayOf,
} from '../program/index.ts';
import type { Degrees } from '../tensor/index.ts';

/** Parts of memory as people speak of them. */
export type MemoryPart = 'weights' | 'gradients' | 'optimizer' | 'activations' | 'logits' | 'buffers';

/** Bytes of each part. */
export type MemoryParts = Readonly<Record<MemoryPart, number>>;

/** One buffer that is alive at the peak. */
export interface AliveBuffer {
  /** Name of the instance: `n1[2,0]`. */
  readonly instance: string;
  readonly role: Role;
  readonly bytes: number;
}

/** Memory of one rank of a list, in bytes. */
export interface ListMemory {
  readonly list: string;
  readonly pipeline: number;
  /** Live throughout: weights, optimizer state, and what the framework preallocates. */
  readonly residentBytes: number;
  readonly peakBytes: number;
  /** The operation, in the order of the list, at which the peak is first reached. */
  readonly peakIndex: number;
  /** At the peak; sums to `peakBytes`. */
  readonly parts: MemoryParts;
  /** At the peak, largest first. */
  readonly alive: readonly AliveBuffer[];
}

/** Memory of all lists of a program, and the list with the largest peak. */
export interface ProgramMemory {
  readonly lists: readonly ListMemory[];
  readonly largest: ListMemory | undefined;
}

const partOf: Readonly<Record<Role, MemoryPart>> = {
  weight: 'weights',
  gradient: 'gradients',
  optimizer: 'optimizer',
  activation: 'activations',
  logits: 'logits',
  exchange: 'buffers',
  scratch: 'buffers',
  input: 'buffers',
};

/** Memory per list of `program`. `lists` may be given where they are expanded already. */
export function memoryOf(
  program: Program,
  lists: readonly ExpandedList[] = program.lists.map((list) => expandList(program, list)),
): ProgramMemory {
  const degrees = degreesOf(program);
  const memories = lists.map((list) => memoryOfList(list, lifetimesOf(list, degrees)));
  const largest = memories.reduce<ListMemory | undefined>(
    (best, each) => (best === undefined || each.peakBytes > best.peakBytes ? each : best),
    undefined,
  );
  return { lists: memories, largest };
}

/** What is alive at the peak of a list, by part; the same as {@link memoryOf} says, without a name for each buffer. */
export function peakParts(expanded: ExpandedList, degrees: Degrees): MemoryParts {
  const parts = noBytes();
  for (const [role, bytes] of peakOf(replayOf(expanded), degrees).byRole) parts[partOf[role]] += bytes;
  return parts;
}

/** Memory of one list from its lifetimes. */
export function memoryOfList({ list }: ExpandedList, lifetimes: Lifetimes): ListMemory {
  const { residentBytes, peakBytes, peakIndex } = lifetimes;
  const alive = aliveAt(lifetimes, peakIndex)
    .map(({ instance, bytes }) => ({ instance: instance.name, role: instance.declaration.role, bytes }))
    .sort((left, right) => right.bytes - left.bytes);
  const parts = noBytes();
  for (const { role, bytes } of alive) parts[partOf[role]] += bytes;
  return { list: list.name, pipeline: list.pipeline, residentBytes, peakBytes, peakIndex, parts, alive };
}

const noBytes = (): Record<MemoryPart, number> => ({
  weights: 0,
  gradients: 0,
  optimizer: 0,
  activations: 0,
  logits: 0,
  buffers: 0,
});
