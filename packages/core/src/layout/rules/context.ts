/** @file Rules of the context axis. */
import { commonDivisors, divisorsOf, listed, multiplesAround, nearest } from '../../mesh/index.ts';
import type { AttentionSpec } from '../../model/index.ts';
import { headRanks } from '../context.ts';
import type { LayoutJob } from '../job.ts';
import { distinctLayers, type LayoutRule } from './rule.ts';

/** Rules of context ranks; none speaks where there is one. */
export const contextRules: readonly LayoutRule<'context' | 'contextKind' | 'tensor'>[] = [
  {
    code: 'CONTEXT_SEQUENCE_NOT_DIVISIBLE',
    key: 'context',
    reads: ['context'],
    source:
      'Megatron-LM, megatron/core/utils.py: sequences are cut into 2 x context pieces, so that causal work is balanced',
    find: (job, { context }) => {
      const { length } = job.batch;
      if (context === 1 || length % (2 * context) === 0) return undefined;
      const lengths = multiplesAround(length, 2 * context);
      const fits = length % 2 === 0 ? nearest(divisorsOf(length / 2), context) : [1];
      return {
        message: `sequences of ${length} tokens cannot be cut into 2 x ${context} equal pieces.`,
        hint: `Use ${listed(fits)}, or a length of ${listed(lengths)}.`,
        values: { length, context, lengths, fits },
      };
    },
  },
  {
    code: 'CONTEXT_HEADS_NOT_DIVISIBLE',
    key: 'contextKind',
    reads: ['context', 'contextKind', 'tensor'],
    source: 'DeepSpeed Ulysses, deepspeed/sequence/layer.py; Megatron-LM: all-to-all splits the heads of a tensor rank',
    find: (job, layout) => {
      const { context, contextKind, tensor } = layout;
      if (context === 1 || contextKind === 'ring' || contextKind === 'all-gather') return undefined;
      const heads = distinctLayers(job).flatMap(({ attention }) => [
        attention.heads / tensor,
        attention.kvHeads / tensor,
      ]);
      if (!heads.every(Number.isInteger)) return undefined;
      const swap = headRanks(layout, heads);
      if (swap > 1 && heads.every((count) => count % swap === 0)) return undefined;
      const fewest = Math.min(...heads);
      const fits = commonDivisors(heads);
      const what = contextKind === 'hybrid' ? 'shared out by a part of' : 'shared out by';
      return {
        message: `the ${fewest} heads of keys and values of a tensor rank cannot be ${what} ${context} context ranks.`,
        hint: `Use cpkind ring or all-gather, or context ${listed(fits)}.`,
        values: { heads: fewest, context, contextKind, fits: ['ring', 'all-gather'] },
      };
    },
  },
  {
    code: 'CONTEXT_ATTENTION_NOT_SPLIT',
    key: 'context',
    reads: ['context'],
    source:
      'this program: blocks of blockwise attention are merged by their statistics, which other kinds do not have yet',
    find: (job, { context }) => {
      if (context === 1) return undefined;
      const kind = unsplit(job);
      if (kind === undefined) return undefined;
      return {
        message: `${kind} cannot be shared by ${context} context ranks.`,
        hint: kind === UNFUSED ? 'Use kernels.attention flash, or context 1.' : 'Use context 1.',
        values: { kind, context, fits: [1] },
      };
    },
  },
];

const UNFUSED = 'attention that writes its scores';

/** What context ranks cannot share, in words. */
function unsplit(job: LayoutJob): string | undefined {
  if (job.kernels.attention === 'unfused') return UNFUSED;
  return distinctLayers(job)
    .map(({ attention }) => unsplitKind(attention))
    .find((kind) => kind !== undefined);
}

function unsplitKind(attention: AttentionSpec): string | undefined {
  if (attention.kind === 'latent') return 'latent attention';
  if (attention.sinks) return 'attention with sinks';
  if (attention.alibi) return 'attention with linear biases';
  return attention.chunked ? 'attention in chunks' : undefined;
}
