export { type SplitCosts, type SplitListName, type SplitSchedule, splitSchedules } from './schedules.ts';
export { mostInFlight, type SplitTimes, scheduleTimes, splitTimes } from './times.ts';
export type { SplitShape } from './zero-bubble.ts';
