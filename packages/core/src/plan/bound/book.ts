/** @file What the bounds of one search share: contents of stages, their loads, the lightest blocks. */
import { blockKinds, optimizerTensors } from '../../compile/index.ts';
import type { Layout } from '../../layout/index.ts';
import { placementOf } from '../../schedules/index.ts';
import type { BlockPrices } from '../blocks.ts';
import type { Pricing } from '../evaluate/pricing.ts';
import type { LayerRow } from '../rows.ts';
import { layersOfKind, type StageContent, type StageLoad, stageContents, stageLoads } from './load.ts';
import { type BoundInput, tailBook } from './time.ts';

/** What the bounds of one search share. */
export interface Book {
  readonly pricing: Pricing;
  readonly common: Pick<BoundInput, 'job' | 'weightType' | 'optimizerTensors' | 'tailOf'>;
  contentsOf(layout: Layout): KnownContents;
  /** Blocks that do nothing twice, otherwise those of the layout; `blocks`, its own, where layers differ in that. */
  lightestOf(layout: Layout, blocks: BlockPrices): BlockPrices;
  loadsOf(layout: Layout, contents: readonly StageContent[]): readonly StageLoad[];
}

export function createBook(pricing: Pricing): Book {
  const { job } = pricing;
  const contents = new Map<readonly LayerRow[], Map<object, KnownContents>>();
  const loads = new Map<readonly StageContent[], Map<BlockPrices, readonly StageLoad[]>>();
  const lightest = new Map<BlockPrices, BlockPrices>();
  let count = 0;
  return {
    pricing,
    common: {
      job,
      weightType: job.precision,
      optimizerTensors: optimizerTensors(job).length,
      tailOf: tailBook(),
    },
    contentsOf: (layout) => {
      const counts = pricing.countsOf(layout);
      const rows = pricing.rowsOf(layout);
      const ofSplit = contents.get(rows) ?? new Map<object, KnownContents>();
      contents.set(rows, ofSplit);
      const found = ofSplit.get(counts);
      const placement = placementOf(layout.schedule);
      // One split serves 2 stages of 3 chunks and 3 stages of 2, and chunks that are placed in several ways.
      if (found?.all.length === layout.pipeline && found.placement === placement) return found;
      const { kinds } = blockKinds(job.model, job.batch.length, layout);
      const all = stageContents({ layout, rows, counts, kinds });
      // Of stages that hold the same, the first keeps the most micro-batches in flight.
      const distinct = [...all.keys()].filter((stage) => stage === 0 || all[stage] !== all[stage - 1]);
      const made = { placement, all, distinct, layersOfKind: layersOfKind(all, placement), states: new Map() };
      ofSplit.set(counts, made);
      return made;
    },
    lightestOf: (layout, blocks) => {
      if (layout.layers.length > 0) return blocks;
      const known = lightest.get(blocks) ?? pricing.blocksOf(doingNothingTwice(layout));
      lightest.set(blocks, known);
      return known;
    },
    loadsOf: (layout, ofStages) => {
      const blocks = pricing.blocksOf(layout);
      const known = loads.get(ofStages) ?? new Map<BlockPrices, readonly StageLoad[]>();
      loads.set(ofStages, known);
      const found = known.get(blocks);
      if (found !== undefined) return found;
      const { launchExchange } = pricing.pricesOf(layout);
      const made = stageLoads({ layout, rows: pricing.rowsOf(layout), contents: ofStages, blocks, launchExchange });
      // Schedules of one split share them, and these follow one another.
      if (++count % MOST_LOADS === 0) loads.clear();
      known.set(blocks, made);
      return made;
    },
  };
}

const doingNothingTwice = (layout: Layout): Layout => ({
  ...layout,
  recompute: 'none',
  keepGathered: layout.sequenceParallel,
});

/** Loads that are kept. */
const MOST_LOADS = 4096;
export interface KnownContents {
  readonly placement: ReturnType<typeof placementOf>;
  readonly all: readonly StageContent[];
  /** Stages that hold another content than the one before them. */
  readonly distinct: readonly number[];
  /** Layers of each kind in the whole model. */
  readonly layersOfKind: readonly number[];
  /** State under degrees and types, see {@link StateBook}. */
  readonly states: Map<number, StateBook>;
}

/** State of the distinct stages by the numbers of {@link stateVariant}. */
export type StateBook = Map<number, StageState>;

/** Bytes of the distinct stages, and the most of them. */
export interface StageState {
  readonly bytes: readonly number[];
  readonly most: number;
}

/** State under the degrees and types of a layout, whatever it computes: known for the layouts before it that have the same. */
export function statesOf({ states }: KnownContents, layout: Layout): StateBook {
  const types = (layout.gradientType === 'fp32' ? 2 : 0) + (layout.offload === 'optimizer' ? 1 : 0);
  const key = (layout.data * 2 ** 17 + layout.context) * 4 + types;
  const found = states.get(key) ?? new Map<number, StageState>();
  states.set(key, found);
  return found;
}
