/** @file Schedules beyond one forward and one backward a micro-batch. */
export { decodeSplit, formatSplit, type SplitInvocation, type SplitKind } from './code.ts';
export {
  type Placement,
  type SplitCosts,
  type SplitSchedule,
  type SplitScheduleName,
  splitSchedules,
} from './schedules.ts';
export { mostInFlight, type SplitTimes, splitTimes } from './times.ts';
export type { SplitShape } from './zero-bubble.ts';
