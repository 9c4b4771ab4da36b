/** @file What turns need of each other, derived in list order from what their operations ask for and leave. Exchanges are events
 * here, which end when the clock says: other turns of the list go on meanwhile, in any order that needs allow.
 */
import { HOST_QUEUE } from '../lanes.ts';
import type { Meetings } from '../match.ts';
import { type Successors, successorsOf } from '../place.ts';
import type { ListWalk } from '../turns/walk.ts';
import { touchesOf } from './touches.ts';

/** Turns are numbered through all lists. */
export interface TurnGraph extends Successors {
  /** By turn: the turn of its list that the host waited for last, -1 is the start; and what it has issued since then. */
  readonly anchor: Int32Array;
  readonly offset: Float64Array;
}

/** Undefined where the host waits in the middle of a turn. */
export function turnGraph(walks: readonly ListWalk[], { next, leader }: Meetings): TurnGraph | undefined {
  const needFirst = new Uint32Array(next.length + 1);
  const rows = { needFirst, needOf: new Uint32Array(4 * next.length + 64), filled: 0 };
  const anchor = new Int32Array(next.length).fill(-1);
  const offset = new Float64Array(next.length);
  for (const walk of walks) {
    if (holdsInside(walk)) return undefined;
    issue(walk, anchor, offset);
    addNeeds(walk, anchor, rows);
  }
  const needOf = rows.needOf.subarray(0, rows.filled);
  return { ...successorsOf({ leader, needFirst, needOf }), anchor, offset };
}

function holdsInside({ shape, turns }: ListWalk): boolean {
  const { formRow, formLength, rows } = turns;
  for (let form = 1; form < formLength.length; form++) {
    const row = formRow[form] as number;
    const samples = rows.sampleOf.subarray(row, row + (formLength[form] as number));
    if (samples.some((sample) => shape.holds[sample] === 1)) return true;
  }
  return false;
}

/** When the host issues turns, in list order. */
function issue({ turns, shape, base }: ListWalk, anchor: Int32Array, offset: Float64Array): void {
  const { rows, rowOf, first, length } = turns;
  let last = -1;
  let issued = 0;
  for (let turn = 0; turn < length; turn++) {
    const row = rowOf[turn] as number;
    const size = (first[turn + 1] as number) - (first[turn] as number);
    anchor[base + turn] = last;
    offset[base + turn] = issued;
    for (let at = row; at < row + size; at++) {
      const sample = rows.sampleOf[at] as number;
      issued += shape.launch[sample] as number;
      if (shape.holds[sample] !== 1) continue;
      last = base + turn;
      issued = 0;
    }
  }
}

interface Rows {
  readonly needFirst: Uint32Array;
  needOf: Uint32Array;
  filled: number;
}

function addNeeds(walk: ListWalk, anchor: Int32Array, rows: Rows): void {
  const { turns, shape, base } = walk;
  const { cellOf, stepOf, rowOf, shiftOf, needs, needFirst, length } = turns;
  const touches = touchesOf(walk);
  const before = new Int32Array(shape.queues).fill(-1);
  const memory = createMemory(turns.cells);
  for (let turn = 0; turn < length; turn++) {
    const own = base + turn;
    const need = (other: number): void => {
      if (other < 0) return;
      if (rows.filled === rows.needOf.length) rows.needOf = grown(rows.needOf);
      rows.needOf[rows.filled++] = other;
    };
    const { queues, asked, askedWriter, left, leftWriter, leftQueue } = touches(turn);
    const shift = shiftOf[turn] as number;
    const first = turns.rows.operandFirst[rowOf[turn] as number] as number;
    for (let each = 0; each < queues.length; each++) {
      const queue = queues[each] as number;
      need(before[queue] as number);
      before[queue] = own;
    }
    for (let each = 0; each < asked.length; each++) {
      const operand = first + (asked[each] as number);
      const cell = (cellOf[operand] as number) + (stepOf[operand] as number) * shift;
      if (askedWriter[each] === 1) need(memory.writer[cell] as number);
      else memory.visitReaders(cell, need);
    }
    for (let each = 0; each < left.length; each++) {
      const operand = first + (left[each] as number);
      const cell = (cellOf[operand] as number) + (stepOf[operand] as number) * shift;
      if (leftWriter[each] === 1) memory.write(cell, own);
      else memory.read(cell, own, leftQueue[each] as number);
    }
    for (let each = needFirst[turn] as number; each < (needFirst[turn + 1] as number); each++) {
      need(base + (needs[each] as number));
    }
    need(anchor[own] as number);
    rows.needFirst[own + 1] = rows.filled;
  }
}

/** The last writer of each cell, and its readers since, one for each queue. */
function createMemory(cells: number) {
  const writer = new Int32Array(cells).fill(-1);
  const readers = new Int32Array(cells).fill(-1);
  const turnOf: number[] = [];
  const queueOf: number[] = [];
  const following: number[] = [];
  return {
    writer,
    write: (cell: number, turn: number): void => {
      writer[cell] = turn;
      readers[cell] = -1;
    },
    read: (cell: number, turn: number, queue: number): void => {
      for (let at = readers[cell] as number; at >= 0; at = following[at] as number) {
        if (queueOf[at] !== queue || queue === HOST_QUEUE) continue;
        turnOf[at] = turn;
        return;
      }
      following.push(readers[cell] as number);
      queueOf.push(queue);
      readers[cell] = turnOf.push(turn) - 1;
    },
    visitReaders: (cell: number, visit: (turn: number) => void): void => {
      for (let at = readers[cell] as number; at >= 0; at = following[at] as number) visit(turnOf[at] as number);
    },
  };
}

function grown(row: Uint32Array): Uint32Array {
  const larger = new Uint32Array(2 * row.length);
  larger.set(row);
  return larger;
}
