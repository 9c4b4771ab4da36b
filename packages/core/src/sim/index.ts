/** @file Programs in time: the operations of all lists placed on their lanes, and what the step is made of. */
export { type Binding, bindingOf, type Cause } from './binding.ts';
export { type CriticalOperation, criticalPathOf, type OperationPlace } from './critical-path.ts';
export { busyByLane, type ExchangeTime, exchangesOf, hiddenSeconds } from './exchanges.ts';
export { type Idle, type IdlePart, visitIdle } from './idle.ts';
export { type LaneUse, laneUseOf, operationCount } from './lane-use.ts';
export { measuredStep } from './measured-step.ts';
export { type Overlay, type OverlayLane, type OverlayRow, overlayOf } from './overlay.ts';
export { type BusyPart, bubbleOfList, type PeakRate, partsOfList, partsOfStep, type StepParts } from './parts.ts';
export {
  criticalPathSummary,
  type PathKind,
  type PathPart,
  type PathSegment,
  type PathSummary,
} from './path-parts.ts';
export { exchangeRequest, launchesOf, pricesOf, secondsOf } from './prices.ts';
export type { Jitter, SlowDevice } from './shared/disturb.ts';
export type { SlowDown } from './shared/lanes.ts';
export type { LinkUse } from './shared/link-use.ts';
export { type SharedSetting, type SharedStep, simulateShared } from './shared/simulate.ts';
export { simulateProgram } from './simulate.ts';
export type { StepGraph } from './step-graph.ts';
export { timelineOf } from './timeline.ts';
export type { OperationPrices, SimulatedList, SimulatedStep } from './types.ts';
