import { describe, expect, it } from 'vitest';
import { dependenciesOf, queueOf } from './dependencies.ts';
import { type ExpandedList, expandList, type Operand } from './expand.ts';
import { toyProgram } from './fixtures/toy.fixture.ts';
import { storagesOf } from './storage.ts';

const program = toyProgram();
const lists = program.lists.map((list) => expandList(program, list));

/** By operation: all that end before it starts, over its dependencies and the order of its queue. */
function endedBefore(list: ExpandedList): readonly ReadonlySet<number>[] {
  const { starts, targets } = dependenciesOf(list);
  const last = new Map<string, number>();
  const before: Set<number>[] = [];
  for (const { index, operation } of list.operations) {
    const queue = queueOf(operation);
    const direct = [...targets.subarray(starts[index], starts[index + 1]), last.get(queue)];
    last.set(queue, index);
    before[index] = new Set(direct.flatMap((each) => (each === undefined ? [] : [each, ...(before[each] ?? [])])));
  }
  return before;
}

/** Pairs of operations that touch one memory, of which one writes it. */
function conflicts(list: ExpandedList): readonly (readonly [number, number])[] {
  const { numberOf } = storagesOf(list);
  const memories = (operands: readonly (Operand | undefined)[]): readonly number[] =>
    operands.flatMap((each) => (each ? [numberOf(each.instance)] : []));
  const touched = list.operations.map(({ reads, writes }) => ({
    reads: memories(reads),
    writes: memories(writes.map(({ operand }) => operand)),
  }));
  const meet = (one: readonly number[], other: readonly number[]): boolean => one.some((each) => other.includes(each));
  return touched.flatMap((later, at) =>
    touched.slice(0, at).flatMap((earlier, index) => {
      const clash = meet(earlier.writes, [...later.reads, ...later.writes]) || meet(earlier.reads, later.writes);
      return clash ? [[index, at] as const] : [];
    }),
  );
}

describe('dependencies of a list', () => {
  it.each(lists)('put all operations in order that touch one memory, unless both read it', (list) => {
    const before = endedBefore(list);
    const pairs = conflicts(list);
    expect(pairs.length).toBeGreaterThan(100);
    expect(pairs.filter(([earlier, later]) => !before[later]?.has(earlier))).toEqual([]);
  });

  it.each(lists)('name earlier operations that share a memory, or that the line needs, each once', (list) => {
    const { starts, targets } = dependenciesOf(list);
    const clash = new Set(conflicts(list).map(([earlier, later]) => `${earlier} ${later}`));
    for (const { index, needs } of list.operations) {
      const own = [...targets.subarray(starts[index], starts[index + 1])];
      expect(new Set(own).size).toBe(own.length);
      expect(own.filter((each) => !needs.includes(each) && !clash.has(`${each} ${index}`))).toEqual([]);
    }
  });
});
