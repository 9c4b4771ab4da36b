/** @file One rank list as turns: rows of operations that are issued one after the other, with nothing of another list between.
 *
 * A step repeats a few turns with other micro-batches. Each is written out once, as a row of operations; a turn is the place of
 * its row and how many micro-batches further its memory lies. Exchanges between lists are turns of one operation.
 */
import { type ExpandedList, replayOf } from '../../expand.ts';
import type { Program, RankList } from '../../types.ts';
import { createBook } from '../book.ts';
import { replayList } from '../index.ts';
import type { Replay } from '../types.ts';
import { createCalls } from './calls.ts';
import { createLines } from './lines.ts';
import { createTurnRows } from './rows.ts';

/** A list as turns; struct of arrays. */
export interface Turns {
  readonly list: RankList;
  readonly length: number;
  /** Rows that turns repeat, one after the other: a list for itself, without needs. */
  readonly rows: Replay;
  /** Memory numbered so that all of a micro-batch lies together: by operand of the rows, where it is in the row as written, and
   * how much further it is one micro-batch later; 0 for what all micro-batches share. */
  readonly cellOf: Uint32Array;
  readonly stepOf: Uint32Array;
  readonly cells: number;
  /** By turn: the first operation of its row. */
  readonly rowOf: Uint32Array;
  /** By turn: its micro-batch less that of its row. */
  readonly shiftOf: Int32Array;
  /** By turn: its number in the list of its first operation; one more entry at the end. */
  readonly first: Uint32Array;
  /** By turn: which other turns do the same, to other memory; 0 for a single operation. */
  readonly formOf: Uint32Array;
  /** By form: the first operation of its first row, and how many there are. */
  readonly formRow: Uint32Array;
  readonly formLength: Uint32Array;
  /** Earlier turns whose last end a turn needs: from `needFirst` of the turn on. */
  readonly needs: Uint32Array;
  readonly needFirst: Uint32Array;
}

/** A list as turns. */
export const turnsOf = (expanded: ExpandedList): Turns =>
  expanded.ask?.(turnsOfList) ?? turnsOfReplay(replayOf(expanded));

/** Cuts a list into turns. Throws an internal error for names without a declaration and for needs of later lines. */
function turnsOfList(program: Program, list: RankList): Turns {
  const needed = neededLines(list);
  const rows = createTurnRows(list);
  const calls = createCalls(program, rows);
  const lines = createLines(rows, Math.max(1, program.microBatches), createBook(program, list).lineOf);
  for (const item of list.items) {
    if (item.kind === 'call') calls.add(item, needed[item.id] === true);
    else {
      calls.close();
      rows.needs(item);
      lines.add(item);
      rows.ended(item.id);
    }
  }
  calls.close();
  const written = replayList(program, { ...list, items: rows.items });
  return { ...rows.finish(), list, rows: written, ...cellsOf(written, program) };
}

/** The turns of a list whose operations are all written out: each is one by itself. */
function turnsOfReplay(replay: Replay): Turns {
  const { list, length, operands, lineFirst, needs, needFirst } = replay;
  const first = Uint32Array.from({ length: length + 1 }, (_, index) => index);
  const own: number[] = [];
  const ownFirst = new Uint32Array(length + 1);
  for (let line = 0; line < lineFirst.length - 1; line++) {
    const named = needs.subarray(needFirst[line], needFirst[line + 1]);
    for (let at = lineFirst[line] as number; at < (lineFirst[line + 1] as number); at++) {
      own.push(...named);
      ownFirst[at + 1] = own.length;
    }
  }
  return {
    list,
    length,
    rows: replay,
    cellOf: operands,
    stepOf: new Uint32Array(operands.length),
    cells: replay.memories,
    rowOf: first.subarray(0, length),
    shiftOf: new Int32Array(length),
    first,
    formOf: new Uint32Array(length),
    formRow: new Uint32Array(1),
    formLength: Uint32Array.of(1),
    needs: Uint32Array.from(own),
    needFirst: ownFirst,
  };
}

/** Lines whose end others need: a turn ends with them. */
function neededLines({ items }: RankList): readonly boolean[] {
  const needed: boolean[] = [];
  for (const { needs } of items) for (let at = 0; at < needs.length; at++) needed[needs[at] as number] = true;
  return needed;
}

function cellsOf(rows: Replay, program: Program): Pick<Turns, 'cellOf' | 'stepOf' | 'cells'> {
  const { slots, slotOf } = rows.owners();
  const microBatches = Math.max(1, program.microBatches);
  const isEach = slots.map(({ text }) => text.endsWith('[') || text.endsWith(','));
  const cellOf = new Uint32Array(rows.operands.length);
  const stepOf = new Uint32Array(rows.operands.length);
  const step = isEach.filter((each) => each).length;
  const columns = new Map<number, number>();
  const others = new Map<number, number>();
  const numberIn = (known: Map<number, number>, key: number): number => {
    const found = known.get(key) ?? known.size;
    known.set(key, found);
    return found;
  };
  rows.operands.forEach((memory, at) => {
    const slot = slotOf[memory] as number;
    const microBatch = memory - (slots[slot]?.first ?? 0);
    if (isEach[slot] === true && microBatch < microBatches) {
      cellOf[at] = microBatch * step + numberIn(columns, slot);
      stepOf[at] = step;
    } else cellOf[at] = microBatches * step + numberIn(others, memory);
  });
  return { cellOf, stepOf, cells: microBatches * step + others.size };
}
