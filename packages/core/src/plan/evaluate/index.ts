/** @file The middle tier of evaluation: a step at block level, priced and placed, memory exact. */
import { microBatches } from '../../compile/index.ts';
import type { PriceBook, PriceOptions } from '../../cost/index.ts';
import type { Job } from '../../job/index.ts';
import type { Layout } from '../../layout/index.ts';
import { isSplit, shapeOf } from '../../schedules/index.ts';
import { LOOKAHEAD, lookahead, orderBook } from './loops.ts';
import type { WalkOrder } from './order.ts';
import { createPricing, type Pricing } from './pricing.ts';
import { type StepSpec, stepSpec } from './spec.ts';

/** What evaluations of one job share: prices, and orders by schedule. Belongs to one search. */
export interface Evaluator extends Pricing {
  orderOf(layout: Layout): WalkOrder;
  specOf(layout: Layout): StepSpec;
}

/** An evaluator with empty caches. `book` stands in for the prices of the cluster. */
export const createEvaluator = (job: Job, options: PriceOptions = {}, book?: Pick<PriceBook, 'pricesOf'>): Evaluator =>
  evaluatorOf(createPricing(job, options, book));

/** An evaluator over prices that may be known already. */
export function evaluatorOf(pricing: Pricing): Evaluator {
  const { job } = pricing;
  const orders = orderBook();
  return {
    ...pricing,
    orderOf: (layout) => orders(shapeOf(layout, microBatches(job, layout)), lookaheadOf(layout)),
    specOf: (layout) =>
      stepSpec({
        job,
        layout,
        counts: pricing.countsOf(layout),
        blocks: pricing.blocksOf(layout),
        rows: pricing.rowsOf(layout),
        prices: pricing.pricesOf(layout),
        weightType: job.precision,
      }),
  };
}

/** Only units of sharding 3 are gathered ahead, and only before the steady state where they are kept. */
function lookaheadOf(layout: Layout): number {
  const { sharding, data, context, prefetch, reshard, layersPerStage, pipeline, chunks } = layout;
  if (sharding < 3 || data * context === 1 || !reshard) return LOOKAHEAD;
  const uses = lookahead(prefetch, Math.min(...layersPerStage), pipeline, chunks);
  // Weight parts stand between invocations and use no units: two of three invocations do in a steady round.
  return isSplit(layout.schedule) ? Math.ceil((uses * 3) / 2) : uses;
}

export type { WalkOrder } from './order.ts';
export { createPricing, type Pricing, pricingOfSequences } from './pricing.ts';
export type { StepSpec } from './spec.ts';
export { type Evaluation, evaluateStep } from './walk.ts';
