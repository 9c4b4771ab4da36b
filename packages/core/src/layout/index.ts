/** @file Layouts: their keys, laws, normal form, defaults, short form, and the space of all of them. */
export { type CompletedLayout, completeLayout } from './complete.ts';
export { headRanks } from './context.ts';
export { withDefaults } from './defaults.ts';
export { expertCounts, expertDataOf, hasExpertGrid, meshOf } from './experts.ts';
export { type FormatOptions, formatLayout, formatLayoutValue } from './format.ts';
export { countRejected, enumerateLayouts, layoutSpace } from './framework-space.ts';
export { layoutHash } from './hash.ts';
export { gpusOf, type LayoutJob } from './job.ts';
export {
  axisShortNames,
  type LaterLayoutKey,
  type LayoutKey,
  type LayoutValueType,
  laterLayoutKeys,
  layoutKeys,
} from './keys.ts';
export { checkLayout, layoutRules } from './legality.ts';
export {
  expertsWithEffect,
  microBatchesOf,
  mostReplicasOf,
  normalizeLayout,
  replicasOf,
  shardRanksOf,
} from './normal.ts';
export { defaultOverlap, overlapKinds, overlapOf } from './overlap.ts';
export { formatOverrides, noOverrides, recomputeOfLayers } from './overrides.ts';
export type { Finding, LayoutRule } from './rules/rule.ts';
export { type LayoutSpace, layoutSpaceOf, type RejectedLayouts, TOKENS_OF_CONTEXT_RANK } from './space.ts';
export { balancedSplit, equalCosts, type SplitCosts } from './split.ts';
export type {
  ContextKind,
  GradientReduction,
  LayerOverride,
  Layout,
  LayoutRequest,
  Overlapped,
  Recompute,
  ScheduleName,
  Sharding,
} from './types.ts';
