/** @file What an operation waits for within its rank: its data (read after write, write after read, write after write),
 * by the memory that buffers lie in, and its `needs`. The lane itself is not among it. Lanes are in order, so one
 * operation of each lane, the latest, stands for all before it.
 */
import type { ExpandedList, ExpandedOperation } from './expand.ts';
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

/** What is issued next waits for the end of a wait and of work of the host. */
export const holdsHost = ({ kind }: Operation): boolean => kind === 'wait' || kind === 'host';

/** Derives what each operation of a list waits for. Linear in operations and operands. */
export function dependenciesOf(expanded: ExpandedList): Dependencies {
  const dataNeeds = createDataNeeds(expanded, numberQueues(expanded));
  const starts = new Uint32Array(expanded.operations.length + 1);
  const targets: number[] = [];
  for (const operation of expanded.operations) {
    const waits = new Set(operation.needs);
    dataNeeds(operation, (earlier) => waits.add(earlier));
    for (const wait of waits) targets.push(wait);
    starts[operation.index + 1] = targets.length;
  }
  return { starts, targets: Uint32Array.from(targets) };
}

/** The in-order queues of a list as numbers from 0. */
export interface Queues {
  readonly count: number;
  /** By index of operation. */
  readonly of: ArrayLike<number>;
}

/** Calls `need` with the earlier operations whose end the data of `operation` need, some of them more than once. */
export type DataNeeds = (operation: ExpandedOperation, need: (earlier: number) => void) => void;

/** Data needs of one list; has to be asked for its operations in list order.
 *
 * Of each memory it keeps the last writer (which itself waits for the one before) and, by queue, the last readers since.
 */
export function createDataNeeds(expanded: ExpandedList, { count, of }: Queues): DataNeeds {
  const { numberOf } = storagesOf(expanded);
  const memories = expanded.instances.size + expanded.list.buffers.length;
  const writers = new Int32Array(memories).fill(-1);
  const readers = new Int32Array(memories * count).fill(-1);
  return ({ index, reads, writes }, need) => {
    const consider = (earlier: number): void => {
      if (earlier >= 0) need(earlier);
    };
    const queue = of[index] as number;
    for (const read of reads) if (read) consider(writers[numberOf(read.instance)] as number);
    for (const { operand } of writes) {
      const memory = numberOf(operand.instance);
      consider(writers[memory] as number);
      for (let at = memory * count; at < (memory + 1) * count; at++) consider(readers[at] as number);
    }
    for (const read of reads) if (read) readers[numberOf(read.instance) * count + queue] = index;
    for (const { operand } of writes) {
      const memory = numberOf(operand.instance);
      writers[memory] = index;
      readers.fill(-1, memory * count, (memory + 1) * count);
    }
  };
}

function numberQueues({ operations }: ExpandedList): Queues {
  const numbers = new Map<string, number>();
  const of = operations.map(({ operation }) => {
    const name = queueOf(operation);
    const number = numbers.get(name) ?? numbers.size;
    numbers.set(name, number);
    return number;
  });
  return { count: numbers.size, of };
}
