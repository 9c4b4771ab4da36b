/** @file What layouts of one job share while they are bounded and evaluated: prices by mesh, blocks by context, parameters by
 * tensor degree, what chunks hold. Nothing here knows of orders or steps, so who only bounds needs no more.
 */
import { backwardOf, blockContext, type ParameterCounts, parameterCounts } from '../../compile/index.ts';
import { createPriceBook, type PriceBook, type PriceOptions, type Prices } from '../../cost/index.ts';
import type { Job } from '../../job/index.ts';
import { hasExpertGrid, type Layout, meshOf } from '../../layout/index.ts';
import { parameterBook } from '../../model/index.ts';
import { type BlockPrices, priceBlocks } from '../blocks.ts';
import { priceOptionsOf } from '../price-options.ts';
import type { LayerRow } from '../rows.ts';
import type { Sample } from '../sample.ts';
import { type SampleBook, sampleBook } from '../sample-book.ts';
import { alikeBook, type CostBook, type SampleCost, sampleCost } from '../sample-cost.ts';
import { kindsBook, rowsBySplit } from './kinds.ts';

/** Prices of one job, each worked out once. */
export interface Pricing {
  readonly job: Job;
  pricesOf(layout: Layout): Prices;
  blocksOf(layout: Layout): BlockPrices;
  countsOf(layout: Layout): ParameterCounts;
  /** What each chunk of the layout holds, by position in model order. */
  rowsOf(layout: Layout): readonly LayerRow[];
  /** Distinct blocks priced so far. */
  readonly blockCount: () => number;
}

/** Nothing is priced yet. `book` stands in for the prices of the cluster. */
export function createPricing(
  job: Job,
  options: PriceOptions = {},
  book: Pick<PriceBook, 'pricesOf'> = createPriceBook(job.cluster, { ...priceOptionsOf(job), ...options }),
): Pricing {
  const places = new Map<Layout['order'], Map<number, PlacePrices>>();
  const counts = new Map<number, ParameterCounts>();
  const parametersOf = parameterBook(job.model);
  const alikeOf = alikeBook();
  const workCosts = new Map<number, CostBook['work']>();
  const samples = sampleBook(alikeOf);
  const mixedSamples = new Map<string, SampleBook>();
  const kindsOf = kindsBook(job);
  const samplesOf = (layout: Layout): SampleBook =>
    layout.layers.length === 0 ? samples : remember(mixedSamples, kindsOf(layout).names, () => sampleBook(alikeOf));
  const placeOf = (layout: Layout): PlacePrices =>
    remember(
      remember(places, layout.order, () => new Map<number, PlacePrices>()),
      expertsKey(layout),
      () => ({ prices: new Map(), blocks: new Map(), mixed: new Map(), exchanges: new Map() }),
    );
  const pricesFor = (layout: Layout): Prices => {
    return remember(placeOf(layout).prices, degreesKey(layout), () => book.pricesOf(meshOf(layout)));
  };
  return {
    job,
    pricesOf: pricesFor,
    blocksOf: (layout) => {
      const { blocks, mixed, exchanges } = placeOf(layout);
      const known = layout.layers.length === 0 ? blocks : remember(mixed, kindsOf(layout).names, () => new Map());
      // Where tensor is the fastest axis its groups do not depend on the other degrees; nor do those of experts behind it.
      const place = isNested(layout) ? nestedKey(layout) : degreesKey(layout);
      const ofPlace = remember(known, place, () => new Map<number, BlockPrices>());
      const costOf = (sample: Sample): SampleCost =>
        sampleCost(sample, pricesFor(layout), {
          work: remember(workCosts, layout.tensor, () => new Map()),
          exchanges: remember(exchanges, place, () => new Map()),
        });
      return remember(ofPlace, blockKey(layout), () =>
        priceBlocks(blockContext(job, layout), layout.gradientType, costOf, samplesOf(layout)),
      );
    },
    countsOf: (layout) =>
      remember(counts, (expertsKey(layout) * 2 ** 16 + layout.tensor) * 2 + (layout.sequenceParallel ? 1 : 0), () =>
        parameterCounts(job.model, layout, parametersOf),
      ),
    rowsOf: rowsBySplit(kindsOf),
    blockCount: () => blockCountOf(places),
  };
}

/** The same prices for the same job with another number of sequences: no block, exchange or parameter depends on it. */
export const pricingOfSequences = (pricing: Pricing, sequences: number): Pricing => ({
  ...pricing,
  job: { ...pricing.job, batch: { ...pricing.job.batch, sequences } },
});

function blockCountOf(places: ReadonlyMap<unknown, ReadonlyMap<number, PlacePrices>>): number {
  let count = 0;
  for (const place of places.values()) {
    for (const { blocks, mixed } of place.values()) {
      for (const all of [blocks, ...mixed.values()]) for (const known of all.values()) count += known.size;
    }
  }
  return count;
}

/** What is known under one order of the axes and one expert grid. Keys are numbers: a search asks for them a million times. */
interface PlacePrices {
  readonly prices: Map<number, Prices>;
  readonly blocks: Map<number, Map<number, BlockPrices>>;
  /** The same of layouts with overrides, by the names of their kinds of blocks. */
  readonly mixed: Map<string, Map<number, Map<number, BlockPrices>>>;
  /** What exchanges cost that blocks of several contexts have. */
  readonly exchanges: Map<number, CostBook['exchanges']>;
}

/** 0 where experts have no grid of their own, and a number for every grid. */
const expertsKey = (layout: Layout): number =>
  hasExpertGrid(layout) ? layout.expert * 2 ** 12 + layout.expertTensor : 0;

/** The groups that a block's exchanges run in are made of neighbouring ranks whatever the other degrees are. */
function isNested(layout: Layout): boolean {
  const [first, second, third] = layout.order;
  if (first !== 'tensor') return false;
  if (layout.context > 1) return second === 'context' && !hasExpertGrid(layout);
  return !hasExpertGrid(layout) || (second === 'context' ? third : second) === 'expert';
}

/** Numbers that no {@link degreesKey} is. */
const nestedKey = ({ tensor, context }: Layout): number => -(tensor * 2 ** 17 + context);

/** Degrees of one number of ranks: two of them say the third. */
const degreesKey = ({ tensor, pipeline, data }: Layout): number => (tensor * 2 ** 17 + pipeline) * 2 ** 17 + data;

const contextKinds: readonly Layout['contextKind'][] = ['ring', 'all-to-all', 'all-gather', 'hybrid'];
const backwards: readonly ReturnType<typeof backwardOf>[] = ['whole', 'split', 'either'];
const recomputes: readonly Layout['recompute'][] = ['none', 'selective', 'full'];

/** What a block depends on beside the tensor group that it runs in. */
const blockKey = (layout: Layout): number =>
  ((layout.lossChunks * 2 ** 20 + layout.microBatch) * 4 + contextKinds.indexOf(layout.contextKind)) * 32 +
  // The kinds of blocks say what the layers of overrides recompute.
  (layout.layers.length > 0 ? 0 : recomputes.indexOf(layout.recompute)) * 8 +
  (layout.sequenceParallel ? 4 : 0) +
  (layout.keepGathered ? 2 : 0) +
  (layout.gradientType === 'fp32' ? 1 : 0) +
  backwards.indexOf(backwardOf(layout.schedule)) * 2 ** 48;

interface Known<Key, Value> {
  get(key: Key): Value | undefined;
  set(key: Key, value: Value): unknown;
}

function remember<Key, Value>(known: Known<Key, Value>, key: Key, make: () => Value): Value {
  const found = known.get(key);
  if (found !== undefined) return found;
  const made = make();
  known.set(key, made);
  return made;
}
