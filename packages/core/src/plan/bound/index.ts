/** @file The first tier of evaluation: lower bounds on the time of a step and on the memory of its stages, in O(stages).
 * What they leave open is settled by the walk in `evaluate`, which never comes out below them.
 */
import { microBatches, optimizerTensors } from '../../compile/index.ts';
import type { Layout } from '../../layout/index.ts';
import type { BlockPrices } from '../blocks.ts';
import type { Pricing } from '../evaluate/pricing.ts';
import { type StageLoad, stageLoads } from './load.ts';
import { peakBound } from './memory.ts';
import { type BoundInput, secondsBound, tailBook } from './time.ts';

export interface Bound {
  readonly seconds: number;
  /** Of the fullest stage. */
  readonly peakBytes: number;
  /** Weights, gradients and optimizer of that stage. */
  readonly residentBytes: number;
}

/** Lower bounds of legal layouts in normal form. What layouts share (the loads of their stages) is worked out once. */
export function boundBook(pricing: Pricing): (layout: Layout) => Bound {
  const { job } = pricing;
  const tensors = optimizerTensors(job).length;
  const tailOf = tailBook();
  const known = new Map<readonly number[], Map<BlockPrices, readonly StageLoad[]>>();
  const loadsOf = (layout: Layout, blocks: BlockPrices, launchExchange: number): readonly StageLoad[] => {
    let ofSplit = known.get(layout.layersPerStage);
    if (ofSplit === undefined) {
      ofSplit = new Map();
      known.set(layout.layersPerStage, ofSplit);
    }
    const found = ofSplit.get(blocks);
    // One split serves 2 stages of 3 chunks and 3 stages of 2.
    if (found?.length === layout.pipeline) return found;
    const loads = stageLoads({
      layout,
      rows: pricing.rowsOf(layout),
      counts: pricing.countsOf(layout),
      blocks,
      launchExchange,
    });
    ofSplit.set(blocks, loads);
    return loads;
  };
  return (layout) => {
    const blocks = pricing.blocksOf(layout);
    const prices = pricing.pricesOf(layout);
    const input = {
      job,
      layout,
      counts: pricing.countsOf(layout),
      blocks,
      rows: pricing.rowsOf(layout),
      prices,
      microBatches: microBatches(job, layout),
      weightType: job.precision,
      optimizerTensors: tensors,
      tailOf,
    };
    const loads = loadsOf(layout, blocks, prices.launchExchange);
    return new LazyBound(input, loads);
  };
}

/** Half of the layouts of a large space do not fit: nobody asks for their seconds. */
class LazyBound implements Bound {
  readonly peakBytes: number;
  readonly residentBytes: number;
  readonly #input: BoundInput;
  readonly #loads: readonly StageLoad[];

  constructor(input: BoundInput, loads: readonly StageLoad[]) {
    const { peakBytes, residentBytes } = peakBound(input, loads);
    this.peakBytes = peakBytes;
    this.residentBytes = residentBytes;
    this.#input = input;
    this.#loads = loads;
  }

  get seconds(): number {
    return secondsBound(this.#input, this.#loads);
  }
}

/** Lower bounds of one legal layout in normal form. */
export const boundOf = (pricing: Pricing, layout: Layout): Bound => boundBook(pricing)(layout);
