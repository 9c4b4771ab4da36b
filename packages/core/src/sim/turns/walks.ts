/** @file All lists before they set out. */
import type { ExpandedList, Turns } from '../../program/index.ts';
import { type Meetings, operationBases } from '../match.ts';
import type { OperationPrices } from '../types.ts';
import { createShapes, type SampleSeconds } from './shape.ts';
import { createWalk, type ListWalk } from './walk.ts';

/** `seconds`: of samples, other than `pricing` says. */
export function walksOf(
  lists: readonly ExpandedList[],
  meetings: Meetings,
  pricing: OperationPrices,
  seconds?: SampleSeconds,
): readonly ListWalk[] {
  const shapeOf = createShapes(pricing, seconds);
  const operations = operationBases(meetings);
  return lists.map((list, index) => {
    const turns = meetings.turns[index] as Turns;
    const numbers = { base: meetings.base[index] as number, firstOperation: operations[index] as number };
    return createWalk(list, index, { turns, ...numbers }, shapeOf(list, turns, index), pricing);
  });
}
