/** @file Heads, widths and the sequence: what tensor and context ranks cut. */
import { commonDivisors, divisorsOf, listed, multiplesAround, nearest } from '../../mesh/index.ts';
import type { FrameworkName } from '../types.ts';
import { type FrameworkRule, megatrons, rule } from './rule.ts';

const config = 'Megatron-LM, megatron/core/transformer/transformer_config.py';

/** Key and value heads are dealt out whole, and never copied. */
const wholeKvHeads = (frameworks: readonly FrameworkName[], source: string): FrameworkRule =>
  rule('KV_HEADS_NOT_DIVISIBLE', frameworks, source, ['heads', 'kvHeads', 'tensor'], ({ heads, kvHeads, tensor }) => {
    if (kvHeads % tensor === 0) return undefined;
    const fits = nearest(commonDivisors([kvHeads, heads]), tensor);
    return {
      key: 'tensor',
      message: `${kvHeads} key and value heads cannot be split over ${tensor} ranks.`,
      hint: `Use ${listed(fits)}.`,
      values: { kvHeads, tensor, fits },
    };
  });

/** Rules of heads and the sequence. */
export const attentionRules: readonly FrameworkRule[] = [
  rule(
    'HEADS_NOT_DIVISIBLE',
    [...megatrons, 'torchtitan', 'deepspeed', 'fsdp', 'nanotron'],
    `${config}; nanotron, src/nanotron/models/llama.py; DTensor and AutoTP cut the same dim`,
    ['heads', 'tensor'],
    ({ heads, tensor }) => {
      if (heads % tensor === 0) return undefined;
      const fits = nearest(divisorsOf(heads), tensor);
      return {
        key: 'tensor',
        message: `${heads} query heads cannot be split over ${tensor} ranks.`,
        hint: `Use ${listed(fits)}.`,
        values: { heads, tensor, fits },
      };
    },
  ),
  rule(
    'KV_HEADS_NOT_DIVISIBLE',
    megatrons,
    `${config}: num_query_groups % tp or tp % num_query_groups; heads are copied where tensor is larger`,
    ['heads', 'kvHeads', 'tensor'],
    ({ heads, kvHeads, tensor }) => {
      if (kvHeads % tensor === 0 || tensor % kvHeads === 0) return undefined;
      const fits = divisorsOf(heads).filter((each) => kvHeads % each === 0 || each % kvHeads === 0);
      return {
        key: 'tensor',
        message: `${kvHeads} key and value heads and tensor ${tensor} do not divide one another.`,
        hint: `Use ${listed(nearest(fits, tensor))}.`,
        values: { kvHeads, tensor, fits: nearest(fits, tensor) },
      };
    },
  ),
  wholeKvHeads(
    ['torchtitan'],
    'torchtitan, issue 2574 and pull request 2577; issue 932 shows the error of shapes before',
  ),
  wholeKvHeads(['fsdp'], 'transformers, issue 48307: tensor parallelism of its own does not copy heads'),
  wholeKvHeads(['deepspeed'], 'DeepSpeed, issue 7259: AutoTP does not copy heads'),
  wholeKvHeads(['nanotron'], 'nanotron, src/nanotron/models/llama.py: num_key_value_heads % tp'),
  rule(
    'HEADS_NOT_OVER_CONTEXT',
    ['deepspeed'],
    'DeepSpeed, deepspeed/sequence/layer.py and runtime/sequence_parallel/ulysses_sp.py',
    ['heads', 'kvHeads', 'context'],
    ({ heads, kvHeads, context }) => {
      const whole = heads % context === 0 && (kvHeads % context === 0 || context % kvHeads === 0);
      if (whole) return undefined;
      const fits = divisorsOf(heads).filter((each) => kvHeads % each === 0 || each % kvHeads === 0);
      return {
        key: 'context',
        message: `${heads} query heads with ${kvHeads} of keys and values cannot be dealt out to ${context} sequence ranks.`,
        hint: `Use ${listed(nearest(fits, context))}.`,
        values: { heads, kvHeads, context, fits: nearest(fits, context) },
      };
    },
  ),
  rule(
    'LINEAR_HEADS_NOT_DIVISIBLE',
    megatrons,
    `${config}: linear_num_key_heads and linear_num_value_heads % (tp x cp), value heads % key heads`,
    ['linearKeyHeads', 'linearValueHeads', 'tensor'],
    ({ linearKeyHeads, linearValueHeads, tensor }, { context = 1 }) => {
      const ranks = tensor * context;
      const heads = [linearKeyHeads, linearValueHeads];
      if (heads.every((each) => each % ranks === 0) && linearValueHeads % linearKeyHeads === 0) return undefined;
      const fits = nearest(
        commonDivisors(heads).filter((each) => each % context === 0),
        ranks,
      ).map((each) => each / context);
      return {
        key: 'tensor',
        message: `${linearKeyHeads} key and ${linearValueHeads} value heads of linear attention cannot be split over ${ranks} ranks.`,
        hint: fits.length > 0 ? `Use tensor ${listed(fits)}.` : 'Use fewer context ranks.',
        values: {
          linearKeyHeads,
          linearValueHeads,
          tensor,
          context,
          ...(linearValueHeads % linearKeyHeads === 0 && { fits }),
        },
      };
    },
  ),
  rule(
    'HIDDEN_NOT_HEADS',
    megatrons,
    `${config}: hidden_size % num_attention_heads unless kv_channels is given`,
    ['hidden', 'heads'],
    ({ hidden, heads }, { headSize }) => {
      if (headSize !== undefined || hidden % heads === 0) return undefined;
      const fits = nearest(divisorsOf(hidden), heads);
      return {
        key: 'heads',
        message: `a model of width ${hidden} has no whole head size with ${heads} heads.`,
        hint: `Give the size of a head, or use ${listed(fits)} heads.`,
        values: { hidden, heads, fits },
      };
    },
  ),
  rule(
    'LENGTH_NOT_OVER_CONTEXT',
    megatrons,
    'Megatron-LM, megatron/training/arguments.py: seq_length % (2 x cp), two pieces a rank against the imbalance of the mask',
    ['length', 'context'],
    ({ length, context }) => lengthFinding(length, context, 2 * context),
  ),
  rule(
    'LENGTH_NOT_OVER_CONTEXT',
    ['torchtitan'],
    'torchtitan, torchtitan/distributed/parallel_dims.py, seq_len_divisor: tp x 2 cp',
    ['length', 'context', 'tensor'],
    ({ length, context, tensor }) => lengthFinding(length, context, 2 * context * tensor),
  ),
  rule(
    'SEQUENCE_NOT_DIVISIBLE',
    ['torchtitan', ...megatrons],
    'torchtitan, issue 1306: wrong shapes without a warning; Megatron-LM, arguments.py: seq_length % tp',
    ['length', 'tensor', 'sequenceParallel'],
    ({ length, tensor, sequenceParallel }) => {
      if (!sequenceParallel || length % tensor === 0) return undefined;
      const lengths = multiplesAround(length, tensor);
      return {
        key: 'length',
        message: `sequences of ${length} tokens cannot be split over ${tensor} ranks.`,
        hint: `Turn sequence parallelism off, or use a length of ${listed(lengths)}.`,
        values: { length, tensor, fits: lengths },
      };
    },
  ),
  rule(
    'SEQUENCE_PARALLEL_NEEDS_TENSOR',
    megatrons,
    'Megatron-LM, megatron/core/model_parallel_config.py: refused, or turned off by arguments.py',
    ['sequenceParallel', 'tensor'],
    ({ sequenceParallel, tensor }) =>
      !sequenceParallel || tensor > 1
        ? undefined
        : {
            key: 'sequenceParallel',
            message: 'sequence parallelism is on and tensor is 1.',
            hint: 'Turn it off, or use tensor 2 or more.',
            values: { tensor },
          },
  ),
  rule(
    'CONTEXT_LEVELS_NOT_CONTEXT',
    megatrons,
    `${config}: the product of hierarchical_context_parallel_sizes is cp; a2a+p2p needs them`,
    ['context', 'contextLevels'],
    ({ context, contextLevels }) => {
      const levels = contextLevels.reduce((all, each) => all * each, 1);
      if (levels === context) return undefined;
      return {
        key: 'contextLevels',
        message: `levels of ${contextLevels.join(' x ')} are ${levels} and not the ${context} context ranks.`,
        hint: `Use levels whose product is ${context}.`,
        values: { context, levels: contextLevels },
      };
    },
  ),
];

function lengthFinding(length: number, context: number, divisor: number) {
  if (context === 1 || length % divisor === 0) return undefined;
  const lengths = multiplesAround(length, divisor);
  return {
    key: 'length' as const,
    message: `sequences of ${length} tokens are no multiple of ${divisor}, two pieces for each of ${context} context ranks.`,
    hint: `Use a length of ${listed(lengths)}.`,
    values: { length, context, divisor, fits: lengths },
  };
}
