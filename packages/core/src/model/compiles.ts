/** @file What step programs cannot hold yet. A model is refused here, in one place, rather than compiled wrongly. */
import { type Issue, issue, warning } from '../errors/index.ts';
import type { LayerSpec, ModelSpec } from './types.ts';

/** A part that has no operations yet, in words, and how to tell whether a layer has it. */
interface Missing {
  readonly what: string;
  readonly has: (layer: LayerSpec) => boolean;
}

const missingParts: readonly Missing[] = [
  {
    what: 'a sparse choice of tokens by an indexer',
    has: ({ attention }) => attention.kind === 'latent' && attention.indexer !== undefined,
  },
  {
    what: 'latent attention without a norm before it',
    has: ({ attention, placement = 'pre' }) =>
      attention.kind === 'latent' && placement !== 'pre' && placement !== 'both',
  },
  {
    what: 'weights on the inputs of several experts a token',
    has: ({ ffn }) => ffn.kind === 'moe' && ffn.weighs === 'input' && ffn.topK > 1,
  },
];

/** Parts of `model` that step programs cannot hold, in words; empty when it compiles. */
function missingIn(model: ModelSpec): readonly string[] {
  const layers = [...new Set(model.layers)];
  return missingParts.filter(({ has }) => layers.some(has)).map(({ what }) => what);
}

/** An error when a step program cannot hold the layers of `model`, with all that is missing; a note for parts that are
 * counted beside and left out of programs. */
export function checkCompiles(model: ModelSpec, path: string = 'model'): readonly Issue[] {
  const missing = missingIn(model);
  if (missing.length > 0) {
    const message = `step programs do not have ${missing.join(', ')} yet, and ${model.name} does.`;
    const hint = 'Use meshwright model for its numbers, or plan the nearest model that compiles.';
    return [issue('MODEL_NOT_COMPILED', path, message, hint, { missing })];
  }
  if (!model.mtp) return [];
  const message = `${model.mtp.modules} modules that predict further tokens are left out of the step program.`;
  return [{ ...warning('MODEL_PART_LEFT_OUT', path, message, 'Nothing to do.'), severity: 'note' }];
}
