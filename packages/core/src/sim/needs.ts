/** @file What the operations of one list need of each other, derived in list order.
 *
 * An operation needs the end of the one before it in its queue, of the last writer of what it reads, of the last writer
 * and all readers since of what it writes, and of the lines that it names. Ends in a queue never go back, so of all needs
 * in one queue only the latest is kept: at most one for each queue.
 */
import { createDataNeeds, type ExpandedList, type ExpandedOperation, type Queues } from '../program/index.ts';
import { HOST_QUEUE, queuesOf } from './lanes.ts';

/** Why an operation needs another, as a small number. */
export const NEEDS_LANE = 0;
export const NEEDS_DATA = 1;
const NEEDS_LINE = 2;
/** It is issued after the host has waited for that one. */
export const NEEDS_HOST = 3;

/** Needs of all operations, in order; grows as it is filled. */
export interface NeedRows {
  /** Index of the first need of each operation; one more entry at the end. */
  readonly first: Uint32Array;
  of: Uint32Array;
  cause: Uint8Array;
  length: number;
}

export const createNeedRows = (operations: number): NeedRows => ({
  first: new Uint32Array(operations + 1),
  of: new Uint32Array(4 * operations + 64),
  cause: new Uint8Array(4 * operations + 64),
  length: 0,
});

/** Collects the needs of one list, operation by operation in list order. */
export interface NeedCollector {
  /** Queue, data, lines and, where `anchor` is an operation, the wait of the host before it. */
  readonly add: (operation: ExpandedOperation, anchor: number) => void;
  /** Marks and lifetimes: only their place on the host. */
  readonly addMark: (operation: ExpandedOperation, anchor: number) => void;
}

/** Operations are numbered from `base`. */
export function createNeedCollector(expanded: ExpandedList, base: number, rows: NeedRows): NeedCollector {
  const queues = queuesOf(expanded);
  const latest = createLatest(queues, base);
  const dataNeeds = createDataNeeds(expanded, queues);
  const before = new Int32Array(queues.count).fill(-1);
  return {
    add: (operation, anchor) => {
      const at = base + operation.index;
      const queue = queues.of[operation.index] as number;
      if (queue !== HOST_QUEUE) {
        latest.consider(before[queue] as number, NEEDS_LANE);
        before[queue] = at;
      }
      dataNeeds(operation, (earlier) => latest.consider(base + earlier, NEEDS_DATA));
      for (const need of operation.needs) latest.consider(base + need, NEEDS_LINE);
      latest.consider(anchor, NEEDS_HOST);
      latest.flush(at, rows);
    },
    addMark: (operation, anchor) => {
      latest.consider(anchor, NEEDS_HOST);
      latest.flush(base + operation.index, rows);
    },
  };
}

/** The latest need in each queue of the operation at hand. */
interface Latest {
  /** -1 is none. */
  readonly consider: (earlier: number, cause: number) => void;
  /** Writes the needs of operation `at` and starts anew. */
  readonly flush: (at: number, rows: NeedRows) => void;
}

function createLatest(queues: Queues, base: number): Latest {
  const latest = new Int32Array(queues.count).fill(-1);
  const causes = new Uint8Array(queues.count);
  return {
    consider: (earlier, cause) => {
      if (earlier < 0) return;
      const queue = queues.of[earlier - base] as number;
      if (earlier <= (latest[queue] as number)) return;
      latest[queue] = earlier;
      causes[queue] = cause;
    },
    flush: (at, rows) => {
      if (rows.length + queues.count > rows.of.length) growRows(rows);
      for (let queue = 0; queue < queues.count; queue++) {
        const earlier = latest[queue] as number;
        if (earlier < 0) continue;
        rows.of[rows.length] = earlier;
        rows.cause[rows.length] = causes[queue] as number;
        rows.length += 1;
        latest[queue] = -1;
      }
      rows.first[at + 1] = rows.length;
    },
  };
}

function growRows(rows: NeedRows): void {
  const of = new Uint32Array(2 * rows.of.length);
  const cause = new Uint8Array(2 * rows.of.length);
  of.set(rows.of);
  cause.set(rows.cause);
  rows.of = of;
  rows.cause = cause;
}
