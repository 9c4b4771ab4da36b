/** @file Pipeline schedules as pure data. They know of order, never of time. */
export { bubbleRatio, bubbleShare, microBatchesForShare } from './bubble.ts';
export { type InFlight, inFlight } from './in-flight.ts';
export {
  backwardCode,
  chunkOf,
  decodeInvocation,
  endsBackward,
  formatInvocations,
  forwardCode,
  type Invocation,
  type InvocationKind,
  isBackward,
  isTogether,
  kindNumber,
  microBatchOf,
  type ScheduleName,
  type ScheduleShape,
  type SplitScheduleName,
  scheduleLimits,
} from './invocation.ts';
export { type ScheduleRow, scheduleCodes, scheduleList, schedules } from './lists.ts';
export {
  type ChunkPlace,
  chunksHeld,
  isSplit,
  neighbourOf,
  type Placed,
  type Placement,
  placementOf,
  positionOf,
  producerOf,
  shapeOf,
} from './placement.ts';
export {
  mostInFlight,
  type SplitCosts,
  type SplitListName,
  type SplitSchedule,
  type SplitShape,
  type SplitTimes,
  scheduleTimes,
  splitSchedules,
  splitTimes,
} from './split/index.ts';
