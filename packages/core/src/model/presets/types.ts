import type { ModelShape } from '../shape.ts';

/** A model by name: its dimensions with their origin. */
export interface ModelPreset {
  readonly dimensions: ModelShape;
  /** Where the dimensions stand, in words; keys of docs/sources.md in brackets. */
  readonly source: string;
  /** Month in which the source was read, as year-month. */
  readonly asOf: string;
}

const asOf = '2026-11';

export const from = (source: string, dimensions: ModelShape): ModelPreset =>
  Object.freeze({ dimensions: Object.freeze(dimensions), source, asOf });

export const mlc = (file: string): string => `config.json of the model as copied in mlc-llm, ${file} [mlc-presets]`;
export const aic = (file: string): string =>
  `config.json of the model as copied in aiconfigurator, ${file} [aic-configs]`;
export const mirror = (file: string): string =>
  `config.json in a public mirror of the model's files, ${file} [mirrors]`;
/** A file of few keys: the rest are defaults of the architecture. */
export const poor = (file: string): string => `keys of config.json as copied in gpu_poor, ${file} [gpu_poor]`;
/** Not from a copy of the file: held against the count of parameters that the model's files state. */
export const copied = (file: string): string =>
  `keys of config.json of ${file}, from memory or code of other projects; the count is exact [config-copies]`;
