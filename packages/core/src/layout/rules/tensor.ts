/** @file Rules of the tensor axis: what each matrix and the sequence are split over. */
import type { Code } from '../../errors/index.ts';
import { commonDivisors, divisorsOf, listed, multiplesAround, nearest } from '../../mesh/index.ts';
import type { AttentionSpec } from '../../model/index.ts';
import type { LayoutJob } from '../job.ts';
import { distinctLayers, type LayoutRule } from './rule.ts';

const headsOf = (job: LayoutJob): readonly number[] => distinctLayers(job).map((layer) => layer.attention.heads);

const normsAllHeads = (attention: AttentionSpec): boolean =>
  attention.kind === 'grouped-query' && attention.queryKeyNorm === 'projection';

/** Degrees that divide `sizes`, and the heads, without which no other divisor helps. */
const fitting = (job: LayoutJob, sizes: readonly number[], tensor: number): readonly number[] =>
  nearest(commonDivisors([...sizes, ...headsOf(job)]), tensor);

/** Every tensor rank holds an equal share of `sizes`; `what` phrases one of them: "32 query heads". */
function divides(
  code: Code,
  source: string,
  sizes: (job: LayoutJob) => readonly number[],
  what: (size: number) => string,
): LayoutRule<'tensor'> {
  return {
    code,
    key: 'tensor',
    reads: ['tensor'],
    source,
    find: (job, { tensor }) => {
      const all = sizes(job);
      const size = all.find((each) => each % tensor !== 0);
      if (size === undefined) return undefined;
      const fits = fitting(job, all, tensor);
      return {
        message: `${what(size)} cannot be split over ${tensor} ranks.`,
        hint: `Use ${listed(fits)}.`,
        values: { size, tensor, fits },
      };
    },
  };
}

/** Widths that tensor cuts: not those of routed experts, which expertTensor cuts. */
const denseWidths = ({ ffn }: LayoutJob['model']['layers'][number]): readonly number[] =>
  ffn.kind === 'dense' ? [ffn.width] : ffn.shared ? [ffn.shared.width] : [];

const megatron = 'Megatron-LM, megatron/core/transformer/transformer_config.py and training/arguments.py';

/** Rules that read the model and the tensor degree only. */
export const tensorRules: readonly LayoutRule<'tensor'>[] = [
  divides('HEADS_NOT_DIVISIBLE', megatron, headsOf, (size) => `${size} query heads`),
  divides(
    'KV_HEADS_NOT_DIVISIBLE',
    'torchtitan, pull request 2577; Megatron-LM replicates heads instead',
    (job) => distinctLayers(job).map((layer) => layer.attention.kvHeads),
    (size) => `${size} key and value ${size === 1 ? 'head' : 'heads'}`,
  ),
  divides(
    'QUERY_KEY_NORM_NOT_SPLIT',
    'transformers, models/olmo2/modeling_olmo2.py: one norm over the queries of all heads; a split one needs one more sum',
    (job) => distinctLayers(job).flatMap(({ attention }) => (normsAllHeads(attention) ? [1] : [])),
    () => 'the norm over the queries of all heads',
  ),
  divides(
    'FFN_NOT_DIVISIBLE',
    megatron,
    (job) => distinctLayers(job).flatMap(denseWidths),
    (size) => `a feed-forward of width ${size}`,
  ),
  divides(
    'HIDDEN_NOT_DIVISIBLE',
    megatron,
    (job) => [job.model.hidden],
    (size) => `a model of width ${size}`,
  ),
  {
    code: 'VOCABULARY_NOT_DIVISIBLE',
    key: 'tensor',
    reads: ['tensor'],
    source: 'Megatron-LM pads to make-vocab-size-divisible-by x tensor; issue 1754: training diverges when it does not',
    find: (job, { tensor }) => {
      const { vocabulary } = job.model;
      if (vocabulary % tensor === 0) return undefined;
      const padded = Math.ceil(vocabulary / tensor) * tensor;
      const fits = fitting(job, [vocabulary], tensor);
      return {
        message: `a vocabulary of ${vocabulary} cannot be split over ${tensor} ranks.`,
        hint: `Pad the vocabulary of the model to ${padded}, or use ${listed(fits)}.`,
        values: { vocabulary, tensor, padded, fits },
      };
    },
  },
];

/** Rules of the loss. */
export const lossRules: readonly LayoutRule<'context' | 'lossChunks'>[] = [
  {
    code: 'LOSS_CHUNKS_NOT_DIVISIBLE',
    key: 'lossChunks',
    reads: ['context', 'lossChunks'],
    source: 'this program: pieces of the loss are equal rows of the sequence of a rank, of both its rows under context',
    find: (job, { context, lossChunks }) => {
      // A context rank holds two rows of tokens, one from each end of the balanced cut; a piece takes its part of both.
      const length = job.batch.length / (context > 1 ? 2 * context : 1);
      if (!Number.isInteger(length) || length % lossChunks === 0) return undefined;
      const fits = nearest(divisorsOf(length), lossChunks);
      const what = context > 1 ? 'each of the two rows of a sequence' : 'a sequence';
      return {
        message: `the ${length} tokens of ${what} on one rank cannot be split into ${lossChunks} pieces.`,
        hint: `Use ${listed(fits)}.`,
        values: { length, lossChunks, fits },
      };
    },
  },
];

/** Rules of sequence parallelism. */
export const sequenceRules: readonly LayoutRule<'tensor' | 'context' | 'sequenceParallel'>[] = [
  {
    code: 'SEQUENCE_PARALLEL_NEEDS_TENSOR',
    key: 'sequenceParallel',
    reads: ['tensor', 'sequenceParallel'],
    source: 'Megatron-LM, megatron/core/model_parallel_config.py',
    find: (_job, { tensor, sequenceParallel }) => {
      if (!sequenceParallel || tensor > 1) return undefined;
      return {
        message: 'sequence parallelism is on and tensor is 1.',
        hint: 'Turn it off, or use tensor 2 or more.',
        values: { tensor },
      };
    },
  },
  {
    code: 'SEQUENCE_NOT_DIVISIBLE',
    key: 'sequenceParallel',
    reads: ['tensor', 'context', 'sequenceParallel'],
    source: 'torchtitan, issue 1306: wrong shapes without a warning; Megatron-LM: with context, 2 x context x tensor',
    find: (job, { tensor, context, sequenceParallel }) => {
      const { length } = job.batch;
      const pieces = context > 1 ? 2 * context * tensor : tensor;
      if (!sequenceParallel || length % pieces === 0) return undefined;
      const lengths = multiplesAround(length, pieces);
      const ways = context > 1 ? `2 x context ${context} x ${tensor}` : `${tensor}`;
      return {
        message: `sequences of ${length} tokens cannot be split over ${ways} ranks.`,
        hint: `Turn sequence parallelism off, or use a length of ${listed(lengths)}.`,
        values: { length, tensor, lengths },
      };
    },
  },
];
