/** @file Blocks priced: the max-plus matrix and the memory profile of each call, and of runs of layers. */
import type { BlockContext } from '../compile/index.ts';
import {
  type BlockMatrix,
  type Borders,
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
import { EMBED, HEAD, type Pass, type Sample, type SampleSlice, sampleOf } from './sample.ts';

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

/** The calls of a layer. */
export interface LayerPrice {
  /** The first layer of its kind. */
  readonly first: number;
  readonly forward: BlockPrice;
  readonly backward: BlockPrice;
}

/** Calls of the two ends of a model. */
export type EndCall = 'embedForward' | 'headForward' | 'headBackward' | 'embedBackward';

/** All calls of a block context under one set of prices. */
export interface BlockPrices {
  /** Backward in one; where the schedule always splits it, its input part followed by its weight part. */
  readonly ends: Readonly<Record<EndCall, BlockPrice>>;
  /** Kind by kind. */
  readonly layers: readonly LayerPrice[];
  /** One call: of the embedding, the head, or the layer of a kind. Undefined for a part that the block does not have. */
  call(pass: Pass, kind: number): BlockPrice | undefined;
  readonly borderBytes: number;
  readonly lossScalarBytes: number;
  readonly tailScalarBytes: number;
  /** Layers of one kind in a row, `count` of them, forward or backward. */
  run(pass: Pass, kind: number, count: number): BlockMatrix;
  /** Embed, layers and head of a chunk in one matrix, in the order of execution. */
  chunk(pass: Pass, row: LayerRow, embed: boolean, head: boolean): BlockMatrix;
  /** The same with its bytes. */
  whole(pass: Pass, row: LayerRow, embed: boolean, head: boolean): ChunkPrice;
}

/** Borders of a call in the sample. */
function bordersOf(pass: Pass, kind: number, kinds: number): Borders {
  const block = kind === HEAD ? kinds : kind;
  const below = `${pass === 'F' ? 'x' : 'dx'}${block}[0]`;
  const above = `${pass === 'F' ? 'x' : 'dx'}${block + 1}[0]`;
  const [input, output] = pass === 'F' ? [below, above] : [above, below];
  // Its gradient was left by the input part, and the call waits for the one before it (see compile/lower/list.ts).
  if (kind === EMBED && pass === 'W') return { input, inputOfLane: true, output: undefined };
  if (kind === EMBED) return pass === 'F' ? { input: undefined, output } : { input, output: undefined };
  if (kind === HEAD) return pass === 'F' ? { input, output: undefined } : { input: undefined, output };
  return { input, output };
}

/** Prices every call of a context. `costOf` must price for this context's mesh. */
export function priceBlocks(
  context: BlockContext,
  gradientType: DType,
  costOf: (sample: Sample) => OperationCost,
): BlockPrices {
  const whole = context.backward === 'split' ? undefined : pricedSample('whole', context, gradientType, costOf);
  const split = context.backward === 'whole' ? undefined : pricedSample('split', context, gradientType, costOf);
  const { sample, call: first } = (whole ?? split) as PricedSample;
  const call: BlockPrices['call'] = (pass, kind) =>
    pass === 'I' || pass === 'W' ? split?.call(pass, kind) : pass === 'B' ? whole?.call(pass, kind) : first(pass, kind);
  const both = (kind: number): BlockPrice =>
    call('B', kind) ?? inOne(call('I', kind) as BlockPrice | undefined, call('W', kind));
  const forward = (kind: number): BlockPrice => call('F', kind) as BlockPrice;
  const ends: BlockPrices['ends'] = {
    embedForward: forward(EMBED),
    headForward: forward(HEAD),
    headBackward: both(HEAD),
    embedBackward: both(EMBED),
  };
  const layers = Array.from(
    { length: sample.kinds },
    (_, kind): LayerPrice => ({
      first: context.kinds.kinds[kind]?.first ?? 0,
      forward: forward(kind),
      backward: both(kind),
    }),
  );
  const { borderBytes, lossScalarBytes, tailScalarBytes } = sample;
  return { ends, layers, call, borderBytes, lossScalarBytes, tailScalarBytes, ...chains(call, layers.length) };
}

interface PricedSample {
  readonly sample: Sample;
  readonly call: BlockPrices['call'];
}

/** The sample of one way of backward, each call priced once. */
function pricedSample(
  backward: 'whole' | 'split',
  context: BlockContext,
  gradientType: DType,
  costOf: (sample: Sample) => OperationCost,
): PricedSample {
  const sample = sampleOf({ ...context, backward }, gradientType);
  const cost = costOf(sample);
  // Numbers instead of names: a search asks a million times. Calls that the sample does not have are null.
  const known: (BlockPrice | null | undefined)[] = [];
  return {
    sample,
    call: (pass, kind) => {
      const key = (kind - HEAD) * 4 + passNumbers[pass];
      const found = known[key];
      if (found !== undefined) return found ?? undefined;
      const slice = sample.slice(pass, kind);
      const price = slice && priceCall(slice, bordersOf(pass, kind, sample.kinds), sample, cost);
      known[key] = price ?? null;
      return price;
    },
  };
}

/** Both parts of a backward, one after the other. Bytes within are those of the input part. */
function inOne(input: BlockPrice | undefined, weight: BlockPrice | undefined): BlockPrice {
  const [first, second] = input === undefined ? [weight, undefined] : [input, weight];
  if (first === undefined) throw new Error('internal: a block without a backward.');
  if (second === undefined) return first;
  return {
    ...first,
    matrix: chain(first.matrix, second.matrix),
    memory: { ...first.memory, net: first.memory.net + second.memory.net },
    computeSeconds: first.computeSeconds + second.computeSeconds,
    productFlops: first.productFlops + second.productFlops,
  };
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

const passNumbers: Readonly<Record<Pass, number>> = { F: 0, B: 1, W: 2, I: 3 };

/** Runs of layers and whole chunks, each multiplied out once. */
function chains(call: BlockPrices['call'], kinds: number): Pick<BlockPrices, 'run' | 'chunk' | 'whole'> {
  // One dense array for each pass: a search asks millions of times, and arrays with large holes are slow.
  const powersOf: readonly (BlockMatrix | undefined)[][] = [[], [], [], []];
  const chunksOf: readonly (ChunkPrice | undefined)[][] = [[], [], [], []];
  const layer = (pass: Pass, kind: number): BlockPrice => call(pass, kind) as BlockPrice;
  const run: BlockPrices['run'] = (pass, kind, count) => {
    const powers = powersOf[passNumbers[pass]] as (BlockMatrix | undefined)[];
    const key = count * kinds + kind;
    const power = powers[key] ?? chainPower(layer(pass, kind).matrix, count);
    powers[key] = power;
    return power;
  };
  const end = (pass: Pass, kind: number, isThere: boolean): readonly ChunkPrice[] => {
    const price = isThere ? call(pass, kind) : undefined;
    return price === undefined ? [] : [asChunk(price)];
  };
  const whole: BlockPrices['whole'] = (pass, row, embed, head) => {
    const chunks = chunksOf[passNumbers[pass]] as (ChunkPrice | undefined)[];
    const key = row.id * 4 + (embed ? 2 : 0) + (head ? 1 : 0);
    const known = chunks[key];
    if (known) return known;
    const parts = [
      ...end(pass, EMBED, embed),
      ...row.runs.map(({ kind, count }) => ({
        matrix: run(pass, kind, count),
        ...repeatBytes(layer(pass, kind).memory, count),
      })),
      ...end(pass, HEAD, head),
    ];
    const price = (pass === 'F' ? parts : parts.reverse()).reduce(followedBy);
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
