/** @file A layout reduced to numbers for the walk: per stage, the matrices, bytes and seconds of its calls and buckets. */
import {
  type BucketPlan,
  type ChunkOutline,
  chunksOf,
  optimizerTensors,
  type ParameterCounts,
  paddedParts,
  planBuckets,
  reducesEachMicroBatch,
  sumsOverEnds,
} from '../../compile/index.ts';
import type { BlockMatrix, MemoryProfile, Prices } from '../../cost/index.ts';
import type { Job } from '../../job/index.ts';
import type { Layout } from '../../layout/index.ts';
import { kernels, type LocalOperand } from '../../program/index.ts';
import { bytesOf, type DType } from '../../tensor/index.ts';
import type { BlockPrices } from '../blocks.ts';
import type { SampleCall } from '../sample.ts';

/** One call or a row of equal calls inside a piece. */
export interface PieceCall {
  readonly memory: MemoryProfile;
  readonly count: number;
}

/** Blocks of one chunk between two events of the data axis. */
export interface Piece {
  readonly matrix: BlockMatrix;
  readonly calls: readonly PieceCall[];
  /** Bucket that its own weights or gradients lie in; -1 for none. */
  readonly own: number;
  /** Whether it touches the tied matrix, which then is this bucket; -1 for none. */
  readonly tied: number;
  readonly readsWeights: boolean;
  /** Buckets whose gradients are complete after it. */
  readonly ready: readonly number[];
  /** Unit of sharding 3, by number in the stage. */
  readonly unit: number;
}

export interface ChunkSpec {
  readonly forward: Piece;
  readonly backward: Piece;
  /** Forward in pieces, one for each bucket or unit that it reads. */
  readonly forwardPieces: readonly Piece[];
  /** Backward in pieces, one for each bucket or unit that it completes. */
  readonly backwardPieces: readonly Piece[];
  readonly receivesForward: boolean;
  readonly receivesBackward: boolean;
}

export interface BucketSpec {
  readonly plan: BucketPlan;
  readonly gatherSeconds: number;
  /** All-reduce or reduce-scatter over data. */
  readonly reduceSeconds: number;
  /** Sum over tensor of the leading slice, whole or shard; 0 where there is none. */
  readonly sumSeconds: number;
  /** Sum over both ends, whole or shard. */
  readonly endsSeconds: number;
  readonly weightBytes: number;
  readonly gradientBytes: number;
  /** Waits for the other end, so it is reduced in the tail. */
  readonly inTail: boolean;
}

/** Stages with the same chunks and ends share one. */
export interface StageSpec {
  readonly chunks: readonly ChunkSpec[];
  readonly buckets: readonly BucketSpec[];
  /** Buckets in the order of their first use. */
  readonly opening: readonly number[];
  /** Buckets of each unit, in order of gathering. */
  readonly units: readonly (readonly number[])[];
  /** State that is there throughout: weights, gradients, optimizer, scalars. */
  readonly residentBytes: number;
  readonly normSeconds: number;
  readonly optimizerSeconds: number;
  readonly holdsLoss: boolean;
}

/** When weights are gathered and gradients reduced. */
export type DataMode = 'alone' | 'per-step' | 'per-micro-batch' | 'units';

export interface StepSpec {
  readonly layout: Layout;
  readonly stages: readonly StageSpec[];
  readonly mode: DataMode;
  readonly sendSeconds: number;
  readonly borderBytes: number;
  readonly launchCompute: number;
  readonly launchExchange: number;
  readonly clipSeconds: number;
  /** Sums of scalars over tensor, data and pipeline; NaN where that axis takes no part. */
  readonly normSums: readonly number[];
  readonly lossSeconds: number;
}

export interface SpecInput {
  readonly job: Job;
  readonly layout: Layout;
  readonly counts: ParameterCounts;
  readonly blocks: BlockPrices;
  readonly prices: Prices;
  readonly weightType: DType;
}

export function stepSpec(input: SpecInput): StepSpec {
  const { layout, prices, blocks } = input;
  const classes = new Map<string, StageSpec>();
  const layers = input.job.model.layers.length;
  const stages: StageSpec[] = [];
  for (let stage = 0; stage < layout.pipeline; stage++) {
    const key = stageKey(layout, stage);
    let spec = classes.get(key);
    if (spec === undefined) {
      spec = stageSpec(input, chunksOf(layout, layers, stage));
      classes.set(key, spec);
    }
    stages.push(spec);
  }
  const scalar = (axis: 'tensor' | 'data' | 'pipeline'): number =>
    prices.exchange({ kind: 'all-reduce', algorithm: 'direct', bytes: 4, axes: [axis] });
  const sharded = isSharded(layout);
  const clip = kernels.clip.work({ reads: [], writes: [], attributes: {} });
  return {
    layout,
    stages,
    mode: dataMode(layout),
    sendSeconds:
      layout.pipeline === 1
        ? 0
        : prices.exchange({ kind: 'send', algorithm: 'ring', bytes: blocks.borderBytes, axes: ['pipeline'] }),
    borderBytes: blocks.borderBytes,
    launchCompute: prices.launchCompute,
    launchExchange: prices.launchExchange,
    clipSeconds: prices.compute(clip),
    normSums: [
      layout.tensor > 1 ? scalar('tensor') : Number.NaN,
      sharded ? scalar('data') : Number.NaN,
      layout.pipeline > 1 ? scalar('pipeline') : Number.NaN,
    ],
    lossSeconds: layout.data > 1 ? scalar('data') : Number.NaN,
  };
}

const isSharded = (layout: Layout): boolean => layout.data > 1 && layout.sharding > 0;

function dataMode(layout: Layout): DataMode {
  if (layout.data === 1) return 'alone';
  if (layout.sharding === 3) return 'units';
  return reducesEachMicroBatch(layout) ? 'per-micro-batch' : 'per-step';
}

/** Stages are alike when their chunks have as many layers and the same ends. */
function stageKey(layout: Layout, stage: number): string {
  const { pipeline, chunks, layersPerStage } = layout;
  if (chunks === 1) return `${layersPerStage[stage]}:${stage === 0}:${stage === pipeline - 1}`;
  let key = `${stage === 0}:${stage === pipeline - 1}`;
  for (let chunk = 0; chunk < chunks; chunk++) key += `:${layersPerStage[chunk * pipeline + stage]}`;
  return key;
}

function stageSpec(input: SpecInput, chunks: readonly ChunkOutline[]): StageSpec {
  const { job, layout, counts } = input;
  const layers = job.model.layers.length;
  const blocks = chunks.map((chunk) => chunk.blocks);
  const plans = planBuckets(blocks, counts, layers, layout);
  const buckets = plans.map((plan) => bucketSpec(plan, input));
  const tied = plans.findIndex((plan) => plan.tied);
  const units = new Map<number, readonly number[]>();
  if (layout.sharding === 3) {
    for (const block of blocks.flat()) {
      const own = plans.findIndex((plan) => plan.blocks.includes(block));
      const atEnd = tied >= 0 && (block < 0 || block >= layers);
      units.set(block, [...(atEnd ? [tied] : []), ...(own >= 0 ? [own] : [])]);
    }
  }
  const unitBlocks = [...units.keys()];
  const place: Placement = { plans, tied, unitOf: (block) => unitBlocks.indexOf(block), layers };
  const optimizer = optimizerWork(plans, input);
  const holdsLoss = chunks.some((chunk) => chunk.head);
  return {
    chunks: chunks.map((chunk) => chunkSpec(chunk, input, place)),
    buckets,
    opening: plans.map((_, index) => index).sort((a, b) => (plans[a]?.firstBlock ?? 0) - (plans[b]?.firstBlock ?? 0)),
    units: [...units.values()],
    residentBytes: residentBytes(plans, input) + (holdsLoss ? input.blocks.lossScalarBytes : 0),
    normSeconds: optimizer.norm,
    optimizerSeconds: optimizer.step,
    holdsLoss,
  };
}

interface Placement {
  readonly plans: readonly BucketPlan[];
  readonly tied: number;
  readonly unitOf: (block: number) => number;
  readonly layers: number;
}

function chunkSpec(chunk: ChunkOutline, input: SpecInput, place: Placement): ChunkSpec {
  const reversed = [...chunk.blocks].reverse();
  return {
    forward: wholeChunk('F', chunk, input),
    backward: wholeChunk('B', chunk, input),
    forwardPieces: input.layout.data > 1 ? pieces('F', chunk.blocks, input, place) : [],
    backwardPieces: input.layout.data > 1 ? pieces('B', reversed, input, place) : [],
    receivesForward: !chunk.embed,
    receivesBackward: !chunk.head,
  };
}

const callOf = (direction: 'F' | 'B', block: number, layers: number): SampleCall => {
  if (block < 0) return direction === 'F' ? 'embedForward' : 'embedBackward';
  if (block >= layers) return direction === 'F' ? 'headForward' : 'headBackward';
  return direction === 'F' ? 'layerForward' : 'layerBackward';
};

function wholeChunk(direction: 'F' | 'B', chunk: ChunkOutline, { blocks, job }: SpecInput): Piece {
  const layers = job.model.layers.length;
  const order = direction === 'F' ? chunk.blocks : [...chunk.blocks].reverse();
  const count = chunk.lastLayer - chunk.firstLayer + 1;
  return {
    matrix: blocks.chunk(direction, count, chunk.embed, chunk.head),
    calls: rowsOf(order.map((block) => blocks.calls[callOf(direction, block, layers)].memory)),
    own: -1,
    tied: -1,
    readsWeights: true,
    ready: [],
    unit: -1,
  };
}

/** Equal neighbours as one row. */
function rowsOf(profiles: readonly MemoryProfile[]): readonly PieceCall[] {
  const rows: { memory: MemoryProfile; count: number }[] = [];
  for (const memory of profiles) {
    const last = rows[rows.length - 1];
    if (last?.memory === memory) last.count += 1;
    else rows.push({ memory, count: 1 });
  }
  return rows;
}

/** Cuts a chunk where the bucket changes; units of sharding 3 are single blocks. */
function pieces(direction: 'F' | 'B', order: readonly number[], input: SpecInput, place: Placement): readonly Piece[] {
  const { plans, tied, unitOf, layers } = place;
  const { blocks, layout } = input;
  const bucketOf = (block: number): number => plans.findIndex((plan) => plan.blocks.includes(block));
  const result: Piece[] = [];
  let index = 0;
  while (index < order.length) {
    const first = order[index] ?? 0;
    const inner = first >= 0 && first < layers;
    const own = bucketOf(first);
    let length = 1;
    if (layout.sharding !== 3 && inner) {
      while (index + length < order.length) {
        const next = order[index + length] ?? 0;
        if (next < 0 || next >= layers || bucketOf(next) !== own) break;
        length += 1;
      }
    }
    const last = order[index + length - 1] ?? first;
    const call = blocks.calls[callOf(direction, first, layers)];
    result.push({
      matrix: length > 1 ? blocks.layers(direction, length) : call.matrix,
      calls: [{ memory: call.memory, count: length }],
      own,
      tied: inner ? -1 : tied,
      readsWeights: call.readsWeights,
      ready:
        direction === 'B'
          ? plans.flatMap((plan, at) => (plan.readyBlock === last && !sumsOverEnds(plan, layout) ? [at] : []))
          : [],
      unit: unitOf(first),
    });
    index += length;
  }
  return result;
}

function bucketSpec(plan: BucketPlan, { layout, prices, weightType }: SpecInput): BucketSpec {
  const parts = paddedParts(plan, layout);
  const size = parts.reduce((sum, part) => sum + part, 0);
  const gradient = bytesOf(layout.gradientType);
  const each = reducesEachMicroBatch(layout);
  const shard = isSharded(layout) ? layout.data : 1;
  const overData = (kind: 'all-gather' | 'all-reduce' | 'reduce-scatter', bytes: number): number =>
    layout.data === 1 ? 0 : prices.exchange({ kind, algorithm: 'ring', bytes, axes: ['data'] });
  const summed = each ? Math.ceil((parts.length > 1 ? (parts[0] ?? 0) : plan.summed) / shard) : plan.summed;
  const tiedSize = layout.sharding >= 2 ? size / shard : size;
  return {
    plan,
    gatherSeconds: layout.sharding > 0 ? overData('all-gather', size * bytesOf(weightType)) : 0,
    reduceSeconds: overData(layout.sharding === 0 ? 'all-reduce' : 'reduce-scatter', size * gradient),
    sumSeconds:
      plan.summed > 0
        ? prices.exchange({ kind: 'all-reduce', algorithm: 'ring', bytes: summed * gradient, axes: ['tensor'] })
        : 0,
    endsSeconds:
      plan.tied && layout.pipeline > 1
        ? prices.exchange({
            kind: 'all-reduce',
            algorithm: 'ring',
            bytes: tiedSize * gradient,
            axes: ['pipeline'],
            members: 'ends',
          })
        : 0,
    weightBytes: size * bytesOf(weightType),
    gradientBytes: size * gradient,
    inTail: sumsOverEnds(plan, layout),
  };
}

/** Elements of a bucket's shard on one rank. */
function shardElements(plan: BucketPlan, layout: Layout): number {
  const shard = isSharded(layout) ? layout.data : 1;
  return paddedParts(plan, layout).reduce((sum, part) => sum + part / shard, 0);
}

function residentBytes(plans: readonly BucketPlan[], { layout, job, weightType, blocks }: SpecInput): number {
  const gradient = bytesOf(layout.gradientType);
  let total = blocks.tailScalarBytes;
  for (const plan of plans) {
    const whole = paddedParts(plan, layout).reduce((sum, part) => sum + part, 0);
    const shard = shardElements(plan, layout);
    const sharded = isSharded(layout);
    total += (sharded && layout.sharding === 3 ? shard : whole) * bytesOf(weightType);
    if (sharded && layout.sharding >= 2) total += (shard + (reducesEachMicroBatch(layout) ? 0 : whole)) * gradient;
    else total += whole * gradient;
    total += shard * 4 * optimizerTensors(job).length;
  }
  return total;
}

function optimizerWork(plans: readonly BucketPlan[], { layout, job, prices, weightType }: SpecInput) {
  const sharded = isSharded(layout);
  const local = (dtype: DType, count: number): LocalOperand => ({ dims: [count], dtype, accumulate: false });
  const shard = plans.reduce((sum, plan) => sum + shardElements(plan, layout), 0);
  const whole = plans.reduce((sum, plan) => sum + paddedParts(plan, layout).reduce((a, part) => a + part, 0), 0);
  const gradients = local(layout.gradientType, sharded ? shard : whole);
  const weights = local(weightType, sharded && layout.sharding === 3 ? shard : whole);
  const state = local('fp32', shard * optimizerTensors(job).length);
  const scalar: LocalOperand = { dims: [], dtype: 'fp32', accumulate: false };
  const norm = kernels['square-sum'].work({ reads: [gradients], writes: [scalar], attributes: {} });
  const step = kernels[job.optimizer].work({
    reads: [gradients, scalar, scalar],
    writes: [weights, state],
    attributes: {},
  });
  return { norm: prices.compute(norm), step: prices.compute(step) };
}
