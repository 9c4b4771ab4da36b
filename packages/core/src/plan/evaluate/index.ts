/** @file The middle tier of evaluation: a step at block level, priced and placed, memory exact. */
import { blockContext, microBatches, type ParameterCounts, parameterCounts } from '../../compile/index.ts';
import { createPriceBook, type PriceBook, type PriceOptions, type Prices } from '../../cost/index.ts';
import type { Job } from '../../job/index.ts';
import type { Layout } from '../../layout/index.ts';
import { createMesh } from '../../mesh/index.ts';
import { pricesOf } from '../../sim/index.ts';
import { type BlockPrices, priceBlocks } from '../blocks.ts';
import { priceOptionsOf } from '../price-options.ts';
import { LOOKAHEAD, lookahead, orderBook } from './loops.ts';
import type { WalkOrder } from './order.ts';
import { type StepSpec, stepSpec } from './spec.ts';

/** What evaluations of one job share: prices by mesh, blocks by context, orders by schedule. Belongs to one search. */
export interface Evaluator {
  readonly job: Job;
  pricesOf(layout: Layout): Prices;
  blocksOf(layout: Layout): BlockPrices;
  countsOf(layout: Layout): ParameterCounts;
  orderOf(layout: Layout): WalkOrder;
  specOf(layout: Layout): StepSpec;
  /** Distinct blocks priced so far. */
  readonly blockCount: () => number;
}

/** An evaluator with empty caches. `book` stands in for the prices of the cluster. */
export function createEvaluator(
  job: Job,
  options: PriceOptions = {},
  book: Pick<PriceBook, 'pricesOf'> = createPriceBook(job.cluster, { ...priceOptionsOf(job), ...options }),
): Evaluator {
  const prices = new Map<string, Prices>();
  const blocks = new Map<string, BlockPrices>();
  const counts = new Map<number, ParameterCounts>();
  const orders = orderBook();

  const pricesFor = (layout: Layout): Prices => {
    const { tensor, data, pipeline, order } = layout;
    return remember(prices, `${tensor}:${data}:${pipeline}:${order.join()}`, () =>
      book.pricesOf(createMesh({ tensor, data, pipeline }, order)),
    );
  };
  const blocksFor = (layout: Layout): BlockPrices => {
    const { tensor, microBatch, recompute, sequenceParallel, keepGathered, gradientType, order } = layout;
    const near = order[0] === 'tensor' ? '' : `${layout.data}:${layout.pipeline}:${order.join()}`;
    const key = `${tensor}:${microBatch}:${recompute}:${sequenceParallel}:${keepGathered}:${gradientType}:${near}`;
    return remember(blocks, key, () => {
      const context = blockContext(job, layout);
      return priceBlocks(context, gradientType, (sample) => {
        const { duration, launchCompute, launchExchange } = pricesOf(sample.program, pricesFor(layout));
        const [list] = sample.program.lists;
        if (list === undefined) throw new Error('internal: a sample without a list.');
        return { duration: (operation) => duration(operation, list), launchCompute, launchExchange };
      });
    });
  };
  const countsFor = (layout: Layout): ParameterCounts =>
    remember(counts, layout.tensor * 2 + (layout.sequenceParallel ? 1 : 0), () => parameterCounts(job.model, layout));
  const orderFor = (layout: Layout): WalkOrder => {
    const { schedule, pipeline, chunks } = layout;
    return orders({ schedule, stages: pipeline, chunks, microBatches: microBatches(job, layout) }, lookaheadOf(layout));
  };
  return {
    job,
    pricesOf: pricesFor,
    blocksOf: blocksFor,
    countsOf: countsFor,
    orderOf: orderFor,
    specOf: (layout) =>
      stepSpec({
        job,
        layout,
        counts: countsFor(layout),
        blocks: blocksFor(layout),
        prices: pricesFor(layout),
        weightType: job.precision,
      }),
    blockCount: () => blocks.size,
  };
}

/** Only units of sharding 3 are gathered ahead. */
function lookaheadOf({ sharding, data, prefetch, layersPerStage, pipeline, chunks }: Layout): number {
  if (sharding < 3 || data === 1) return LOOKAHEAD;
  return lookahead(prefetch, Math.min(...layersPerStage), pipeline, chunks);
}

function remember<Key, Value>(known: Map<Key, Value>, key: Key, make: () => Value): Value {
  const found = known.get(key);
  if (found !== undefined) return found;
  const made = make();
  known.set(key, made);
  return made;
}

export type { WalkOrder } from './order.ts';
export type { StepSpec } from './spec.ts';
export { type Evaluation, evaluateStep } from './walk.ts';
