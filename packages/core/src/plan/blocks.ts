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
import type { LayerRow } from './rows.ts';
import { type EndCall, type Sample, type SampleSlice, sampleOf } from './sample.ts';

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

/** Both calls of a layer. */
export interface LayerPrice {
  /** The first layer of its kind. */
  readonly first: number;
  readonly forward: BlockPrice;
  readonly backward: BlockPrice;
}

/** All calls of a block context under one set of prices. */
export interface BlockPrices {
  readonly ends: Readonly<Record<EndCall, BlockPrice>>;
  /** Kind by kind. */
  readonly layers: readonly LayerPrice[];
  readonly borderBytes: number;
  readonly lossScalarBytes: number;
  readonly tailScalarBytes: number;
  /** Layers of one kind in a row, `count` of them, forward or backward. */
  run(direction: 'F' | 'B', kind: number, count: number): BlockMatrix;
  /** Embed, layers and head of a chunk in one matrix, in the order of execution. */
  chunk(direction: 'F' | 'B', row: LayerRow, embed: boolean, head: boolean): BlockMatrix;
  /** The same with its bytes. */
  whole(direction: 'F' | 'B', row: LayerRow, embed: boolean, head: boolean): ChunkPrice;
}

/** The activations that a call takes and leaves at its borders, as the sample names them. */
interface Borders {
  readonly input: string | undefined;
  readonly output: string | undefined;
}

const bordersOf = (kinds: number): Readonly<Record<EndCall, Borders>> => ({
  embedForward: { input: undefined, output: 'x0[0]' },
  headForward: { input: `x${kinds}[0]`, output: undefined },
  headBackward: { input: undefined, output: `dx${kinds}[0]` },
  embedBackward: { input: 'dx0[0]', output: undefined },
});

/** Prices every call of a context. `cost` must price for this context's mesh. */
export function priceBlocks(
  context: BlockContext,
  gradientType: DType,
  costOf: (sample: Sample) => OperationCost,
): BlockPrices {
  const sample = sampleOf(context, gradientType);
  const cost = costOf(sample);
  const price = (slice: SampleSlice, borders: Borders): BlockPrice => priceCall(slice, borders, sample, cost);
  const borders = bordersOf(sample.layers.length);
  const { embedForward, headForward, headBackward, embedBackward } = sample.ends;
  const ends: BlockPrices['ends'] = {
    embedForward: price(embedForward, borders.embedForward),
    headForward: price(headForward, borders.headForward),
    headBackward: price(headBackward, borders.headBackward),
    embedBackward: price(embedBackward, borders.embedBackward),
  };
  const layers = sample.layers.map(
    ({ forward, backward }, kind): LayerPrice => ({
      first: context.kinds.kinds[kind]?.first ?? 0,
      forward: price(forward, { input: `x${kind}[0]`, output: `x${kind + 1}[0]` }),
      backward: price(backward, { input: `dx${kind + 1}[0]`, output: `dx${kind}[0]` }),
    }),
  );
  const { borderBytes, lossScalarBytes, tailScalarBytes } = sample;
  return { ends, layers, borderBytes, lossScalarBytes, tailScalarBytes, ...chains(ends, layers) };
}

function priceCall({ from, to }: SampleSlice, borders: Borders, sample: Sample, cost: OperationCost): BlockPrice {
  const operations = sample.operations.slice(from, to);
  const compute = operations.filter((each) => each.operation.kind === 'compute');
  return {
    matrix: summarizeTime(operations, borders, cost),
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
function chains(
  ends: BlockPrices['ends'],
  layers: readonly LayerPrice[],
): Pick<BlockPrices, 'run' | 'chunk' | 'whole'> {
  const powers: (BlockMatrix | undefined)[] = [];
  const chunks: (ChunkPrice | undefined)[] = [];
  const callOf = (direction: 'F' | 'B', kind: number): BlockPrice => {
    const layer = layers[kind] as LayerPrice;
    return direction === 'F' ? layer.forward : layer.backward;
  };
  const run: BlockPrices['run'] = (direction, kind, count) => {
    const key = (count * layers.length + kind) * 2 + (direction === 'F' ? 0 : 1);
    const power = powers[key] ?? chainPower(callOf(direction, kind).matrix, count);
    powers[key] = power;
    return power;
  };
  const whole: BlockPrices['whole'] = (direction, row, embed, head) => {
    const forward = direction === 'F';
    const key = row.id * 8 + (forward ? 0 : 4) + (embed ? 2 : 0) + (head ? 1 : 0);
    const known = chunks[key];
    if (known) return known;
    const parts = [
      ...(embed ? [asChunk(forward ? ends.embedForward : ends.embedBackward)] : []),
      ...row.runs.map(({ kind, count }) => ({
        matrix: run(direction, kind, count),
        ...repeatBytes(callOf(direction, kind).memory, count),
      })),
      ...(head ? [asChunk(forward ? ends.headForward : ends.headBackward)] : []),
    ];
    const price = (forward ? parts : parts.reverse()).reduce(followedBy);
    chunks[key] = price;
    return price;
  };
  return { run, whole, chunk: (...content) => whole(...content).matrix };
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
