/** @file One list on its way through time, turn by turn: the clocks of its queues and its memory, and how operations read and
 * move them.
 *
 * What an operation waits for stands earlier in its own list, so its start is the latest of a few clocks: of its queue, of the
 * memory that it touches, of turns that it names, of the host. Ends in a queue never go back, so the latest clock of a queue or a
 * memory is that of the need which a graph of needs would keep.
 */
import type { ExpandedList, Turns } from '../../program/index.ts';
import { HOST_QUEUE } from '../lanes.ts';
import { secondsOfAll } from '../place.ts';
import type { OperationPrices } from '../types.ts';
import type { TurnShape } from './shape.ts';

/** The end of what has begun and not ended. */
export const OPEN: number = Number.POSITIVE_INFINITY;

/** One list on its way. */
export interface ListWalk {
  readonly turns: Turns;
  readonly shape: TurnShape;
  /** Numbers of its first turn and of its first operation, through all lists. */
  readonly base: number;
  readonly firstOperation: number;
  /** By operation, where prices see more than samples. */
  readonly seconds: Float64Array | undefined;
  /** By queue and by memory: when it is free of what was before. A reader before the last write ends before that does. */
  readonly free: Float64Array;
  readonly written: Float64Array;
  readonly read: Float64Array;
  /** By memory: open exchanges that read it. */
  readonly openReads: Uint8Array;
  /** By turn: the end of its last operation. */
  readonly end: Float64Array;
  /** The turn at hand and how many of its operations are placed, and the host: the end of its last wait, and what it has issued
   * since. */
  turn: number;
  placed: number;
  anchor: number;
  offset: number;
  /** The last end so far. */
  latest: number;
}

export function createWalk(
  expanded: ExpandedList,
  index: number,
  { turns, base, firstOperation }: Pick<ListWalk, 'turns' | 'base' | 'firstOperation'>,
  shape: TurnShape,
  pricing: OperationPrices,
): ListWalk {
  const { cells } = turns;
  return {
    turns,
    shape,
    base,
    firstOperation,
    seconds: pricing.byShape === true ? undefined : secondsOfAll(expanded.operations, expanded.list, index, pricing),
    free: new Float64Array(shape.queues),
    written: new Float64Array(cells),
    read: new Float64Array(cells),
    openReads: new Uint8Array(cells),
    end: new Float64Array(turns.length),
    turn: 0,
    placed: 0,
    anchor: 0,
    offset: 0,
    latest: 0,
  };
}

/** Seconds of an operation of the list: by its number in the list or by its sample. */
export const secondsOf = ({ seconds, shape }: ListWalk, index: number, sample: number): number =>
  (seconds === undefined ? shape.seconds[sample] : seconds[index]) as number;

/** When all is done that operation `at` of the rows waits for, which is issued at `issued`; OPEN where some of it is an open
 * exchange. */
export function startOf(walk: ListWalk, turn: number, at: number, sample: number, issued: number): number {
  const { turns, shape, written, read, openReads, free, end } = walk;
  const { rows, cellOf, stepOf, shiftOf, needs, needFirst } = turns;
  const { operandFirst } = rows;
  const { asks, askFirst } = shape.use;
  const own = shape.queue[sample] as number;
  let latest = issued;
  if (own !== HOST_QUEUE && (free[own] as number) > latest) latest = free[own] as number;
  const last = askFirst[sample + 1] as number;
  const shift = shiftOf[turn] as number;
  for (let each = askFirst[sample] as number; each < last; each++) {
    const code = asks[each] as number;
    const operand = (operandFirst[at] as number) + (code >> 1);
    const memory = (cellOf[operand] as number) + (stepOf[operand] as number) * shift;
    if ((code & 1) === 0) {
      if ((written[memory] as number) > latest) latest = written[memory] as number;
    } else {
      if ((read[memory] as number) > latest) latest = read[memory] as number;
      if ((openReads[memory] as number) > 0) return OPEN;
    }
  }
  const stop = needFirst[turn + 1] as number;
  for (let need = needFirst[turn] as number; need < stop; need++) {
    const done = end[needs[need] as number] as number;
    if (done > latest) latest = done;
  }
  return latest;
}

/** Moves the clocks that somebody will look at of an operation that ends at `until`. */
export function leave(walk: ListWalk, turn: number, at: number, sample: number, until: number): void {
  const { turns, shape, written, read, free } = walk;
  const { cellOf, stepOf, rows } = turns;
  const { leaves, leaveFirst } = shape.use;
  const shift = turns.shiftOf[turn] as number;
  free[shape.queue[sample] as number] = until;
  const last = leaveFirst[sample + 1] as number;
  for (let each = leaveFirst[sample] as number; each < last; each++) {
    const code = leaves[each] as number;
    const operand = (rows.operandFirst[at] as number) + (code >> 1);
    const memory = (cellOf[operand] as number) + (stepOf[operand] as number) * shift;
    if ((code & 1) === 1) written[memory] = until;
    else if (until > (read[memory] as number)) read[memory] = until;
  }
}

/** An exchange begins whose end is not known: what it writes and its queue are open, what it reads may still be read. */
export function enter({ turns, shape, free, written, openReads }: ListWalk, turn: number, at: number): void {
  const { cellOf, stepOf, rows } = turns;
  const sample = rows.sampleOf[at] as number;
  const shift = turns.shiftOf[turn] as number;
  const first = rows.operandFirst[at] as number;
  const writes = first + (shape.reads[sample] as number);
  const last = rows.operandFirst[at + 1] as number;
  free[shape.queue[sample] as number] = OPEN;
  for (let each = first; each < last; each++) {
    const memory = (cellOf[each] as number) + (stepOf[each] as number) * shift;
    if (each >= writes) written[memory] = OPEN;
    else openReads[memory] = (openReads[memory] as number) + 1;
  }
}

/** It ends: the clocks of all that it touches move to its end. */
export function close(walk: ListWalk, turn: number, at: number, until: number): void {
  const { turns, shape, free, written, read, openReads } = walk;
  const { cellOf, stepOf, rows } = turns;
  const sample = rows.sampleOf[at] as number;
  const shift = turns.shiftOf[turn] as number;
  const first = rows.operandFirst[at] as number;
  const writes = first + (shape.reads[sample] as number);
  const last = rows.operandFirst[at + 1] as number;
  free[shape.queue[sample] as number] = until;
  for (let each = first; each < last; each++) {
    const memory = (cellOf[each] as number) + (stepOf[each] as number) * shift;
    if (each >= writes) written[memory] = until;
    else {
      openReads[memory] = (openReads[memory] as number) - 1;
      if (until > (read[memory] as number)) read[memory] = until;
    }
  }
  if (until > walk.latest) walk.latest = until;
}
