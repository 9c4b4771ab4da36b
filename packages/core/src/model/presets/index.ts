/** @file Models by name. Every preset says where its dimensions were read and when. */
import { didYouMean, issue, quote } from '../../errors/index.ts';
import { modelOf } from '../check.ts';
import { kinds } from '../kinds.ts';
import type { ModelResult } from '../read-dimensions.ts';
import { type DensePreset, densePresets } from './dense.ts';
import { type ExpertPreset, expertPresets } from './experts.ts';
import { type FrontierPreset, frontierPresets } from './frontier.ts';
import { type LlamaPreset, llamaPresets } from './llama.ts';
import { type LlamaLikePreset, llamaLikePresets } from './llama-like.ts';
import type { ModelPreset } from './types.ts';

export type { ModelPreset } from './types.ts';

/** Names of the presets; stable. */
export type PresetName = LlamaPreset | LlamaLikePreset | DensePreset | ExpertPreset | FrontierPreset;

/** Every preset. Names are those that people type. */
export const presets: Readonly<Record<PresetName, ModelPreset>> = {
  ...llamaPresets,
  ...llamaLikePresets,
  ...densePresets,
  ...expertPresets,
  ...frontierPresets,
};

/** Names of all presets, in order of family. */
export const presetNames: readonly PresetName[] = Object.keys(presets) as PresetName[];

/** The model of a preset; an unknown name is an issue at `path` with the nearest known one. */
export function modelFromPreset(name: string, path: string): ModelResult {
  if (!Object.hasOwn(presets, name)) {
    const near = didYouMean(name, presetNames);
    const hint = near
      ? `Did you mean ${near}?`
      : `Use one of ${presetNames.join(', ')}, a path to a config.json, or dimensions.`;
    return { issues: [issue('VALUE_UNKNOWN', path, `${quote(name)} is not a model that is known by name.`, hint)] };
  }
  const { dimensions } = presets[name as PresetName];
  // Presets leave out what is usual for their kind; it is what their configurations say.
  const { positions } = kinds[dimensions.kind];
  return modelOf({ positions, ...dimensions }, name, () => path);
}
