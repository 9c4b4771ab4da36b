/** @file Places the operations of a turn in one go where it is known beforehand what they wait for. */
import type { Pattern } from './pattern.ts';
import { clockOf, HOST, LINE, QUEUE, type TurnPlan, WRITTEN } from './plan.ts';
import type { PlannedTurn } from './shape.ts';
import { type ListWalk, OPEN } from './walk.ts';
import type { Times } from './walk-on.ts';

/** What came of a turn. `open`: it needs the end of something that is. `apart`: its operations are to be placed one by one. */
export type Outcome = 'placed' | 'open' | 'apart';

/** Places the turn at hand, if its clocks let it, and writes down its times. Nothing in it is waited for by other lists, so all of
 * it may wait until its clocks are known. */
export function placeTurn(
  { plan, patterns, values }: PlannedTurn,
  walk: ListWalk,
  turn: number,
  times: Times,
): Outcome {
  if (!readClocks(plan, walk, turn, values)) return 'open';
  const pattern = patterns.of(values);
  if (pattern === undefined) return 'apart';
  fill(plan, pattern, values, walk, times);
  leave(plan, walk, turn, times);
  return 'placed';
}

/** The clocks that the turn may wait for; false where one is still open. */
function readClocks({ clockKind, clockOf: of }: TurnPlan, walk: ListWalk, turn: number, values: Float64Array): boolean {
  const { turns, free, written, read, openReads, end } = walk;
  const { rows, cellOf, stepOf, rowOf, shiftOf, needs, needFirst } = turns;
  const first = rows.operandFirst[rowOf[turn] as number] as number;
  const shift = shiftOf[turn] as number;
  values[HOST] = walk.anchor + walk.offset;
  let named = Number.NEGATIVE_INFINITY;
  for (let need = needFirst[turn] as number; need < (needFirst[turn + 1] as number); need++) {
    const done = end[needs[need] as number] as number;
    if (done > named) named = done;
  }
  values[LINE] = named;
  let latest = named;
  for (let clock = LINE + 1; clock < clockKind.length; clock++) {
    let value: number;
    if (clockKind[clock] === QUEUE) value = free[of[clock] as number] as number;
    else {
      const operand = first + (of[clock] as number);
      const memory = (cellOf[operand] as number) + (stepOf[operand] as number) * shift;
      if (clockKind[clock] === WRITTEN) value = written[memory] as number;
      else {
        if ((openReads[memory] as number) > 0) return false;
        value = read[memory] as number;
      }
    }
    values[clock] = value;
    if (value > latest) latest = value;
  }
  return latest < OPEN;
}

/** Starts and ends, and the host as far as the turn takes it. */
function fill(
  { length, launch, seconds }: TurnPlan,
  { needs, first }: Pattern,
  values: Float64Array,
  walk: ListWalk,
  { start, end, from: begin }: Times,
): void {
  const { anchor } = walk;
  let { offset } = walk;
  let need = 0;
  for (let at = 0; at < length; at++) {
    offset += launch[at] as number;
    let from = Number.NEGATIVE_INFINITY;
    for (const stop = first[at + 1] as number; need < stop; need++) {
      const of = needs[need] as number;
      let done: number;
      if (of >= 0) done = end[begin + of] as number;
      else done = clockOf(of) === HOST ? anchor + offset : (values[clockOf(of)] as number);
      if (done > from) from = done;
    }
    start[begin + at] = from;
    end[begin + at] = from + (seconds[at] as number);
  }
  walk.offset = offset;
}

function leave(plan: TurnPlan, walk: ListWalk, turn: number, { end, from: begin }: Times): void {
  const { length, lastQueue, lastOf, leaves, leaveWrites, leaveOf } = plan;
  const { turns, free, written, read } = walk;
  const { rows, cellOf, stepOf, rowOf, shiftOf } = turns;
  const first = rows.operandFirst[rowOf[turn] as number] as number;
  const shift = shiftOf[turn] as number;
  for (let each = 0; each < lastOf.length; each++) {
    const until = end[begin + (lastOf[each] as number)] as number;
    free[lastQueue[each] as number] = until;
    if (until > walk.latest) walk.latest = until;
  }
  for (let each = 0; each < leaves.length; each++) {
    const operand = first + (leaves[each] as number);
    const memory = (cellOf[operand] as number) + (stepOf[operand] as number) * shift;
    const until = end[begin + (leaveOf[each] as number)] as number;
    if (leaveWrites[each] === 1) written[memory] = until;
    else if (until > (read[memory] as number)) read[memory] = until;
  }
  walk.end[turn] = end[begin + length - 1] as number;
}
