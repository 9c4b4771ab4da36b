/** @file What step programs cannot hold yet. A model is refused here, in one place, rather than compiled wrongly. */
import { type Issue, issue, warning } from '../errors/index.ts';
import type { AttentionSpec, DenseFfn, LayerSpec, ModelSpec, MoeFfn, QueryKeyNorm } from './types.ts';

/** A part that has no operations yet, in words, and how to tell whether a model or a layer has it. */
interface Missing<T> {
  readonly what: string;
  readonly has: (part: T) => boolean;
}

const isRouted = ({ ffn }: LayerSpec): boolean => ffn.kind === 'moe';
const isParallel = ({ placement }: LayerSpec): boolean => placement?.startsWith('parallel') === true;

const inModel: readonly Missing<ModelSpec>[] = [
  { what: 'a norm behind the embedding', has: ({ embeddingNorm }) => embeddingNorm === true },
  {
    what: 'a factor on residual branches with experts',
    has: ({ residualScale, layers }) => residualScale !== undefined && layers.some(isRouted),
  },
  {
    what: 'a factor on logits with a bias',
    has: ({ logitScale, headBias }) => logitScale !== undefined && headBias === true,
  },
];

const inLayer: readonly Missing<LayerSpec>[] = [
  {
    what: 'a bias before a norm behind attention or feed-forward',
    has: ({ placement, attention, ffn }) =>
      (placement === 'both' || placement === 'post') && (attention.outBias || ffn.bias === true),
  },
  { what: 'experts beside attention', has: (layer) => isParallel(layer) && isRouted(layer) },
];

const inAttention: readonly Missing<AttentionSpec>[] = [
  { what: 'latent attention', has: ({ kind }) => kind === 'latent' },
  { what: 'norms of their own for the queries and keys of each head', has: (each) => normOf(each) === 'heads' },
  { what: 'attention sinks', has: (each) => each.kind === 'grouped-query' && each.sinks === true },
  { what: 'attention in chunks', has: ({ chunked }) => chunked === true },
  { what: 'ALiBi', has: ({ alibi }) => alibi === true },
];

const normOf = (attention: AttentionSpec): QueryKeyNorm | undefined =>
  attention.kind === 'grouped-query' ? attention.queryKeyNorm : undefined;

const inFfn: readonly Missing<DenseFfn | MoeFfn>[] = [
  { what: 'shared experts', has: (ffn) => ffn.kind === 'moe' && ffn.shared !== undefined },
  { what: 'experts with biases', has: (ffn) => ffn.kind === 'moe' && ffn.bias === true },
  { what: 'a router with a bias', has: (ffn) => ffn.kind === 'moe' && ffn.routerBias === true },
  { what: 'a corrected choice of experts', has: (ffn) => ffn.kind === 'moe' && ffn.selectionBias === true },
  { what: 'experts weighed by sigmoid', has: (ffn) => ffn.kind === 'moe' && ffn.scoring === 'sigmoid' },
  { what: 'experts weighed by a softmax over all', has: (ffn) => ffn.kind === 'moe' && ffn.scoring === 'softmax-all' },
];

/** Parts of `model` that step programs cannot hold, in words; empty when it compiles. */
function missingIn(model: ModelSpec): readonly string[] {
  const found = inModel.filter(({ has }) => has(model)).map(({ what }) => what);
  for (const layer of new Set(model.layers)) {
    found.push(...inLayer.filter(({ has }) => has(layer)).map(({ what }) => what));
    found.push(...inAttention.filter(({ has }) => has(layer.attention)).map(({ what }) => what));
    found.push(...inFfn.filter(({ has }) => has(layer.ffn)).map(({ what }) => what));
  }
  return [...new Set(found)];
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
