/** @file Blocks priced: the max-plus matrix and the memory profile of each call, and of runs of layers. */
import type { BlockContext } from '../compile/index.ts';
import {
  type BlockMatrix,
  chain,
  chainPower,
  type MemoryProfile,
  type OperationCost,
  profileMemory,
  summarizeTime,
} from '../cost/index.ts';
import { type ExpandedOperation, workOf } from '../program/index.ts';
import type { DType } from '../tensor/index.ts';
import { type Sample, type SampleCall, sampleOf } from './sample.ts';

/** One call of a block, priced. */
export interface BlockPrice {
  readonly matrix: BlockMatrix;
  readonly memory: MemoryProfile;
  /** Reads its weights: the backward of an embedding does not. */
  readonly readsWeights: boolean;
  /** Seconds of its kernels, one after the other: no schedule takes less compute time. */
  readonly computeSeconds: number;
  /** FLOPs of products and attention. */
  readonly productFlops: number;
}

/** What calls in a row add to the live bytes, and how far these rise above their entry; buckets left out. */
export interface CallBytes {
  readonly net: number;
  readonly rise: number;
}

/** Calls in a row as one. */
export interface ChunkPrice extends CallBytes {
  readonly matrix: BlockMatrix;
}

/** All calls of a block context under one set of prices. */
export interface BlockPrices {
  readonly calls: Readonly<Record<SampleCall, BlockPrice>>;
  readonly borderBytes: number;
  readonly lossScalarBytes: number;
  readonly tailScalarBytes: number;
  /** Layers in a row, `count` of them, forward or backward. */
  layers(direction: 'F' | 'B', count: number): BlockMatrix;
  /** Embed, layers and head of a chunk in one matrix, in the order of execution. */
  chunk(direction: 'F' | 'B', layers: number, embed: boolean, head: boolean): BlockMatrix;
  /** The same with its bytes. */
  whole(direction: 'F' | 'B', layers: number, embed: boolean, head: boolean): ChunkPrice;
}

const borders: Readonly<Record<SampleCall, { input: string | undefined; output: string | undefined }>> = {
  embedForward: { input: undefined, output: 'x0[0]' },
  layerForward: { input: 'x0[0]', output: 'x1[0]' },
  headForward: { input: 'x1[0]', output: undefined },
  headBackward: { input: undefined, output: 'dx1[0]' },
  layerBackward: { input: 'dx1[0]', output: 'dx0[0]' },
  embedBackward: { input: 'dx0[0]', output: undefined },
};

/** Prices every call of a context. `cost` must price for this context's mesh. */
export function priceBlocks(
  context: BlockContext,
  gradientType: DType,
  costOf: (sample: Sample) => OperationCost,
): BlockPrices {
  const sample = sampleOf(context, gradientType);
  const cost = costOf(sample);
  const calls = Object.fromEntries(
    Object.entries(sample.slices).map(([name, slice]) => {
      const operations = sample.operations.slice(slice.from, slice.to);
      return [name, priceCall(name as SampleCall, operations, sample, cost)];
    }),
  ) as Record<SampleCall, BlockPrice>;
  const { borderBytes, lossScalarBytes, tailScalarBytes } = sample;
  return { calls, borderBytes, lossScalarBytes, tailScalarBytes, ...runs(calls) };
}

function priceCall(
  name: SampleCall,
  operations: readonly ExpandedOperation[],
  sample: Sample,
  cost: OperationCost,
): BlockPrice {
  const { from, to } = sample.slices[name];
  const compute = operations.filter((each) => each.operation.kind === 'compute');
  return {
    matrix: summarizeTime(operations, borders[name], cost),
    memory: profileMemory(sample.operations, sample.ranges, from, to),
    readsWeights: operations.some((each) => each.reads.some((read) => read?.instance.name.startsWith('W.'))),
    computeSeconds: compute.reduce((sum, each) => sum + cost.duration(each), 0),
    productFlops: productFlops(compute, sample),
  };
}

function productFlops(operations: readonly ExpandedOperation[], sample: Sample): number {
  let flops = 0;
  for (const operation of operations) {
    const work = workOf(operation, sample.degrees);
    if (work.kind !== 'memory') flops += work.flops;
  }
  return flops;
}

/** Runs of layers and whole chunks, each multiplied out once. */
function runs(calls: Readonly<Record<SampleCall, BlockPrice>>): Pick<BlockPrices, 'layers' | 'chunk' | 'whole'> {
  const powers = new Map<number, BlockMatrix>();
  const chunks = new Map<number, ChunkPrice>();
  const layers: BlockPrices['layers'] = (direction, count) => {
    const key = count * 2 + (direction === 'F' ? 0 : 1);
    const known = powers.get(key);
    if (known) return known;
    const call = direction === 'F' ? calls.layerForward : calls.layerBackward;
    const power = chainPower(call.matrix, count);
    powers.set(key, power);
    return power;
  };
  const whole: BlockPrices['whole'] = (direction, count, embed, head) => {
    const key = count * 8 + (direction === 'F' ? 0 : 4) + (embed ? 2 : 0) + (head ? 1 : 0);
    const known = chunks.get(key);
    if (known) return known;
    const forward = direction === 'F';
    const layer = forward ? calls.layerForward : calls.layerBackward;
    const row: ChunkPrice = { matrix: layers(direction, count), ...repeatBytes(layer.memory, count) };
    const parts = [
      ...(embed ? [asChunk(forward ? calls.embedForward : calls.embedBackward)] : []),
      row,
      ...(head ? [asChunk(forward ? calls.headForward : calls.headBackward)] : []),
    ];
    const price = (forward ? parts : parts.reverse()).reduce(followedBy);
    chunks.set(key, price);
    return price;
  };
  return { layers, whole, chunk: (...content) => whole(...content).matrix };
}

const asChunk = ({ matrix, memory }: BlockPrice): ChunkPrice => ({ matrix, net: memory.net, rise: memory.rise });

const followedBy = (first: ChunkPrice, second: ChunkPrice): ChunkPrice => ({
  matrix: chain(first.matrix, second.matrix),
  net: first.net + second.net,
  rise: Math.max(first.rise, first.net + second.rise),
});

/** The highest rise is that of the first call where calls leave less than they found, else that of the last. */
const repeatBytes = ({ net, rise }: CallBytes, count: number): CallBytes => ({
  net: net * count,
  rise: Math.max(0, net * (count - 1)) + rise,
});
