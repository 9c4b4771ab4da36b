/** @file What the operations of one list need of each other, derived in list order.
 *
 * An operation needs the end of the one before it in its queue, of the last writer of what it reads, of the last writer
 * and all readers since of what it writes, and of the lines that it names. Ends in a queue never go back, so of all needs
 * in one queue only the latest is kept: at most one for each queue.
 */
import { type Replay, readCount } from '../program/index.ts';
import { HOST_QUEUE, type Queues, queuesOf } from './lanes.ts';

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
  /** Queue, data, lines and, where `anchor` is an operation, the wait of the host before it. `line` is the place of its line. */
  readonly add: (index: number, line: number, anchor: number) => void;
  /** Marks and lifetimes: only their place on the host. */
  readonly addMark: (index: number, anchor: number) => void;
}

/** Operations are numbered from `base`. */
export function createNeedCollector(replay: Replay, base: number, rows: NeedRows): NeedCollector {
  const { sampleOf, needs, needFirst } = replay;
  const queues = queuesOf(replay);
  const latest = createLatest(replay, queues, base);
  const dataNeeds = createDataNeeds(replay, queues, (earlier) => latest.consider(base + earlier, NEEDS_DATA));
  const before = new Int32Array(queues.count).fill(-1);
  return {
    add: (index, line, anchor) => {
      const at = base + index;
      const queue = queues.of[sampleOf[index] as number] as number;
      if (queue !== HOST_QUEUE) {
        latest.consider(before[queue] as number, NEEDS_LANE);
        before[queue] = at;
      }
      dataNeeds(index);
      for (let need = needFirst[line] as number; need < (needFirst[line + 1] as number); need++) {
        latest.consider(base + (needs[need] as number), NEEDS_LINE);
      }
      latest.consider(anchor, NEEDS_HOST);
      latest.flush(at, rows);
    },
    addMark: (index, anchor) => {
      latest.consider(anchor, NEEDS_HOST);
      latest.flush(base + index, rows);
    },
  };
}

/** Says what the data of an operation need, some of it more than once; has to be asked in list order.
 *
 * Of each memory it keeps the last writer (which itself waits for the one before) and the last readers since, one for
 * each queue, as a chain of cells.
 */
function createDataNeeds(replay: Replay, queues: Queues, need: (earlier: number) => void): (index: number) => void {
  const { sampleOf, operands, operandFirst, memories } = replay;
  const reads = Uint8Array.from(replay.samples, readCount);
  const writers = new Int32Array(memories).fill(-1);
  const readers = new Int32Array(memories).fill(-1);
  const reader: number[] = [];
  const following: number[] = [];
  let free = -1;
  const isRead = (memory: number, index: number, queue: number): void => {
    for (let cell = readers[memory] as number; cell >= 0; cell = following[cell] as number) {
      if (queues.of[sampleOf[reader[cell] as number] as number] !== queue) continue;
      reader[cell] = index;
      return;
    }
    const cell = free < 0 ? reader.length : free;
    if (cell === free) free = following[free] as number;
    reader[cell] = index;
    following[cell] = readers[memory] as number;
    readers[memory] = cell;
  };
  const isWritten = (memory: number, index: number): void => {
    writers[memory] = index;
    for (let cell = readers[memory] as number; cell >= 0; ) {
      const next = following[cell] as number;
      following[cell] = free;
      free = cell;
      cell = next;
    }
    readers[memory] = -1;
  };
  return (index) => {
    const sample = sampleOf[index] as number;
    const queue = queues.of[sample] as number;
    const from = operandFirst[index] as number;
    const to = operandFirst[index + 1] as number;
    const written = from + (reads[sample] as number);
    for (let at = from; at < to; at++) {
      const memory = operands[at] as number;
      const writer = writers[memory] as number;
      if (writer >= 0) need(writer);
      if (at < written) continue;
      for (let cell = readers[memory] as number; cell >= 0; cell = following[cell] as number)
        need(reader[cell] as number);
    }
    for (let at = from; at < written; at++) isRead(operands[at] as number, index, queue);
    for (let at = written; at < to; at++) isWritten(operands[at] as number, index);
  };
}

/** The latest need in each queue of the operation at hand. */
interface Latest {
  /** -1 is none. */
  readonly consider: (earlier: number, cause: number) => void;
  /** Writes the needs of operation `at`, in the order of queues, and starts anew. */
  readonly flush: (at: number, rows: NeedRows) => void;
}

function createLatest({ sampleOf }: Replay, queues: Queues, base: number): Latest {
  const latest = new Int32Array(queues.count).fill(-1);
  const causes = new Uint8Array(queues.count);
  const touched = new Uint8Array(queues.count);
  let count = 0;
  return {
    consider: (earlier, cause) => {
      if (earlier < 0) return;
      const queue = queues.of[sampleOf[earlier - base] as number] as number;
      const known = latest[queue] as number;
      if (earlier <= known) return;
      if (known < 0) {
        // Few queues at a time: kept in order as they come.
        let place = count++;
        for (; place > 0 && (touched[place - 1] as number) > queue; place--)
          touched[place] = touched[place - 1] as number;
        touched[place] = queue;
      }
      latest[queue] = earlier;
      causes[queue] = cause;
    },
    flush: (at, rows) => {
      if (rows.length + count > rows.of.length) growRows(rows);
      for (let place = 0; place < count; place++) {
        const queue = touched[place] as number;
        rows.of[rows.length] = latest[queue] as number;
        rows.cause[rows.length] = causes[queue] as number;
        rows.length += 1;
        latest[queue] = -1;
      }
      count = 0;
      rows.first[at + 1] = rows.length;
    },
  };
}

function growRows(rows: NeedRows): void {
  const of = new Uint32Array(2 * rows.of.length + 256);
  const cause = new Uint8Array(of.length);
  of.set(rows.of);
  cause.set(rows.cause);
  rows.of = of;
  rows.cause = cause;
}
