import type { ModelKind } from '../types.ts';
import { gptLike } from './gpt-like.ts';
import { llamaLike } from './llama-like.ts';
import type { HfNames } from './types.ts';

export type { ExpertNames, HfNames } from './types.ts';

/** How each kind of model calls its tensors; from the modelling code of transformers and of the models [hf-names]. */
export const hfNames: Readonly<Record<ModelKind, HfNames>> = { ...llamaLike, ...gptLike };
