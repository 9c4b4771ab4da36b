/** @file Which architectures are read from a Hugging Face `config.json`, how their keys are called, and what is missing
 * for the others. Key names and defaults are those of the configuration classes of transformers [hf-configs].
 */
import { expertFamilies } from './experts.ts';
import { gptLikeFamilies } from './gpt-like.ts';
import { llamaLikeFamilies } from './llama-like.ts';
import type { Family } from './types.ts';

export { missingParts } from './refused.ts';
export type { Family } from './types.ts';

/** Architectures that are read, by the stem of the class name in lower case. */
export const families: Readonly<Record<string, Family>> = {
  ...llamaLikeFamilies,
  ...gptLikeFamilies,
  ...expertFamilies,
};
