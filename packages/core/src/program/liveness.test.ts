import { describe, expect, it } from 'vitest';
import { insertLifetimes } from './allocations.ts';
import { degreesOf, expandList } from './expand.ts';
import { toyProgram } from './fixtures/toy.fixture.ts';
import { aliveAt, lifetimesOf } from './liveness.ts';
import type { Program } from './types.ts';

const program = toyProgram();
const degrees = degreesOf(program);
const lists = program.lists.map((list) => expandList(program, list));
const lifetimes = lists.map((list) => lifetimesOf(list, degrees));

describe('lifetimes of the example program', () => {
  it('keep weights, gradients and optimizer state throughout: (6 + 12 / N) bytes a parameter', () => {
    expect(lifetimes.map((each) => each.residentBytes)).toEqual([6672, 6480]);
  });

  it('hold what a layer keeps for its backward: two micro-batches on the first stage, one on the last', () => {
    const count = (name: string): readonly number[] =>
      lifetimes.map(
        (each) => aliveAt(each, each.peakIndex).filter(({ instance }) => instance.declaration.name === name).length,
      );
    for (const name of ['qkv', 'n1', 'r']) expect(count(name)).toEqual([2, 1]);
  });

  it('allocate a received buffer at the line of its receive', () => {
    const operations = lists[1]?.operations ?? [];
    const range = lifetimes[1]?.ranges.find(({ instance }) => instance.name === 'x1[1]');
    expect(operations[range?.first ?? -1]?.operation.kind).toBe('recv');
  });

  it('tell which accumulating writes overwrite: the first of each parameter, and of the loss', () => {
    const [list] = lists;
    const seen = list?.operations.flatMap(({ index, microBatch, writes }) =>
      writes.flatMap(({ operand, accumulate }, write) =>
        accumulate ? [{ microBatch, name: operand.view?.name, over: lifetimes[0]?.overwrites(index, write) }] : [],
      ),
    );
    expect(seen?.length).toBe(2 * 14);
    for (const { microBatch, over } of seen ?? []) expect(over).toBe(microBatch === 0);
  });

  it('are a property of the list order: allocations minus releases give the live bytes', () => {
    for (const [index, list] of lists.entries()) {
      const written = insertLifetimes(list, lifetimes[index] ?? lifetimesOf(list, degrees));
      const alive = new Set<string>();
      for (const { operation, reads, writes } of written.operations) {
        if (operation.kind === 'alloc') alive.add(operation.writes[0]?.buffer ?? '');
        else if (operation.kind === 'free') expect(alive.delete(operation.reads[0] ?? '')).toBe(true);
        else {
          for (const operand of [...reads, ...writes.map((write) => write.operand)]) {
            if (operand && !operand.instance.declaration.resident) expect(alive).toContain(operand.instance.name);
          }
        }
      }
      expect(alive.size).toBe(0);
    }
  });
});

it('do not grow with the number of micro-batches', () => {
  const [list] = program.lists;
  if (list === undefined) throw new Error('no list');
  const times = (count: number) => expandList(program, { ...list, items: repeat(list.items, count) });
  expect(times(700).operations.length).toBeGreaterThan(50_000);
  expect(lifetimesOf(times(700), degrees).peakBytes).toBe(lifetimesOf(times(3), degrees).peakBytes);
});

/** The calls of a list over and over, with ever new micro-batches. */
const repeat = (items: Program['lists'][number]['items'], times: number) =>
  Array.from({ length: times }, (_, round) =>
    items.flatMap((item) => (item.kind === 'call' ? [{ ...item, microBatch: item.microBatch + 2 * round }] : [])),
  ).flat();
