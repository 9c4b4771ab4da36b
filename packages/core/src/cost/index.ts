/** @file Prices of work and exchanges, and what a row of priced operations sums up to. */

export { type Dispatch, type DispatchWay, expectedGroups } from './dispatch.ts';
export { TIER_OVERLAP } from './exchange.ts';
export { hostAssumptions } from './host.ts';
export {
  type BlockMatrix,
  chain,
  chainPower,
  ENTRY,
  EXIT,
  entryOf,
  exitClock,
  identityMatrix,
  rowOf,
} from './maxplus.ts';
export { type MeasuredSeconds, measuredSeconds } from './measured.ts';
export {
  type BucketEvent,
  type MemoryProfile,
  type MemoryShape,
  memoryShape,
  profileOf,
  type SampleRange,
} from './memory-shape.ts';
export {
  createNetwork,
  type FaultyNetwork,
  type GroupSet,
  type LinkClass,
  type LinkFault,
  type LinkPattern,
  type NetworkBuilder,
  type NetworkLoads,
  networkOf,
  type TierAlgorithms,
} from './network/index.ts';
export { OVERLAP, type Overlap, type SlowDownFactors, slowDownOf } from './overlap.ts';
export type {
  Assumption,
  ExchangeAlgorithm,
  ExchangeRequest,
  ExchangeWays,
  LinkDescription,
  PriceOptions,
  Prices,
} from './price-types.ts';
export { createPriceBook, createPrices, type PriceBook } from './prices.ts';
export { type Borders, matrixOf, type TimeShape, timeShape } from './time-shape.ts';
