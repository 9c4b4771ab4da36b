/** @file Lifetimes written out as operations: `alloc` before the first operation of a range, `free` after its last. */
import type { ExpandedList, ExpandedOperation, Instance } from './expand.ts';
import type { Lifetimes } from './liveness.ts';
import type { Alloc, Free } from './types.ts';

/** What is allocated before, and released after, each operation of a list; resident buffers are in neither. */
export interface Allocations {
  readonly before: readonly (readonly Instance[])[];
  readonly after: readonly (readonly Instance[])[];
}

/** Groups the ends of lifetimes by operation: an interpreter allocates and releases by these. */
export function allocationsOf(lifetimes: Lifetimes): Allocations {
  const before: Instance[][] = Array.from(lifetimes.live, () => []);
  const after: Instance[][] = Array.from(lifetimes.live, () => []);
  for (const { instance, first, last } of lifetimes.ranges) {
    before[first]?.push(instance);
    after[last]?.push(instance);
  }
  return { before, after };
}

/** The list with `alloc` and `free` operations between its own; indices and `needs` count the new ones. */
export function insertLifetimes(expanded: ExpandedList, lifetimes: Lifetimes): ExpandedList {
  const { before, after } = allocationsOf(lifetimes);
  const operations: ExpandedOperation[] = [];
  const moved: number[] = [];
  for (const operation of expanded.operations) {
    const { index, needs } = operation;
    for (const each of before[index] ?? [])
      operations.push(lifetimeOperation('alloc', each, operation, operations.length));
    moved.push(operations.length);
    operations.push({ ...operation, index: operations.length, needs: needs.map((need) => moved[need] ?? need) });
    for (const each of after[index] ?? [])
      operations.push(lifetimeOperation('free', each, operation, operations.length));
  }
  return { list: expanded.list, instances: expanded.instances, operations };
}

function lifetimeOperation(
  kind: 'alloc' | 'free',
  instance: Instance,
  cause: ExpandedOperation,
  index: number,
): ExpandedOperation {
  const buffer = instance.name;
  const base = { lane: 'host', why: { rule: 'lifetime' } } as const;
  const operation: Alloc | Free =
    kind === 'alloc'
      ? { kind, ...base, reads: [], writes: [{ buffer }] }
      : { kind, ...base, reads: [buffer], writes: [] };
  const operand = { instance, dims: instance.declaration.dims };
  return {
    ...cause,
    index,
    operation,
    reads: kind === 'free' ? [operand] : [],
    writes: kind === 'alloc' ? [{ operand, accumulate: false }] : [],
    needs: [],
  };
}
