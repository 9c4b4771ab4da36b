/** @file The keys of a layout as data: what files and flags may say, and the reference page `docs/reference/layout.md`. */
import type { DenseAxis } from '../mesh/index.ts';
import type { Layout } from './types.ts';

/** What a key takes. `set`: names joined by `+`, or `none`; `counts`: whole numbers joined by `-`; `axes`: short names of axes joined by `-`, fastest first;
 * `shards`: data ranks of one set of shards, where the layout holds the number of sets;
 * `overrides`: rows of layers with what they do, `0-9:full+20-29:none`. */
export type LayoutValueType = 'count' | 'real' | 'name' | 'switch' | 'set' | 'counts' | 'axes' | 'shards' | 'overrides';

/** One key of a layout. */
export interface LayoutKey {
  /** The key in files and in {@link Layout}. */
  readonly name: keyof Layout;
  /** The key in the short form `tp=8,pp=4`. */
  readonly short: string;
  /** Other names that are read. */
  readonly aliases: readonly string[];
  readonly type: LayoutValueType;
  /** Smallest value of a count; a real is greater than 0. */
  readonly min?: number;
  /** All values of a name, or all members of a set, as text; `sharding` takes them as numbers. */
  readonly names?: readonly string[];
  /** The default in words. */
  readonly fallback: string;
  readonly meaning: string;
}

/** All keys that are priced, in the order of the short form. */
export const layoutKeys: readonly LayoutKey[] = [
  {
    name: 'tensor',
    short: 'tp',
    aliases: [],
    type: 'count',
    min: 1,
    fallback: '1',
    meaning: 'Ranks that split each matrix: attention by heads, feed-forward by width, the vocabulary.',
  },
  {
    name: 'pipeline',
    short: 'pp',
    aliases: [],
    type: 'count',
    min: 1,
    fallback: '1',
    meaning: 'Stages, each with a row of layers.',
  },
  {
    name: 'data',
    short: 'dp',
    aliases: [],
    type: 'count',
    min: 1,
    fallback: 'GPUs / (tp pp cp)',
    meaning: 'Ranks that hold the same layers and take different sequences.',
  },
  {
    name: 'replicate',
    short: 'shard',
    aliases: [],
    type: 'shards',
    min: 1,
    fallback: 'all data ranks',
    meaning:
      'Data ranks that share out one set of shards (sharding 1 to 3); where there are more data ranks, sets repeat each other and their gradients are summed once a step (hybrid sharding). Also written `data: {shard: 8, replicate: 4}`.',
  },
  {
    name: 'context',
    short: 'cp',
    aliases: [],
    type: 'count',
    min: 1,
    fallback: '1',
    meaning: 'Ranks that split the sequence, in attention too; weights are shared out over data x context.',
  },
  {
    name: 'contextKind',
    short: 'cpkind',
    aliases: [],
    type: 'name',
    names: ['ring', 'all-to-all', 'all-gather', 'hybrid'],
    fallback: 'ring',
    meaning:
      'How context ranks meet keys and values: handed around, heads for tokens, all at once, or heads inside and a ring outside.',
  },
  {
    name: 'expert',
    short: 'ep',
    aliases: [],
    type: 'count',
    min: 1,
    fallback: '1',
    meaning:
      'Ranks that the experts of a layer are dealt out to; they are taken from tensor x context x data, and tokens travel to their experts and back.',
  },
  {
    name: 'expertTensor',
    short: 'etp',
    aliases: [],
    type: 'count',
    min: 1,
    fallback: "the framework's: 1 when expert > 1, else like tensor; Megatron-LM always like tensor",
    meaning: 'Ranks that cut each expert by its width.',
  },
  {
    name: 'chunks',
    short: 'vpp',
    aliases: [],
    type: 'count',
    min: 1,
    fallback: '1; 2 under zero-bubble-v and dualpipe-v',
    meaning:
      'Chunks of layers (virtual stages) per stage: more than one under interleaved-1f1b, two under zero-bubble-v and dualpipe-v.',
  },
  {
    name: 'microBatch',
    short: 'mbs',
    aliases: [],
    type: 'count',
    min: 1,
    fallback: '1',
    meaning: 'Sequences of a micro-batch.',
  },
  {
    name: 'sharding',
    short: 'zero',
    aliases: ['fsdp'],
    type: 'name',
    names: ['0', '1', '2', '3'],
    fallback: '0',
    meaning: 'What the data ranks share out: 0 nothing (DDP), 1 optimizer, 2 and gradients, 3 and weights (FSDP).',
  },
  {
    name: 'recompute',
    short: 'ac',
    aliases: [],
    type: 'name',
    names: ['none', 'selective', 'full'],
    fallback: 'none',
    meaning: 'Forward work done again in backward instead of kept: nothing, attention scores, whole layers.',
  },
  {
    name: 'layers',
    short: 'layers',
    aliases: [],
    type: 'overrides',
    fallback: 'none: all layers alike',
    meaning:
      'Layers that recompute otherwise than `recompute` says, counted from 0, ends included: `[{from: 0, to: 9, recompute: full}]`, as text `0-9:full`.',
  },
  {
    name: 'schedule',
    short: 'schedule',
    aliases: [],
    type: 'name',
    names: [
      'none',
      'naive',
      'gpipe',
      '1f1b',
      'interleaved-1f1b',
      'zero-bubble-h1',
      'zero-bubble-h2',
      'zero-bubble-v',
      'dualpipe',
      'dualpipe-v',
    ],
    fallback: '1f1b; interleaved-1f1b when chunks > 1; none when pipeline = 1',
    meaning:
      'Order in which stages take micro-batches forward and backward; zero-bubble and DualPipe split backward into input and weight parts.',
  },
  {
    name: 'sequenceParallel',
    short: 'sp',
    aliases: [],
    type: 'switch',
    fallback: 'on when tensor > 1',
    meaning: 'Between the split matrices each tensor rank keeps its part of the sequence.',
  },
  {
    name: 'keepGathered',
    short: 'keepgathered',
    aliases: [],
    type: 'switch',
    fallback: 'off',
    meaning: 'Gathered inputs are kept for the weight gradient instead of being gathered again.',
  },
  {
    name: 'lossChunks',
    short: 'losschunks',
    aliases: [],
    type: 'count',
    min: 1,
    fallback: '1',
    meaning: 'Pieces of the sequence in which the loss is taken: fewer logits alive, the output matrix used once more.',
  },
  {
    name: 'prefetch',
    short: 'prefetch',
    aliases: [],
    type: 'count',
    min: 0,
    fallback: '1',
    meaning: 'Units that may be gathered ahead of the one in use (sharding 3).',
  },
  {
    name: 'reshard',
    short: 'reshard',
    aliases: [],
    type: 'switch',
    fallback: 'on; off for torchtitan with pipeline > 1',
    meaning: 'Gathered weights are freed after use and gathered again, or kept from first to last use of the step.',
  },
  {
    name: 'bucketMB',
    short: 'bucket',
    aliases: [],
    type: 'real',
    fallback: '25',
    meaning: 'A bucket of gradients closes at this many MB (sharding 0 to 2).',
  },
  {
    name: 'gradientType',
    short: 'grad',
    aliases: [],
    type: 'name',
    names: ['bf16', 'fp32'],
    fallback: "the framework's: bf16; fp32 unless precision is bf16",
    meaning: 'Element type in which gradients are added up and exchanged.',
  },
  {
    name: 'gradientReduction',
    short: 'reduce',
    aliases: [],
    type: 'name',
    names: ['per-step', 'per-micro-batch'],
    fallback: 'per-step for sharding 0 and 1, per-micro-batch for 2 and 3',
    meaning: 'When gradients cross the data axis.',
  },
  {
    name: 'overlap',
    short: 'overlap',
    aliases: [],
    type: 'set',
    names: ['data', 'parameters', 'pipeline'],
    fallback: "the framework's: all three",
    meaning:
      'Exchanges that run beside compute: reductions of gradients (`data`), gathers of parameters (`parameters`), sends between stages (`pipeline`). One that is not named holds up what comes next: gradients are reduced behind the last backward, or each time before the next call where they are reduced per micro-batch; updated parameters are gathered before the first forward, and under sharding 3 nothing ahead, as with `prefetch` 0.',
  },
  {
    name: 'offload',
    short: 'offload',
    aliases: [],
    type: 'name',
    names: ['none', 'optimizer'],
    fallback: 'none',
    meaning:
      "What is kept in host memory: the optimizer's state, which the processors of the host then update; gradients are copied to them and new weights back.",
  },
  {
    name: 'layersPerStage',
    short: 'lps',
    aliases: [],
    type: 'counts',
    min: 1,
    fallback: 'balanced split',
    meaning:
      'Layers of each chunk in model order; chunk c of stage i stands at c x pipeline + i, under zero-bubble-v and dualpipe-v the second one at 2 x pipeline - 1 - i. Under dualpipe a stage also holds the layers of stage pipeline - 1 - i.',
  },
  {
    name: 'order',
    short: 'order',
    aliases: [],
    type: 'axes',
    fallback: "the framework's: tp-cp-ep-dp-pp",
    meaning: 'Axes of the mesh, fastest first: neighbours in rank differ in the first axis.',
  },
];

/** A key of the contract of which only the listed values are priced yet; anything else is `LAYOUT_KEY_NOT_YET`. */
export interface LaterLayoutKey {
  readonly name: string;
  readonly short: string;
  readonly aliases: readonly string[];
  /** Values that change nothing and are accepted, as text. */
  readonly accepts: readonly string[];
  readonly meaning: string;
}

/** Keys that may be written already, at their default. */
export const laterLayoutKeys: readonly LaterLayoutKey[] = [
  {
    name: 'unit',
    short: 'unit',
    aliases: [],
    accepts: ['block'],
    meaning: 'What is gathered at once under sharding 3.',
  },
];

/** Short names of axes, as in `order`. */
export const axisShortNames: Readonly<Record<DenseAxis, string>> = {
  tensor: 'tp',
  context: 'cp',
  expert: 'ep',
  data: 'dp',
  pipeline: 'pp',
};
