/** @file Facts of each framework as data. */
import { megatron, nemo } from './megatron.ts';
import { meshwright } from './meshwright.ts';
import { deepspeed, fsdp, nanotron, torchtitan } from './pytorch.ts';
import type { FrameworkEra, FrameworkName, FrameworkProfile } from './types.ts';

/** Every profile by name. */
export const frameworks: Readonly<Record<FrameworkName, FrameworkProfile>> = {
  meshwright,
  megatron,
  nemo,
  torchtitan,
  deepspeed,
  fsdp,
  nanotron,
};

/** Names of the profiles, in the order of a list for people. */
export const frameworkNames: readonly FrameworkName[] = Object.keys(frameworks) as FrameworkName[];

/** The habits of the releases of a year; of the newest ones when no year is given. */
export function eraOf({ eras }: FrameworkProfile, year?: number): FrameworkEra {
  const found = year === undefined ? undefined : eras.find(({ until }) => until === undefined || year <= until);
  return found ?? (eras[eras.length - 1] as FrameworkEra);
}

export {
  type KeyName,
  keyNameOf,
  keyNameSources,
  type LaunchFramework,
  launchFrameworks,
  namedKeys,
} from './key-names.ts';
export { rankOrders } from './rank-orders.ts';
export {
  checkSetup,
  type FrameworkRule,
  type FrameworkSetup,
  type FrameworkSwitches,
  frameworkRules,
  rulesByFramework,
  type SetupKey,
} from './rules/index.ts';
export { elementwiseTraffic, expertTraffic } from './traffic.ts';
export {
  type AttentionKernel,
  type DispatchName,
  dispatchNames,
  type ElementwisePlan,
  type FrameworkEra,
  type FrameworkFact,
  type FrameworkName,
  type FrameworkProfile,
  type LossPlan,
  type OverlapKind,
} from './types.ts';
