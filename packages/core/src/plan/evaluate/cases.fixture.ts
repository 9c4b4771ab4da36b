/** @file Small jobs under layouts of every kind, with real and with made-up prices, for properties of the evaluation. */
import fc from 'fast-check';
import { clusterFromRequest } from '../../cluster/index.ts';
import type { ExchangeRequest, PriceBook, Prices } from '../../cost/index.ts';
import { createPriceBook } from '../../cost/index.ts';
import { createJob, type Job, type Precision } from '../../job/index.ts';
import { checkLayout, hasExpertGrid, type Layout, normalizeLayout, overlapKinds } from '../../layout/index.ts';
import { overrideDraws, overridesFor } from '../../layout/overrides.fixture.ts';
import { defaultOrder } from '../../mesh/index.ts';
import { type ModelDimensions, type ModelSpec, modelFromDimensions } from '../../model/index.ts';
import { type Mixed, mixedModel } from '../../model/mixed.fixture.ts';
import type { Work } from '../../program/index.ts';
import { type Seconds, seconds } from '../../units/index.ts';

/** A job, a layout, and what the evaluation shall pay. */
export interface EvaluationCase {
  readonly job: Job;
  readonly layout: Layout;
  readonly book: Pick<PriceBook, 'pricesOf'>;
  readonly [fc.toStringMethod]: () => string;
}

/** Grid, data axis and model of a case before it is legal. */
interface Choice {
  readonly model: ModelName;
  /** Which targets of the model have adapters; 0: none, all weights are trained. */
  readonly adapters: number;
  readonly job: {
    readonly attention: 'flash' | 'unfused';
    readonly dropout: number;
    readonly precision: Precision;
    readonly optimizer: Job['optimizer'];
  };
  readonly grid: Pick<Layout, 'pipeline' | 'chunks' | 'schedule' | 'layersPerStage'>;
  readonly rounds: number;
  readonly rest: Omit<Layout, 'pipeline' | 'chunks' | 'schedule' | 'layersPerStage' | 'order'>;
  readonly order: number;
  /** Of made-up prices; 0 for those of the cluster. */
  readonly seed: number;
}

const sizes = { hidden: 32, heads: 4, ffn: 64, vocab: 64, positions: 8 };
const models = {
  gpt2: { kind: 'gpt2', ...sizes },
  'gpt2-untied': { kind: 'gpt2', ...sizes, tied: false },
  llama: { kind: 'llama', ...sizes, kvHeads: 4 },
  'llama-tied': { kind: 'llama', ...sizes, kvHeads: 4, tied: true },
  mixtral: { kind: 'mixtral', ...sizes, kvHeads: 4, experts: 4, topK: 2 },
} as const satisfies Record<string, Omit<ModelDimensions, 'layers'>>;
const mixed = ['windows', 'experts', 'leading', 'latent'] as const satisfies readonly Mixed[];

type ModelName = keyof typeof models | Mixed;
const modelNames: readonly ModelName[] = [...(Object.keys(models) as (keyof typeof models)[]), ...mixed];

const modelsWithExperts: readonly ModelName[] = ['mixtral', 'mixtral', 'experts', 'leading'];

function modelOf(name: ModelName, layers: number): ModelSpec {
  const kind = mixed.find((each) => each === name);
  if (kind) return mixedModel(kind, { ...sizes, kvHeads: 4, layers });
  const { model } = modelFromDimensions({ ...models[name as keyof typeof models], layers }, 'model');
  if (!model) throw new Error('internal: the fixture is broken.');
  return model;
}

const orders = [
  defaultOrder,
  ['data', 'tensor', 'pipeline', 'context', 'expert'],
  ['pipeline', 'data', 'tensor', 'context', 'expert'],
] as const satisfies readonly Layout['order'][];

const targetsOf = (name: ModelName): readonly (readonly string[])[] => {
  switch (name) {
    case 'gpt2':
    case 'gpt2-untied':
      return [['c_attn'], ['c_proj', 'c_fc']];
    case 'mixtral':
    case 'experts':
    case 'leading':
      return [['q_proj', 'o_proj'], ['v_proj']];
    case 'latent':
      return [];
    default:
      return [['q_proj', 'v_proj'], ['all-linear'], ['down_proj']];
  }
};

function caseOf({
  model: name,
  adapters,
  job: facts,
  grid,
  rounds,
  rest,
  order,
  seed,
}: Choice): EvaluationCase | undefined {
  const layers = grid.layersPerStage.reduce((sum, each) => sum + each, 0);
  const { cluster } = clusterFromRequest('32x dgx-h100', 'cluster');
  const model = modelOf(name, layers);
  if (!cluster) throw new Error('internal: the fixture is broken.');
  const { dropout, precision, optimizer } = facts;
  const attention = name === 'latent' ? 'flash' : facts.attention;
  const microBatches = microBatchesOf(grid, rounds);
  const batch = { sequences: microBatches * rest.data * rest.microBatch, length: 8 };
  const targets = targetsOf(name)[adapters - 1];
  const job = createJob({
    ...{ name, model, cluster, batch, precision, optimizer, kernels: { attention, dropout } },
    ...(targets && { workload: { lora: { rank: 4, alpha: 8, targets } } }),
  });
  const layout = normalizeLayout(job, {
    ...grid,
    ...rest,
    layers: rest.layers.filter(({ to }) => to < layers),
    expertTensor: rest.expertTensor === 0 ? rest.tensor : rest.expertTensor,
    order: orders[order] ?? defaultOrder,
  });
  if (!checkLayout(job, layout).every(({ code, severity }) => code === 'DEGREES_NOT_GPUS' || severity !== 'error')) {
    return undefined;
  }
  const book = seed === 0 ? createPriceBook(cluster) : madeUpBook(seed);
  const words = `${name} ${targets ?? 'whole'} ${Object.values(facts).join(' ')}, ${microBatches} micro-batches, prices ${seed}: `;
  return { job, layout, book, [fc.toStringMethod]: () => words + JSON.stringify(layout) };
}

/** A round is a micro-batch for each stage where chunks take turns; DualPipe needs two for each stage, and even ones. */
function microBatchesOf({ schedule, pipeline }: Choice['grid'], rounds: number): number {
  if (schedule === 'dualpipe') return 2 * pipeline + 2 * (rounds - 1);
  return schedule === 'interleaved-1f1b' ? rounds * pipeline : rounds;
}

/** Durations that look random and are the same each time: a hash of what is asked. */
function madeUpBook(seed: number): Pick<PriceBook, 'pricesOf'> {
  const launches = [0, 0.05, 1.5];
  const prices: Prices = {
    compute: (work) => hashed(seed, workNumbers(work)),
    hostCopy: (bytes) => hashed(seed, [bytes, 7]),
    hostPass: (bytes) => hashed(seed, [bytes, 11]),
    exchange: (request) => hashed(seed, exchangeNumbers(request)),
    busiest: () => 1,
    launch: (work) => seconds((launches[seed % 3] ?? 0) * (work.kind === 'gemm' ? work.batch : 1)),
    launchCompute: seconds(launches[seed % 3] ?? 0),
    launchExchange: seconds(launches[Math.floor(seed / 3) % 3] ?? 0),
    linkOf: () => {
      throw new Error('internal: a made-up link.');
    },
    tiersOf: () => {
      throw new Error('internal: a made-up link.');
    },
    assumptions: [],
  };
  return { pricesOf: () => prices };
}

const workNumbers = (work: Work): readonly number[] => [work.flops, work.bytesRead, work.bytesWritten];
const exchangeNumbers = ({ kind, bytes, axes, members, part }: ExchangeRequest): readonly number[] => [
  kind.length,
  bytes,
  axes.join().charCodeAt(0),
  members === 'ends' ? 1 : 0,
  part === undefined ? 0 : part.count * 64 + part.step,
];

function hashed(seed: number, numbers: readonly number[]): Seconds {
  let hash = seed;
  for (const number of numbers) hash = Math.imul(hash ^ number ^ (number / 65_536), 2_654_435_761) ^ (hash >>> 13);
  // Never 0: what takes no time at all is not there.
  return seconds(((hash >>> 22) + 1) / 1024);
}

const grid = (pipeline: number, chunks: number, schedule: Layout['schedule']): fc.Arbitrary<Choice['grid']> =>
  fc
    .array(fc.integer({ min: 1, max: 3 }), { minLength: pipeline * chunks, maxLength: pipeline * chunks })
    .map((layersPerStage) => ({ pipeline, chunks, schedule, layersPerStage }));

const interleaved: readonly fc.Arbitrary<Choice['grid']>[] = [
  grid(2, 2, 'interleaved-1f1b'),
  grid(2, 3, 'interleaved-1f1b'),
  grid(3, 2, 'interleaved-1f1b'),
  grid(4, 2, 'interleaved-1f1b'),
];
const flat: readonly fc.Arbitrary<Choice['grid']>[] = [
  grid(1, 1, 'none'),
  grid(2, 1, '1f1b'),
  grid(3, 1, '1f1b'),
  grid(4, 1, '1f1b'),
  grid(2, 1, 'gpipe'),
  grid(3, 1, 'gpipe'),
  grid(3, 1, 'naive'),
];
const split: readonly fc.Arbitrary<Choice['grid']>[] = [
  grid(2, 1, 'zero-bubble-h1'),
  grid(3, 1, 'zero-bubble-h1'),
  grid(4, 1, 'zero-bubble-h1'),
  grid(2, 1, 'zero-bubble-h2'),
  grid(3, 1, 'zero-bubble-h2'),
  grid(2, 2, 'zero-bubble-v'),
  grid(3, 2, 'zero-bubble-v'),
  grid(2, 2, 'dualpipe-v'),
  grid(3, 2, 'dualpipe-v'),
  grid(2, 1, 'dualpipe'),
  grid(4, 1, 'dualpipe'),
];

/** What a property asks of its cases. */
export interface CaseRange {
  /** Experts over a grid of their own. */
  readonly experts?: true;
  readonly interleaved?: boolean;
  /** Schedules that split backward. */
  readonly split?: boolean;
  readonly pipelines?: boolean;
  readonly sharding?: readonly Layout['sharding'][];
  readonly prefetch?: readonly number[];
  readonly bucketMB?: readonly number[];
  readonly data?: readonly number[];
  readonly replicate?: readonly number[];
  readonly offload?: readonly Layout['offload'][];
  readonly overlap?: readonly Layout['overlap'][];
  /** Fewest and most micro-batches, in rows of one for each stage when interleaved. */
  readonly rounds?: readonly [number, number];
}

/** Legal cases within `range`. */
export function evaluationCases(range: CaseRange = {}): fc.Arbitrary<EvaluationCase> {
  const {
    sharding = [0, 1, 2, 3],
    prefetch = [0, 1, 2],
    bucketMB = [0.02, 0.1, 25],
    data = [1, 2, 4],
    replicate = [1, 1, 2],
    offload = ['none', 'none', 'none', 'optimizer'],
    overlap = [overlapKinds, overlapKinds, ['data', 'pipeline'], ['parameters', 'pipeline'], ['pipeline']],
  } = range;
  const [fewest, most] = range.rounds ?? [1, 9];
  const others = range.pipelines ? flat.slice(1) : [...flat, ...interleaved];
  const grids = range.split ? split : range.interleaved ? interleaved : others;
  return fc
    .record<Choice>({
      model: fc.constantFrom(...(range.experts ? modelsWithExperts : modelNames)),
      adapters: fc.constantFrom(0, 0, 0, 1, 2, 3),
      job: fc.record({
        attention: fc.constantFrom('flash', 'unfused'),
        dropout: fc.constantFrom(0, 0.1),
        precision: fc.constantFrom('bf16', 'bf16', 'fp32', 'fp16'),
        optimizer: fc.constantFrom('adamw', 'sgd'),
      }),
      grid: fc.oneof(...grids),
      rounds: fc.integer({ min: fewest, max: most }),
      rest: fc.record<Choice['rest']>({
        tensor: fc.constantFrom(1, 2, 4),
        data: fc.constantFrom(...data),
        replicate: fc.constantFrom(...replicate),
        offload: fc.constantFrom(...offload),
        context: fc.constantFrom(1, 1, 2, 4),
        contextKind: fc.constantFrom<Layout['contextKind']>('ring', 'all-to-all', 'all-gather', 'hybrid'),
        expert: range.experts ? fc.constantFrom(1, 2, 4) : fc.constantFrom(1, 1, 2),
        // 0: like tensor.
        expertTensor: fc.constantFrom(0, 0, 1, 2),
        microBatch: fc.constantFrom(1, 2),
        sharding: fc.constantFrom(...sharding),
        prefetch: fc.constantFrom(...prefetch),
        reshard: fc.boolean(),
        lossChunks: fc.constantFrom(1, 1, 2, 4),
        bucketMB: fc.constantFrom(...bucketMB),
        gradientType: fc.constantFrom('bf16', 'fp32'),
        gradientReduction: fc.constantFrom('per-step', 'per-micro-batch', 'per-micro-batch'),
        overlap: fc.constantFrom(...overlap),
        recompute: fc.constantFrom('none', 'selective', 'full'),
        layers: overrideDraws.map((draw) => overridesFor(draw, 6)),
        sequenceParallel: fc.boolean(),
        keepGathered: fc.boolean(),
      }),
      order: fc.constantFrom(0, 0, 1, 2),
      seed: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 1_000_000 })),
    })
    .map(caseOf)
    .filter((each) => each !== undefined)
    .filter(({ layout }) => range.experts !== true || hasExpertGrid(layout));
}
