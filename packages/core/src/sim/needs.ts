/** @file What the operations of one list need of each other, derived in list order.
 *
 * An operation needs the end of the one before it on its lane, of the last writer of what it reads, of the last writer
 * and all readers since of what it writes, and of the lines that it names. Ends on a lane never go back, so of all needs
 * on one lane only the latest is kept: at most one for each lane.
 */
import { type ExpandedList, type ExpandedOperation, type Storages, storagesOf } from '../program/index.ts';
import { HOST_LANE, laneNames } from './lanes.ts';

const LANES = laneNames.length;

/** Why an operation needs another, as a small number. */
export const NEEDS_LANE = 0;
export const NEEDS_DATA = 1;
export const NEEDS_LINE = 2;
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

/** Collects the needs of one list, whose operations are numbered from `base`. */
export interface NeedCollector {
  /** Whole operations: lane, data, lines and, where `anchor` is one, the wait of the host before it. */
  readonly add: (operation: ExpandedOperation, lane: number, anchor: number) => void;
  /** Marks and lifetimes: only their place on the host. */
  readonly addMark: (operation: ExpandedOperation, anchor: number) => void;
}

export function createNeedCollector(
  expanded: ExpandedList,
  base: number,
  lanes: Uint8Array,
  rows: NeedRows,
): NeedCollector {
  const storages = storagesOf(expanded);
  const access = createAccesses(expanded);
  const before = new Int32Array(LANES).fill(-1);
  const latest = new Int32Array(LANES).fill(-1);
  const causes = new Uint8Array(LANES);
  const consider = (earlier: number, cause: number): void => {
    if (earlier < 0) return;
    const lane = lanes[earlier] as number;
    if (earlier <= (latest[lane] as number)) return;
    latest[lane] = earlier;
    causes[lane] = cause;
  };
  const flush = (at: number): void => {
    if (rows.length + LANES > rows.of.length) growRows(rows);
    for (let lane = 0; lane < LANES; lane++) {
      const earlier = latest[lane] as number;
      if (earlier < 0) continue;
      rows.of[rows.length] = earlier;
      rows.cause[rows.length] = causes[lane] as number;
      rows.length += 1;
      latest[lane] = -1;
    }
    rows.first[at + 1] = rows.length;
  };
  return {
    add: (operation, lane, anchor) => {
      const at = base + operation.index;
      if (lane !== HOST_LANE) {
        consider(before[lane] as number, NEEDS_LANE);
        before[lane] = at;
      }
      considerData(operation, at, lane, storages, access, consider);
      for (const need of operation.needs) consider(base + need, NEEDS_LINE);
      consider(anchor, NEEDS_HOST);
      flush(at);
    },
    addMark: (operation, anchor) => {
      consider(anchor, NEEDS_HOST);
      flush(base + operation.index);
    },
  };
}

/** Who wrote each memory last, and who has read it since: the last reader on each lane. */
interface Accesses {
  readonly writer: Int32Array;
  readonly readers: Int32Array;
}

function createAccesses({ instances, list }: ExpandedList): Accesses {
  const most = instances.size + list.buffers.length;
  return { writer: new Int32Array(most).fill(-1), readers: new Int32Array(most * LANES).fill(-1) };
}

function considerData(
  { reads, writes }: ExpandedOperation,
  at: number,
  lane: number,
  storages: Storages,
  { writer, readers }: Accesses,
  consider: (earlier: number, cause: number) => void,
): void {
  for (const read of reads) {
    if (read !== undefined) consider(writer[storages.numberOf(read.instance)] as number, NEEDS_DATA);
  }
  for (const { operand } of writes) {
    const storage = storages.numberOf(operand.instance);
    consider(writer[storage] as number, NEEDS_DATA);
    for (let each = storage * LANES; each < (storage + 1) * LANES; each++)
      consider(readers[each] as number, NEEDS_DATA);
  }
  for (const read of reads) {
    if (read !== undefined) readers[storages.numberOf(read.instance) * LANES + lane] = at;
  }
  for (const { operand } of writes) {
    const storage = storages.numberOf(operand.instance);
    writer[storage] = at;
    readers.fill(-1, storage * LANES, (storage + 1) * LANES);
  }
}

function growRows(rows: NeedRows): void {
  const of = new Uint32Array(2 * rows.of.length);
  const cause = new Uint8Array(2 * rows.of.length);
  of.set(rows.of);
  cause.set(rows.cause);
  rows.of = of;
  rows.cause = cause;
}
