/** @file What an operation waits for within its rank: its data (read after write, write after read, write after write),
 * by the memory that buffers lie in, and its `needs`. The lane itself is not among it. Lanes are in order, so one
 * operation of each lane, the latest, stands for all before it.
 */
import type { ExpandedList, Operand } from './expand.ts';
import { storagesOf } from './storage.ts';
import type { Operation } from './types.ts';

/** Earlier operations whose end each operation waits for: those of operation i stand in `targets` from `starts[i]` on. */
export interface Dependencies {
  readonly starts: Uint32Array;
  readonly targets: Uint32Array;
}

/** The in-order queue that an operation stands in: its lane, and for sends and receives one for each peer. */
export const queueOf = (operation: Operation): string =>
  operation.kind === 'send' || operation.kind === 'recv' ? `${operation.lane} ${operation.peer}` : operation.lane;

/** Derives what each operation of a list waits for. Linear in operations and operands. */
export function dependenciesOf(expanded: ExpandedList): Dependencies {
  const storages = storagesOf(expanded);
  const queues = new Map<string, number>();
  const memories: Memory[] = [];
  const starts = new Uint32Array(expanded.operations.length + 1);
  const targets: number[] = [];
  const memoryOf = ({ instance }: Operand): Memory => {
    const number = storages.numberOf(instance);
    const known = memories[number];
    if (known) return known;
    const created: Memory = { writer: undefined, readers: [] };
    memories[number] = created;
    return created;
  };
  for (const { index, operation, reads, writes, needs } of expanded.operations) {
    const name = queueOf(operation);
    const queue = queues.get(name) ?? queues.size;
    queues.set(name, queue);
    const waits = new Set(needs);
    for (const read of reads) if (read) waitFor(memoryOf(read).writer, waits);
    for (const { operand } of writes) {
      const { writer, readers } = memoryOf(operand);
      waitFor(writer, waits);
      for (const reader of readers) waitFor(reader, waits);
    }
    for (const read of reads) if (read) memoryOf(read).readers[queue] = index;
    for (const { operand } of writes) {
      const memory = memoryOf(operand);
      memory.writer = index;
      memory.readers = [];
    }
    for (const wait of waits) targets.push(wait);
    starts[index + 1] = targets.length;
  }
  return { starts, targets: Uint32Array.from(targets) };
}

/** The last writer (which itself waits for the one before) and, by queue, the last readers since then. */
interface Memory {
  writer: number | undefined;
  readers: (number | undefined)[];
}

function waitFor(index: number | undefined, waits: Set<number>): void {
  if (index !== undefined) waits.add(index);
}
