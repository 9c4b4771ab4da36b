/** @file Models: from a preset, from dimensions or from a Hugging Face configuration; their parameters and FLOPs. */

export { ALL_LINEAR, adaptedParts, MOST_RANK, withAdapters } from './adapters.ts';
export { modelOf as modelFromShape } from './check.ts';
export { checkAdapters } from './check-adapters.ts';
export { checkCompiles } from './compiles.ts';
export { countParameters, elementsOf, isRoutedExpert, type ParameterCounts } from './counts.ts';
export { type DimensionKey, type DimensionRule, dimensionRules, type ModelDimensions } from './dimensions.ts';
export { flopsPerToken, mfuConvention, mfuConventionOf, tokensSeen } from './flops.ts';
export { type LayerKind, type LayerKinds, layerKinds } from './layer-kinds.ts';
export {
  blockParameters,
  type HfTensor,
  hfTensors,
  hfTensorsOfMtp,
  parameterBook,
  parametersOf,
} from './parameters/index.ts';
export { type ModelPreset, modelFromPreset, type PresetName, presetNames, presets } from './presets/index.ts';
export { type ConfigOptions, modelFromConfig } from './read-config.ts';
export { type ModelResult, modelFromDimensions } from './read-dimensions.ts';
export type { ModelShape } from './shape.ts';
export type {
  ActivationKind,
  AdapterSpec,
  AttentionSpec,
  BlockId,
  DenseFfn,
  ExpertScoring,
  GroupedAttention,
  HfSlice,
  LatentAttention,
  LayerSpec,
  ModelKind,
  ModelSpec,
  MoeFfn,
  MtpSpec,
  NormKind,
  NormPlacement,
  ParameterDim,
  ParameterSpec,
  QueryKeyNorm,
} from './types.ts';
export { adapterConfigOf, configOf } from './write-config.ts';
