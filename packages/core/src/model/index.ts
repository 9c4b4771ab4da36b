/** @file Models: from a preset, from dimensions or from a Hugging Face configuration; their parameters and FLOPs. */
export { countParameters, elementsOf, flopsPerToken, mfuConvention, type ParameterCounts } from './counts.ts';
export { type DimensionKey, type DimensionRule, dimensionRules, type ModelDimensions } from './dimensions.ts';
export { blockParameters, type HfTensor, hfTensors, parametersOf } from './parameters.ts';
export { type ModelPreset, modelFromPreset, type PresetName, presetNames, presets } from './presets.ts';
export { type ConfigOptions, modelFromConfig } from './read-config.ts';
export { type ModelResult, modelFromDimensions } from './read-dimensions.ts';
export type {
  ActivationKind,
  AttentionSpec,
  BlockId,
  DenseFfn,
  HfSlice,
  LayerSpec,
  ModelSpec,
  MoeFfn,
  NormKind,
  ParameterDim,
  ParameterSpec,
} from './types.ts';
