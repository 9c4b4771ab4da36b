/** @file What a turn asks of what was before it and leaves for what comes, by the operands of its row. */
import { HOST_QUEUE } from '../lanes.ts';
import type { ListWalk } from '../turns/walk.ts';

/** Operands are counted from the first one of the row. */
export interface Touches {
  /** Queues in which it takes turns. */
  readonly queues: Uint8Array;
  /** Memory whose last writer (1) or last readers (0) it waits for. */
  readonly asked: Uint16Array;
  readonly askedWriter: Uint8Array;
  /** Memory whose last writer (1) or reader (0), in a queue, it is. */
  readonly left: Uint16Array;
  readonly leftWriter: Uint8Array;
  readonly leftQueue: Uint8Array;
}

/** Of the turns of a list; worked out once for each row. */
export function touchesOf(walk: ListWalk): (turn: number) => Touches {
  const { rowOf, first, rows } = walk.turns;
  const known: (Touches | undefined)[] = new Array(rows.length);
  return (turn) => {
    const row = rowOf[turn] as number;
    const found = known[row] ?? touchesOfRow(walk, row, (first[turn + 1] as number) - (first[turn] as number));
    known[row] = found;
    return found;
  };
}

function touchesOfRow({ turns, shape }: ListWalk, row: number, length: number): Touches {
  const { rows, cellOf } = turns;
  const { asks, askFirst, leaves, leaveFirst } = shape.use;
  const queues = new Set<number>();
  const asked = new Map<string, { readonly operand: number; readonly writer: boolean }>();
  const left = new Map<string, { readonly operand: number; readonly writer: boolean; readonly queue: number }>();
  const written = new Set<number>();
  const begin = rows.operandFirst[row] as number;
  for (let at = row; at < row + length; at++) {
    const sample = rows.sampleOf[at] as number;
    if (shape.isMark[sample] === 1) continue;
    const queue = shape.queue[sample] as number;
    if (queue !== HOST_QUEUE) queues.add(queue);
    const first = rows.operandFirst[at] as number;
    for (let each = askFirst[sample] as number; each < (askFirst[sample + 1] as number); each++) {
      const code = asks[each] as number;
      const operand = first + (code >> 1);
      const cell = cellOf[operand] as number;
      const writer = (code & 1) === 0;
      if (!written.has(cell)) asked.set(`${cell} ${writer}`, { operand: operand - begin, writer });
    }
    for (let each = leaveFirst[sample] as number; each < (leaveFirst[sample + 1] as number); each++) {
      const code = leaves[each] as number;
      const operand = first + (code >> 1);
      const cell = cellOf[operand] as number;
      const writer = (code & 1) === 1;
      if (writer) written.add(cell);
      // What reads before a write is outdated by it; readers since are one for each queue.
      left.set(writer ? `${cell}` : `${cell} ${queue}`, { operand: operand - begin, writer, queue });
    }
  }
  const rowsLeft = [...left.values()].sort((one, other) => Number(other.writer) - Number(one.writer));
  const rowsAsked = [...asked.values()];
  return {
    queues: Uint8Array.from(queues),
    asked: Uint16Array.from(rowsAsked, ({ operand }) => operand),
    askedWriter: Uint8Array.from(rowsAsked, ({ writer }) => (writer ? 1 : 0)),
    left: Uint16Array.from(rowsLeft, ({ operand }) => operand),
    leftWriter: Uint8Array.from(rowsLeft, ({ writer }) => (writer ? 1 : 0)),
    leftQueue: Uint8Array.from(rowsLeft, ({ queue }) => queue),
  };
}
