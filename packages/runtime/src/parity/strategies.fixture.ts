/** What layouts are drawn from, and which strategies a layout holds. A new key of layouts is one more entry of `choices`, and
 * one more group of `strategyGroups`; pairs that can never stand together are named, with the reason, in `apart`.
 */
import type { Job } from '@meshwright/core/job';
import { hasExpertGrid, type Layout, type LayoutRequest } from '@meshwright/core/layout';
import type { ModelName } from './layouts.fixture.ts';

/** What one draw asks for. */
export interface Asked {
  readonly model?: ModelName;
  /** Tokens of a sequence. */
  readonly length?: number;
  readonly kernels?: Job['kernels'];
  readonly layout?: LayoutRequest;
}

const asks = (...layouts: readonly LayoutRequest[]): readonly Asked[] => layouts.map((layout) => ({ layout }));
const models = (...names: readonly ModelName[]): readonly Asked[] => names.map((model) => ({ model }));

/** Every schedule that runs; 4 positions where a stage has two chunks. */
const pipelines: readonly LayoutRequest[] = [
  { pipeline: 2 },
  { pipeline: 4 },
  { pipeline: 2, chunks: 2 },
  { pipeline: 2, schedule: 'gpipe' },
  { pipeline: 4, schedule: 'gpipe' },
  { pipeline: 2, schedule: 'naive' },
  { pipeline: 2, schedule: 'zero-bubble-h1' },
  { pipeline: 2, schedule: 'zero-bubble-h2' },
  { pipeline: 2, chunks: 2, schedule: 'zero-bubble-v' },
  { pipeline: 2, schedule: 'dualpipe' },
  { pipeline: 2, chunks: 2, schedule: 'dualpipe-v' },
];

/** Names of all schedules that are drawn; `none` is that of one stage. */
export const runningSchedules: ReadonlySet<string> = new Set([
  ...['none', '1f1b', 'interleaved-1f1b'],
  ...pipelines.flatMap(({ schedule }) => schedule ?? []),
]);

/** With more layers at some positions than at others, and none behind the last of four. */
const unevenly = (request: LayoutRequest): LayoutRequest => ({
  ...request,
  layersPerStage: (request.pipeline ?? 1) * (request.chunks ?? 1) === 2 ? [3, 1] : [1, 2, 1, 0],
});

/** What may be asked for, key by key: one of each is drawn. What stands twice is drawn twice as often. */
export const choices: Readonly<Record<string, readonly Asked[]>> = {
  model: [
    ...models('gpt2', 'gpt2', 'wide', 'llama', 'moe', 'moe', 'tied experts', 'tied experts'),
    ...models('norms on queries and keys', 'norms behind, scaled embedding', 'side by side with one norm, biases'),
    ...models(
      'capped scores and logits',
      'a window',
      'fused tensors',
      'shared experts, corrected choice in groups by sigmoid',
    ),
    ...models('latent attention, queries from the hidden state', 'latent attention, narrow queries with biases'),
  ],
  length: [{}, {}, { length: 16 }],
  kernels: [
    ...[{}, {}, {}],
    { kernels: { attention: 'unfused', dropout: 0 } },
    { kernels: { attention: 'unfused', dropout: 0.2 } },
    { kernels: { attention: 'flash', dropout: 0.2 } },
  ],
  tensor: asks(
    ...[{}, {}, { tensor: 2, sequenceParallel: false }, { tensor: 2, sequenceParallel: true }],
    ...[
      { tensor: 4, sequenceParallel: true },
      { tensor: 4, sequenceParallel: false },
    ],
  ),
  keepGathered: asks({}, { keepGathered: true }),
  pipeline: [...asks({}, {}, {}), ...asks(...pipelines), ...asks(...pipelines.map(unevenly))],
  data: asks({}, {}, { data: 2 }, { data: 2 }, { data: 4 }, { data: 4, replicate: 2 }),
  sharding: asks({ sharding: 0, bucketMB: 0.01 }, { sharding: 1 }, { sharding: 2 }, { sharding: 3 }),
  gathering: asks({}, {}, { prefetch: 0 }, { reshard: false }, { gradientReduction: 'per-step' }),
  context: asks(
    ...[{}, {}, {}],
    { context: 2, contextKind: 'ring' },
    { context: 2, contextKind: 'all-to-all' },
    { context: 2, contextKind: 'all-gather' },
    { context: 4, contextKind: 'hybrid' },
  ),
  expert: asks({}, {}, { expert: 2 }, { expert: 4 }),
  expertTensor: asks({}, {}, { expertTensor: 1 }, { expertTensor: 2 }),
  recompute: asks({}, {}, { recompute: 'full' }, { recompute: 'selective' }),
  layers: asks(
    ...[{}, {}, {}],
    { layers: [{ from: 0, to: 0, recompute: 'full' }] },
    { layers: [{ from: 0, to: 0, recompute: 'none' }] },
  ),
  offload: asks({}, {}, { offload: 'optimizer' }),
  loss: asks({}, {}, { lossChunks: 2 }),
  microBatch: asks({ microBatch: 1 }, { microBatch: 1 }, { microBatch: 2 }),
  order: asks({}, {}, { order: ['pipeline', 'context', 'data', 'tensor'] }),
};

type Holds = (layout: Layout, job: Job) => boolean;

const replicas = ({ data, context }: Layout): number => data * context;
const sharded =
  (degree: Layout['sharding']): Holds =>
  (layout) =>
    replicas(layout) > 1 && layout.sharding === degree;
const scheduled =
  (...names: readonly Layout['schedule'][]): Holds =>
  ({ schedule }) =>
    names.includes(schedule);
const shared =
  (kind: Layout['contextKind']): Holds =>
  ({ context, contextKind }) =>
    context > 1 && contextKind === kind;

/** Every strategy that a layout may hold; pairs of them are counted. Those of one group exclude one another. */
export const strategyGroups: Readonly<Record<string, Readonly<Record<string, Holds>>>> = {
  sharding: { DDP: sharded(0), 'ZeRO-1': sharded(1), 'ZeRO-2': sharded(2), 'ZeRO-3': sharded(3) },
  tensor: {
    tensor: ({ tensor, sequenceParallel }) => tensor > 1 && !sequenceParallel,
    sequence: ({ tensor, sequenceParallel }) => tensor > 1 && sequenceParallel,
  },
  schedule: {
    '1F1B': scheduled('1f1b'),
    GPipe: scheduled('gpipe'),
    naive: scheduled('naive'),
    interleaved: scheduled('interleaved-1f1b'),
    'zero bubble': scheduled('zero-bubble-h1', 'zero-bubble-h2', 'zero-bubble-v'),
    'from both ends': scheduled('dualpipe', 'dualpipe-v'),
  },
  context: {
    ring: shared('ring'),
    'all-to-all': shared('all-to-all'),
    'all-gather': shared('all-gather'),
    hybrid: shared('hybrid'),
  },
  recompute: {
    'full recompute': ({ recompute }) => recompute === 'full',
    'selective recompute': ({ recompute }) => recompute === 'selective',
  },
  layers: { 'layers of their own': ({ layers }) => layers.length > 0 },
  offload: { offload: ({ offload }) => offload === 'optimizer' },
  experts: { experts: (_, { model }) => model.layers.some(({ ffn }) => ffn.kind === 'moe') },
  expert: { expert: ({ expert }) => expert > 1 },
  expertTensor: { 'expert tensor': (layout) => hasExpertGrid(layout) && layout.expertTensor > 1 },
  stages: { 'uneven stages': ({ layersPerStage }) => new Set(layersPerStage).size > 1 },
  sets: { 'sets of shards': ({ replicate }) => replicate > 1 },
  replicas: { 'data ranks': ({ data }) => data > 1 },
  tied: { tied: (_, { model }) => model.tied },
  grouped: {
    'grouped queries': (_, { model }) => model.layers.some(({ attention }) => attention.kvHeads < attention.heads),
  },
  latent: { latent: (_, { model }) => model.layers.some(({ attention }) => attention.kind === 'latent') },
  kernels: { unfused: (_, { kernels }) => kernels.attention === 'unfused' },
  dropout: { dropout: (_, { kernels }) => kernels.dropout > 0 },
  gathered: { 'kept gathers': ({ keepGathered }) => keepGathered },
  resharding: { 'kept weights': ({ reshard }) => !reshard },
  reduction: {
    'summed each micro-batch': (layout) => replicas(layout) > 1 && layout.gradientReduction === 'per-micro-batch',
  },
  loss: { 'loss in pieces': ({ lossChunks }) => lossChunks > 1 },
  order: { 'another order': ({ order }) => order[0] === 'pipeline' },
};

/** Pairs of different groups that cannot stand together: one with each of the others. */
export const apart: readonly { readonly one: string; readonly others: readonly string[]; readonly because: string }[] =
  [
    { one: 'sets of shards', others: ['DDP'], because: 'without sharding there are no shards' },
    { one: 'kept weights', others: ['DDP', 'ZeRO-1', 'ZeRO-2'], because: 'only gathered weights can be kept' },
    { one: 'summed each micro-batch', others: ['DDP', 'ZeRO-1'], because: 'whole gradients are summed once a step' },
    { one: 'tensor', others: ['expert', 'expert tensor'], because: 'each tensor rank sends tokens of its own' },
    { one: 'tensor', others: ['kept gathers'], because: 'nothing is gathered without sequence parallelism' },
    {
      one: 'sets of shards',
      others: ['from both ends'],
      because: '4 data ranks leave 2 of 8 sequences, and it needs 4',
    },
    ...['ring', 'all-to-all', 'all-gather', 'hybrid'].map((one) => ({
      one,
      others: ['selective recompute', 'unfused', 'latent'],
      because: 'context ranks merge blocks of blockwise attention by their statistics',
    })),
    {
      one: 'latent',
      others: ['grouped queries', 'unfused'],
      because: 'latent attention has keys for every head, blockwise',
    },
  ];
