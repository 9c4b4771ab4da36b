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
function runs(calls: Readonly<Record<SampleCall, BlockPrice>>): Pick<BlockPrices, 'layers' | 'chunk'> {
  const powers = new Map<number, BlockMatrix>();
  const chunks = new Map<number, BlockMatrix>();
  const layers: BlockPrices['layers'] = (direction, count) => {
    const key = count * 2 + (direction === 'F' ? 0 : 1);
    const known = powers.get(key);
    if (known) return known;
    const call = direction === 'F' ? calls.layerForward : calls.layerBackward;
    const power = chainPower(call.matrix, count);
    powers.set(key, power);
    return power;
  };
  const chunk: BlockPrices['chunk'] = (direction, count, embed, head) => {
    const key = count * 8 + (direction === 'F' ? 0 : 4) + (embed ? 2 : 0) + (head ? 1 : 0);
    const known = chunks.get(key);
    if (known) return known;
    const forward = direction === 'F';
    const parts = [
      ...(embed ? [forward ? calls.embedForward.matrix : calls.embedBackward.matrix] : []),
      layers(direction, count),
      ...(head ? [forward ? calls.headForward.matrix : calls.headBackward.matrix] : []),
    ];
    const matrix = (forward ? parts : parts.reverse()).reduce((first, second) => chain(first, second));
    chunks.set(key, matrix);
    return matrix;
  };
  return { layers, chunk };
}
