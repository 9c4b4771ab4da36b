/** @file A layout reduced to numbers for the walk: matrices, bytes and seconds by place, buckets one after the other. */
import {
  type BucketPlan,
  gathersBlock,
  isMirrored,
  isSharded,
  normGroup,
  type Replicas,
  reducesEachMicroBatch,
  reductionsBlock,
  sumsNormOver,
} from '../../compile/index.ts';
import type { BlockMatrix, Prices } from '../../cost/index.ts';
import { type Layout, mostReplicasOf } from '../../layout/index.ts';
import { kernels } from '../../program/index.ts';
import { chunksHeld, positionOf } from '../../schedules/index.ts';
import type { LayerRow } from '../rows.ts';
import { type BucketSpec, bucketSpecs, optimizerSeconds, type SpecInput } from './buckets.ts';
import { type ChunkSpec, chunkSpecs, type Piece } from './chunks.ts';
import { BACKWARD, FIRST_FORWARD, FORWARD, LAST_BACKWARD, LAST_FORWARD, passesOf, WEIGHT } from './order.ts';

/** What a stage has beside its chunks. Stages with the same chunks share one. */
export interface StageSpec {
  /** Its chunks, in the order of the model. */
  readonly chunks: readonly ChunkSpec[];
  /** The tied matrix first, then chunk by chunk. */
  readonly buckets: readonly BucketSpec[];
  /** Buckets in the order of their first use. */
  readonly opening: readonly number[];
  /** First bucket of each chunk. */
  readonly firstBucket: readonly number[];
  /** Buckets in the order of the list: those of experts behind all others. */
  readonly listed: readonly number[];
  /** State that is there throughout: weights, gradients, optimizer, scalars. */
  readonly residentBytes: number;
  /** In host memory, for one rank. */
  readonly hostBytes: number;
  readonly normSeconds: number;
  readonly optimizerSeconds: number;
  readonly holdsLoss: boolean;
}

/** When weights are gathered and gradients reduced. */
export type DataMode = 'alone' | 'per-step' | 'per-micro-batch' | 'units';

export interface StepSpec {
  readonly layout: Layout;
  readonly mode: DataMode;
  readonly stages: readonly StageSpec[];
  /** By place: the chunk in one go, and its net and rise in bytes, two numbers each. */
  readonly whole: readonly BlockMatrix[];
  readonly wholeBytes: Float64Array;
  /** By place. */
  readonly pieces: readonly (readonly Piece[])[];
  /** Of all stages. */
  readonly buckets: readonly BucketSpec[];
  /** First bucket of each stage; one more entry at the end. */
  readonly stageBucket: Int32Array;
  /** First bucket of each place's chunk. */
  readonly firstBucket: Int32Array;
  /** Visits that go piece by piece, and those that reduce what they complete; bits of order.ts. */
  readonly pieceVisits: number;
  readonly reducingVisits: number;
  /** Places of one chunk have one number beyond so many bits. */
  readonly chunkShift: number;
  /** Two copies of the model: stages share all of their buckets with another one. */
  readonly mirrored: boolean;
  /** Gradients are reduced after every micro-batch. */
  readonly reducesEach: boolean;
  /** Reductions hold up the calls behind them, and those of a whole step come behind its last call. */
  readonly reductionsBlock: boolean;
  /** Gathers of updated weights hold up the first call. */
  readonly gathersBlock: boolean;
  /** The host waits for the device within a block: for the counts of routed rows. */
  readonly hostWaits: boolean;
  readonly sendSeconds: number;
  readonly borderBytes: number;
  readonly launchCompute: number;
  readonly launchExchange: number;
  readonly clipSeconds: number;
  /** Sums of scalars over tensor, data, context and pipeline; NaN where that axis takes no part. */
  readonly normSums: readonly number[];
  /** Sums of the loss, one after the other; then that over both copies of the model, NaN where there is one. */
  readonly lossSums: readonly number[];
  readonly lossCopies: number;
}

export function stepSpec(input: SpecInput): StepSpec {
  const { layout, prices, blocks } = input;
  const stages = stageSpecs(input);
  const mode = dataMode(layout);
  const reducesEach = reducesEachMicroBatch(layout);
  return {
    layout,
    mode,
    stages,
    ...tablesOf(stages, layout),
    ...specialVisits(mode, layout),
    chunkShift: passesOf(layout.schedule) / 2,
    mirrored: isMirrored(layout),
    reducesEach,
    reductionsBlock: reductionsBlock(layout),
    gathersBlock: gathersBlock(layout),
    hostWaits: layout.expert > 1,
    sendSeconds:
      layout.pipeline === 1
        ? 0
        : prices.exchange({ kind: 'send', algorithm: 'ring', bytes: blocks.borderBytes, axes: ['pipeline'] }),
    borderBytes: blocks.borderBytes,
    launchCompute: prices.launchCompute,
    launchExchange: prices.launchExchange,
    clipSeconds: prices.compute(kernels.clip.work({ reads: [], writes: [], attributes: {} })),
    ...scalarSums(layout, prices),
  };
}

function dataMode(layout: Layout): DataMode {
  if (mostReplicasOf(layout) === 1) return 'alone';
  if (layout.sharding === 3) return 'units';
  return reducesEachMicroBatch(layout) ? 'per-micro-batch' : 'per-step';
}

function specialVisits(mode: DataMode, layout: Layout): Pick<StepSpec, 'pieceVisits' | 'reducingVisits'> {
  const reducingVisits = reducesEachMicroBatch(layout) ? BACKWARD | WEIGHT : LAST_BACKWARD;
  if (mode === 'units') {
    const uses = layout.reshard ? FORWARD | BACKWARD : FIRST_FORWARD | LAST_FORWARD | LAST_BACKWARD;
    return { pieceVisits: uses | reducingVisits, reducingVisits };
  }
  return { pieceVisits: reducingVisits | (isSharded(layout) ? FIRST_FORWARD : 0), reducingVisits };
}

function scalarSums(layout: Layout, prices: Prices): Pick<StepSpec, 'normSums' | 'lossSums' | 'lossCopies'> {
  const scalar = ({ axes, part }: Pick<Replicas, 'axes' | 'part'>): number =>
    prices.exchange({ kind: 'all-reduce', algorithm: 'direct', bytes: 4, axes, ...(part && { part }) });
  const over = (axis: 'tensor' | 'data' | 'context' | 'pipeline', takesPart: boolean): number =>
    takesPart ? scalar({ axes: [axis] }) : Number.NaN;
  return {
    normSums: [
      over('tensor', layout.tensor > 1),
      sumsNormOver(layout, 'data') ? scalar(normGroup(layout, 'data')) : Number.NaN,
      over('context', sumsNormOver(layout, 'context')),
      over('pipeline', layout.pipeline > 1),
    ],
    lossSums: [over('data', layout.data > 1), over('context', layout.context > 1)].filter((sum) => !Number.isNaN(sum)),
    lossCopies: isMirrored(layout)
      ? prices.exchange({ kind: 'all-reduce', algorithm: 'direct', bytes: 4, axes: ['pipeline'], members: 'ends' })
      : Number.NaN,
  };
}

function stageSpecs(input: SpecInput): readonly StageSpec[] {
  const { layout, rows } = input;
  const { pipeline } = layout;
  const chunks = chunksHeld(layout);
  const replicas = mostReplicasOf(layout);
  const firstLayers = startsOf(rows);
  const bucketOf = bucketSpecs(input);
  const chunkOf = chunkSpecs(input, bucketOf);
  const stages: StageSpec[] = [];
  for (let stage = 0; stage < pipeline; stage++) {
    const mine: ChunkSpec[] = [];
    for (let chunk = 0; chunk < chunks; chunk++) {
      const position = positionOf(layout, stage, chunk);
      const row = rows[position] as LayerRow;
      const firstLayer = firstLayers[position] as number;
      const lowest = replicas > 1 || chunk === lowestChunk(layout, stage);
      mine.push(chunkOf({ row, firstLayer, embed: position === 0, head: position === rows.length - 1, lowest }));
    }
    const before = stages[stage - 1];
    const first = lowestChunk(layout, stage);
    const alike =
      first === lowestChunk(layout, stage - 1) && before?.chunks.every((chunk, index) => chunk === mine[index]);
    stages.push(before && alike ? before : stageSpec(mine, first, input, bucketOf));
  }
  return stages;
}

/** The chunk that stands first in the model. */
const lowestChunk = (layout: Layout, stage: number): number =>
  isMirrored(layout) && 2 * stage >= layout.pipeline ? 1 : 0;

/** The first layer of each row. */
function startsOf(rows: readonly LayerRow[]): readonly number[] {
  const starts: number[] = [];
  let start = 0;
  for (const row of rows) {
    starts.push(start);
    start += row.length;
  }
  return starts;
}

function stageSpec(
  chunks: readonly ChunkSpec[],
  first: number,
  input: SpecInput,
  bucketOf: (plan: BucketPlan) => BucketSpec,
): StageSpec {
  const tied = chunks.find((chunk) => chunk.tied !== undefined)?.tied;
  const buckets: BucketSpec[] = tied === undefined ? [] : [bucketOf(tied)];
  const opening: number[] = [];
  const firstBucket: number[] = [];
  // In the order of the model, which is that of the lists.
  for (let turn = 0; turn < chunks.length; turn++) {
    const at = (turn + first) % chunks.length;
    const chunk = chunks[at] as ChunkSpec;
    firstBucket[at] = buckets.length;
    for (const bucket of chunk.opening) opening.push(bucket < 0 ? 0 : buckets.length + bucket);
    for (const bucket of chunk.buckets) buckets.push(bucket);
  }
  if (mostReplicasOf(input.layout) === 1) {
    const plans = chunks.flatMap((chunk) => chunk.plans);
    for (const [experts, frozen] of GROUPS) {
      const group = plans.filter((plan) => plan.experts === experts && plan.frozen === frozen);
      if (group.length > 0) buckets.push(bucketOf(joined(group)));
    }
  }
  let elements = 0;
  let shardElements = 0;
  let residentBytes = input.blocks.tailScalarBytes;
  let hostBytes = 0;
  for (const bucket of buckets) {
    elements += bucket.elements;
    shardElements += bucket.shardElements;
    residentBytes += bucket.residentBytes;
    hostBytes += bucket.host?.bytes ?? 0;
  }
  const holdsLoss = chunks.some((chunk) => chunk.head);
  const seconds = optimizerSeconds(input, elements, shardElements);
  return {
    chunks,
    buckets,
    opening,
    firstBucket,
    listed: [...buckets.keys()].sort(
      (one, other) => Number(buckets[one]?.plan.experts ?? false) - Number(buckets[other]?.plan.experts ?? false),
    ),
    residentBytes: residentBytes + (holdsLoss ? input.blocks.lossScalarBytes : 0),
    hostBytes,
    normSeconds: seconds.norm,
    optimizerSeconds: seconds.update,
    holdsLoss,
  };
}

/** Parameters that share a bucket without a data axis: those of experts, those that are frozen, as the plan of a bucket says it. */
const GROUPS = [
  [undefined, undefined],
  [true, undefined],
  [undefined, true],
  [true, true],
] as const;

/** Without a data axis all blocks of a stage share one bucket. */
function joined(plans: readonly BucketPlan[]): BucketPlan {
  const [first, ...others] = plans;
  if (first === undefined) throw new Error('internal: a stage without parameters.');
  const sum = (key: 'elements' | 'summed'): number => others.reduce((total, plan) => total + plan[key], first[key]);
  return { ...first, elements: sum('elements'), summed: sum('summed') };
}

type Tables = Pick<StepSpec, 'whole' | 'wholeBytes' | 'pieces' | 'buckets' | 'stageBucket' | 'firstBucket'>;

/** What the walk reads at each visit, by place. */
function tablesOf(stages: readonly StageSpec[], layout: Layout): Tables {
  const chunks = chunksHeld(layout);
  const passes = passesOf(layout.schedule);
  const places = passes * stages.length * chunks;
  const whole: BlockMatrix[] = [];
  const wholeBytes = new Float64Array(2 * places);
  const pieces: (readonly Piece[])[] = [];
  const buckets: BucketSpec[] = [];
  const stageBucket = new Int32Array(stages.length + 1);
  const firstBucket = new Int32Array(places);
  let place = 0;
  for (let stage = 0; stage < stages.length; stage++) {
    const spec = stages[stage] as StageSpec;
    for (let chunk = 0; chunk < chunks; chunk++) {
      for (const pass of (spec.chunks[chunk] as ChunkSpec).passes) {
        whole.push(pass.whole.matrix);
        pieces.push(pass.pieces);
        wholeBytes[2 * place] = pass.whole.net;
        wholeBytes[2 * place + 1] = pass.whole.rise;
        firstBucket[place] = buckets.length + (spec.firstBucket[chunk] as number);
        place += 1;
      }
    }
    for (const bucket of spec.buckets) buckets.push(bucket);
    stageBucket[stage + 1] = buckets.length;
  }
  return { whole, wholeBytes, pieces, buckets, stageBucket, firstBucket };
}
