/** @file Pipeline schedules as pure data. They know of order, never of time. */
export { bubbleRatio, bubbleShare, microBatchesForShare } from './bubble.ts';
export { producerOf, type ScheduleGraph, scheduleGraph } from './graph.ts';
export { type InFlight, inFlight } from './in-flight.ts';
export {
  backwardCode,
  chunkOf,
  decodeInvocation,
  formatInvocations,
  forwardCode,
  type Invocation,
  type InvocationDirection,
  invocationCount,
  isBackward,
  microBatchOf,
  type ScheduleName,
  type ScheduleShape,
  scheduleLimits,
} from './invocation.ts';
export { type ScheduleRow, scheduleCodes, scheduleList, schedules } from './lists.ts';
export {
  decodeSplit,
  formatSplit,
  mostInFlight,
  type Placement,
  type SplitCosts,
  type SplitInvocation,
  type SplitKind,
  type SplitSchedule,
  type SplitScheduleName,
  type SplitShape,
  type SplitTimes,
  splitSchedules,
  splitTimes,
} from './split/index.ts';
