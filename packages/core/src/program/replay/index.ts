/** @file One rank list as numbers: its templates replayed as typed arrays, without an object or a name for each operation.
 *
 * Operations of a template in one block do the same for every micro-batch, and so do lines that differ in the micro-batch
 * only. Of each such kind there is one sample, written out; an operation is the number of its sample and the numbers of
 * the memory that it touches. Millions of operations are priced, ordered and placed from these.
 */
import { assertInvariant } from '../../errors/index.ts';
import type { ExpandedOperation, WrittenList } from '../expanded-operation.ts';
import { storagesOf } from '../storage.ts';
import type { Call, Program, RankList, Template } from '../types.ts';
import { createBook } from './book.ts';
import { createEnds, createRows } from './rows.ts';
import type { Replay } from './types.ts';

/** How many of the operands of an operation are read. */
export const readCount = ({ reads }: ExpandedOperation): number => {
  let count = 0;
  for (const read of reads) if (read !== undefined) count += 1;
  return count;
};

/** Replays a list of a program. Throws an internal error for names without a declaration, as `expandList` does. */
export function replayList(program: Program, list: RankList): Replay {
  const book = createBook(program, list);
  const templates = new Map(program.templates.map((template) => [template.name, template]));
  const templateOf = (name: string): Template => {
    const template = templates.get(name);
    assertInvariant(template !== undefined, () => `no template ${name}`);
    return template;
  };
  let length = 0;
  for (const item of list.items) {
    length += item.kind === 'call' ? blockCount(item) * templateOf(item.template).operations.length : 1;
  }
  const rows = createRows(list, length);
  const ends = createEnds(list, rows);
  for (const [line, item] of list.items.entries()) {
    ends.needs(line, item.id, item.needs);
    if (item.kind === 'operation') rows.line(book.lineOf(item, rows.at()));
    else {
      const template = templateOf(item.template);
      const step = item.last < item.first ? -1 : 1;
      for (let block = item.first; block !== item.last + step; block += step) {
        rows.block(book.blockOf(template, block, item, rows.at()), item, book.memories);
      }
    }
    ends.ended(line, item.id);
  }
  const owners = lazily(() => book.memories.owners());
  const { samples, blocks, memories } = book;
  return { ...rows.finish(), samples, blockOf: Uint32Array.from(blocks), memories: memories.count(), owners };
}

const blockCount = ({ first, last }: Call): number => Math.abs(last - first) + 1;

function lazily<Value>(make: () => Value): () => Value {
  let made: Value | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

/** The replay of a list whose operations are written out already, and perhaps changed: each is its own sample. */
export function replayOperations(expanded: WrittenList): Replay {
  const { list, operations } = expanded;
  const { owners, numberOf } = storagesOf(expanded);
  const operands: number[] = [];
  const needs: number[] = [];
  const operandFirst = new Uint32Array(operations.length + 1);
  const needFirst = new Uint32Array(operations.length + 1);
  operations.forEach(({ reads, writes, needs: own }, index) => {
    for (const read of reads) if (read) operands.push(numberOf(read.instance));
    for (const { operand } of writes) operands.push(numberOf(operand.instance));
    needs.push(...own);
    operandFirst[index + 1] = operands.length;
    needFirst[index + 1] = needs.length;
  });
  const count = Uint32Array.from({ length: operations.length + 1 }, (_, index) => index);
  return {
    list,
    length: operations.length,
    samples: operations,
    blockOf: count.subarray(0, operations.length),
    sampleOf: count.subarray(0, operations.length),
    operands: Uint32Array.from(operands),
    operandFirst,
    memories: owners.length,
    owners: () => ({
      slots: owners.map(({ name, declaration }, first) => ({
        index: first,
        text: name,
        owner: declaration,
        first,
        further: new Map(),
      })),
      slotOf: Uint32Array.from(owners, (_, index) => index),
      instanceOf: (memory) => owners[memory] as (typeof owners)[number],
    }),
    lineFirst: count,
    needs: Uint32Array.from(needs),
    needFirst,
  };
}

export { parted as tagOfInstance } from './memories.ts';
export type { Owners, Replay, Slot } from './types.ts';
