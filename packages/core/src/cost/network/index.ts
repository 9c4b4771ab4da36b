/** @file The links that exchanges use, and what they put on them. */
export { type FaultyNetwork, type LinkFault, networkOf } from './faults.ts';
export type { GroupSet, TierAlgorithms } from './loads.ts';
export {
  createNetwork,
  type LinkClass,
  type LinkPattern,
  type NetworkBuilder,
  type NetworkLoads,
  usualTiers,
} from './network.ts';
