/** @file Blocks priced: the max-plus matrix and the memory profile of each call, and of runs of layers. */
import type { BlockContext } from '../compile/index.ts';
import { type BlockMatrix, chain, chainPower, type MemoryProfile, matrixOf, profileOf } from '../cost/index.ts';
import type { DType } from '../tensor/index.ts';
import type { LayerRow } from './rows.ts';
import { EMBED, HEAD, type Pass, type Sample, sampleOf } from './sample.ts';
import type { SampleBook } from './sample-book.ts';
import type { SampleCost } from './sample-cost.ts';

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

/** The calls of a layer. */
export interface LayerPrice {
  /** The first layer of its kind. */
  readonly first: number;
  readonly forward: BlockPrice;
  readonly backward: BlockPrice;
}

/** Calls of the two ends of a model. */
export type EndCall = 'embedForward' | 'headForward' | 'headBackward';

/** All calls of a block context under one set of prices. */
export interface BlockPrices {
  /** Backward in one; where the schedule always splits it, its input part followed by its weight part. */
  readonly ends: Readonly<Record<EndCall, BlockPrice>> & {
    /** Undefined where the embedding is frozen. */
    readonly embedBackward: BlockPrice | undefined;
  };
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
  /** Bytes of the same: most chunks that a search looks at need no more. */
  bytes(pass: Pass, row: LayerRow, embed: boolean, head: boolean): CallBytes;
}

/** Prices every call of a context. `costOf` must price for this context's mesh. */
export function priceBlocks(
  context: BlockContext,
  gradientType: DType,
  costOf: (sample: Sample) => SampleCost,
  sampleIn: SampleBook = (each, type) => sampleOf(each, type),
): BlockPrices {
  const priced = (backward: 'whole' | 'split'): PricedSample =>
    pricedSample(() => sampleIn({ ...context, backward }, gradientType), costOf);
  const whole = context.backward === 'split' ? undefined : priced('whole');
  const split = context.backward === 'whole' ? undefined : priced('split');
  const sample = (whole ?? split) as PricedSample;
  const { call: first } = sample;
  const call: BlockPrices['call'] = (pass, kind) =>
    pass === 'I' || pass === 'W' ? split?.call(pass, kind) : pass === 'B' ? whole?.call(pass, kind) : first(pass, kind);
  const both = (kind: number): BlockPrice =>
    call('B', kind) ?? inOne(call('I', kind) as BlockPrice | undefined, call('W', kind));
  const forward = (kind: number): BlockPrice => call('F', kind) as BlockPrice;
  const ends: BlockPrices['ends'] = {
    embedForward: forward(EMBED),
    headForward: forward(HEAD),
    headBackward: both(HEAD),
    embedBackward: call('B', EMBED) ?? call('W', EMBED),
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

/** The calls of one way of backward. Nothing of the sample stays alive: a search looks at thousands of them. */
type PricedSample = Pick<Sample, 'kinds' | 'borderBytes' | 'lossScalarBytes' | 'tailScalarBytes'> &
  Pick<BlockPrices, 'call'>;

/** What a call takes. */
type CallTime = Pick<BlockPrice, 'matrix' | 'computeSeconds' | 'productFlops'>;

/** Bytes at once; what the calls take when the first of them is asked: of most contexts a search wants to know their bytes
 * only. `take` makes the sample anew where it is no longer known. */
function pricedSample(take: () => Sample, costOf: (sample: Sample) => SampleCost): PricedSample {
  const sample = take();
  const { kinds, borderBytes, lossScalarBytes, tailScalarBytes } = sample;
  let times: readonly CallTime[] | undefined;
  const timeOf = (index: number): CallTime => {
    times ??= callTimes(take(), costOf);
    return times[index] as CallTime;
  };
  const known: (BlockPrice | undefined)[] = [];
  for (const [index, { pass, kind, memory, readsWeights }] of sample.calls.entries()) {
    const bytes = { memory: profileOf(memory, sample.rangeBytes), readsWeights };
    known[callNumber(pass, kind)] = withTime(bytes, () => timeOf(index));
  }
  const call: BlockPrices['call'] = (pass, kind) => known[callNumber(pass, kind)];
  return { kinds, borderBytes, lossScalarBytes, tailScalarBytes, call };
}

/** Numbers instead of names: a search asks a million times. */
const callNumber = (pass: Pass, kind: number): number => (kind - HEAD) * 4 + passNumbers[pass];

const withTime = (bytes: Pick<BlockPrice, 'memory' | 'readsWeights'>, time: () => CallTime): BlockPrice => ({
  ...bytes,
  get matrix() {
    return time().matrix;
  },
  get computeSeconds() {
    return time().computeSeconds;
  },
  get productFlops() {
    return time().productFlops;
  },
});

/** Both parts of a backward, one after the other. Bytes within are those of the input part. */
function inOne(input: BlockPrice | undefined, weight: BlockPrice | undefined): BlockPrice {
  const [first, second] = input === undefined ? [weight, undefined] : [input, weight];
  if (first === undefined) throw new Error('internal: a block without a backward.');
  if (second === undefined) return first;
  const { readsWeights } = first;
  const memory = { ...first.memory, net: first.memory.net + second.memory.net };
  let known: CallTime | undefined;
  return withTime({ memory, readsWeights }, () => {
    known ??= {
      matrix: chain(first.matrix, second.matrix),
      computeSeconds: first.computeSeconds + second.computeSeconds,
      productFlops: first.productFlops + second.productFlops,
    };
    return known;
  });
}

/** In the order of the sample's calls. */
function callTimes(sample: Sample, costOf: (sample: Sample) => SampleCost): readonly CallTime[] {
  const cost = costOf(sample);
  const { isCompute } = sample;
  return sample.calls.map(({ from, to, time }) => {
    let computeSeconds = 0;
    let productFlops = 0;
    for (let at = from; at < to; at++) {
      if (isCompute[at] === 0) continue;
      computeSeconds += cost.seconds[at] as number;
      productFlops += cost.productFlops[at] as number;
    }
    return { matrix: matrixOf(time, cost.seconds, cost.launches, from), computeSeconds, productFlops };
  });
}

const passNumbers: Readonly<Record<Pass, number>> = { F: 0, B: 1, W: 2, I: 3 };

/** Runs of layers and whole chunks, each multiplied out once. */
function chains(call: BlockPrices['call'], kinds: number): Pick<BlockPrices, 'run' | 'chunk' | 'bytes'> {
  // One dense array for each pass: a search asks millions of times, and arrays with large holes are slow.
  const powersOf: readonly (BlockMatrix | undefined)[][] = [[], [], [], []];
  const matricesOf: readonly (BlockMatrix | undefined)[][] = [[], [], [], []];
  const bytesOf: readonly (CallBytes | undefined)[][] = [[], [], [], []];
  const layer = (pass: Pass, kind: number): BlockPrice => call(pass, kind) as BlockPrice;
  const run: BlockPrices['run'] = (pass, kind, count) => {
    const powers = powersOf[passNumbers[pass]] as (BlockMatrix | undefined)[];
    const key = count * kinds + kind;
    const power = powers[key] ?? chainPower(layer(pass, kind).matrix, count);
    powers[key] = power;
    return power;
  };
  const end = (pass: Pass, kind: number, isThere: boolean): readonly BlockPrice[] => {
    const price = isThere ? call(pass, kind) : undefined;
    return price === undefined ? [] : [price];
  };
  const chunk: BlockPrices['chunk'] = (pass, row, embed, head) => {
    const chunks = matricesOf[passNumbers[pass]] as (BlockMatrix | undefined)[];
    const key = chunkNumber(row, embed, head);
    const known = chunks[key];
    if (known) return known;
    const parts = [
      ...end(pass, EMBED, embed).map(({ matrix }) => matrix),
      ...row.runs.map(({ kind, count }) => run(pass, kind, count)),
      ...end(pass, HEAD, head).map(({ matrix }) => matrix),
    ];
    const made = (pass === 'F' ? parts : parts.reverse()).reduce(chain);
    chunks[key] = made;
    return made;
  };
  const bytes: BlockPrices['bytes'] = (pass, row, embed, head) => {
    const chunks = bytesOf[passNumbers[pass]] as (CallBytes | undefined)[];
    const key = chunkNumber(row, embed, head);
    const known = chunks[key];
    if (known) return known;
    const parts: readonly CallBytes[] = [
      ...end(pass, EMBED, embed).map(({ memory }) => memory),
      ...row.runs.map(({ kind, count }) => repeatBytes(layer(pass, kind).memory, count)),
      ...end(pass, HEAD, head).map(({ memory }) => memory),
    ];
    const { net, rise } = (pass === 'F' ? parts : [...parts].reverse()).reduce(bytesOfBoth);
    const made = { net, rise };
    chunks[key] = made;
    return made;
  };
  return { run, bytes, chunk };
}

/** Small and unique among the chunks of a context. */
const chunkNumber = (row: LayerRow, embed: boolean, head: boolean): number =>
  row.id * 4 + (embed ? 2 : 0) + (head ? 1 : 0);

const bytesOfBoth = (first: CallBytes, second: CallBytes): CallBytes => ({
  net: first.net + second.net,
  rise: Math.max(first.rise, first.net + second.rise),
});

/** The highest rise is that of the first call where calls leave less than they found, else that of the last. */
const repeatBytes = ({ net, rise }: CallBytes, count: number): CallBytes => ({
  net: net * count,
  rise: Math.max(0, net * (count - 1)) + rise,
});
