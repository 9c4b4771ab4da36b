/** @file What the name of a schedule says of a layout's chunks. */
import type { ScheduleName } from './types.ts';

const splits: readonly ScheduleName[] = ['zero-bubble-h1', 'zero-bubble-h2', 'zero-bubble-v', 'dualpipe', 'dualpipe-v'];

/** Backward is taken in an input and a weight part, at least now and then. */
export const isSplitSchedule = (schedule: ScheduleName): boolean => splits.includes(schedule);

/** Two chunks per stage, down the stages and back up. */
export const isFolded = (schedule: ScheduleName): boolean => schedule === 'zero-bubble-v' || schedule === 'dualpipe-v';
