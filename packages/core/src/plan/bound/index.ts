/** @file The first tier of evaluation: lower bounds on the time of a step and on the memory of its stages, in O(stages).
 * What they leave open is settled by the walk in `evaluate`, which never comes out below them. The cheapest comes first: the
 * state of a stage asks for no price, its memory for no load, and one time holds for all choices of the data axis.
 */
import { blockKinds, microBatches, optimizerTensors } from '../../compile/index.ts';
import type { Layout } from '../../layout/index.ts';
import { placementOf } from '../../schedules/index.ts';
import type { BlockPrices } from '../blocks.ts';
import type { Pricing } from '../evaluate/pricing.ts';
import type { LayerRow } from '../rows.ts';
import { type StageContent, type StageLoad, stageContents, stageLoads } from './load.ts';
import { type Filled, filledStages, stateOfStages, workingOfStages } from './memory.ts';
import { type BoundInput, computeBound, secondsBound, tailBook } from './time.ts';

/** Each is worked out when it is asked for. */
export interface Bound {
  /** Weights, gradients and optimizer of the stage that holds most of them: at most {@link peakBytes}. */
  readonly stateBytes: number;
  /** Of the fullest stage. */
  readonly peakBytes: number;
  /** Weights, gradients and optimizer of that stage. */
  readonly residentBytes: number;
  /** Without the data axis: at most {@link seconds}. */
  readonly computeSeconds: number;
  readonly seconds: number;
}

/** Lower bounds of legal layouts in normal form. What layouts share (the loads of their stages) is worked out once; those
 * that differ in the data axis only should follow one another.
 */
export function boundBook(pricing: Pricing): (layout: Layout) => Bound {
  const book = createBook(pricing);
  let family: Family | undefined;
  return (layout) => {
    if (family === undefined || !areOfOneFamily(family.layout, layout)) family = new Family(book, layout);
    return new LazyBound(family, layout);
  };
}

/** What the bounds of one search share. */
interface Book {
  readonly pricing: Pricing;
  readonly common: Pick<BoundInput, 'job' | 'weightType' | 'optimizerTensors' | 'tailOf'>;
  contentsOf(layout: Layout): KnownContents;
  loadsOf(layout: Layout, contents: readonly StageContent[]): readonly StageLoad[];
}

function createBook(pricing: Pricing): Book {
  const { job } = pricing;
  const contents = new Map<readonly LayerRow[], Map<object, KnownContents>>();
  const loads = new Map<readonly StageContent[], Map<BlockPrices, readonly StageLoad[]>>();
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
      const made = { placement, all, distinct };
      ofSplit.set(counts, made);
      return made;
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

/** Loads that are kept. */
const MOST_LOADS = 4096;
interface KnownContents {
  readonly placement: ReturnType<typeof placementOf>;
  readonly all: readonly StageContent[];
  /** Stages that hold another content than the one before them. */
  readonly distinct: readonly number[];
}

/** Whether two layouts differ in nothing but the data axis. */
const areOfOneFamily = (one: Layout, other: Layout): boolean =>
  one.layersPerStage === other.layersPerStage &&
  one.tensor === other.tensor &&
  one.data === other.data &&
  one.pipeline === other.pipeline &&
  one.context === other.context &&
  one.contextKind === other.contextKind &&
  one.expert === other.expert &&
  one.expertTensor === other.expertTensor &&
  one.microBatch === other.microBatch &&
  one.chunks === other.chunks &&
  one.schedule === other.schedule &&
  one.recompute === other.recompute &&
  one.layers === other.layers &&
  one.lossChunks === other.lossChunks &&
  one.sequenceParallel === other.sequenceParallel &&
  one.keepGathered === other.keepGathered &&
  one.gradientType === other.gradientType &&
  one.order === other.order;

/** Layouts that differ in the data axis only, and what they have in common. */
class Family {
  readonly layout: Layout;
  readonly #book: Book;
  readonly #contents: KnownContents;
  readonly #state = new Map<number, Float64Array>();
  readonly #working = new Map<number, Float64Array>();
  #filled: readonly Filled[] | undefined;
  #shared: Pick<BoundInput, 'counts' | 'blocks' | 'rows' | 'prices' | 'microBatches'> | undefined;
  #loads: readonly StageLoad[] | undefined;
  #computeSeconds: number | undefined;

  constructor(book: Book, layout: Layout) {
    this.#book = book;
    this.layout = layout;
    this.#contents = book.contentsOf(layout);
  }

  /** Prices the blocks. */
  input(layout: Layout): BoundInput {
    const { pricing, common } = this.#book;
    this.#shared ??= {
      counts: pricing.countsOf(layout),
      blocks: pricing.blocksOf(layout),
      rows: pricing.rowsOf(layout),
      prices: pricing.pricesOf(layout),
      microBatches: microBatches(pricing.job, layout),
    };
    const { job, weightType, optimizerTensors: tensors, tailOf } = common;
    const { counts, blocks, rows, prices, microBatches: count } = this.#shared;
    // Field by field: a search asks a million times, and spreads are slow.
    return {
      job,
      layout,
      counts,
      blocks,
      rows,
      prices,
      weightType,
      microBatches: count,
      optimizerTensors: tensors,
      tailOf,
    };
  }

  /** State of the distinct stages: of the data axis it sees the shards and when gradients are reduced. */
  state(layout: Layout): Float64Array {
    const variant = layout.replicate * 8 + layout.sharding * 2 + (isReducedEach(layout) ? 1 : 0);
    const known = this.#state.get(variant);
    if (known !== undefined) return known;
    const made = stateOfStages(this.#book.common, layout, this.#contents);
    this.#state.set(variant, made);
    return made;
  }

  /** Working bytes of the distinct stages: of the data axis they see what is gathered and what each micro-batch reduces. */
  working(layout: Layout): Float64Array {
    const ahead = layout.sharding === 3 ? 1 + layout.prefetch : 0;
    const variant = (layout.replicate * 2 ** 16 + ahead) * 2 + (isReducedEach(layout) ? 1 : 0);
    const known = this.#working.get(variant);
    if (known !== undefined) return known;
    const input = this.input(layout);
    this.#filled ??= filledStages(input, this.#contents.distinct);
    const made = workingOfStages(input, this.#filled);
    this.#working.set(variant, made);
    return made;
  }

  loads(): readonly StageLoad[] {
    this.#loads ??= this.#book.loadsOf(this.layout, this.#contents.all);
    return this.#loads;
  }

  computeSeconds(): number {
    this.#computeSeconds ??= computeBound(this.input(this.layout), this.loads());
    return this.#computeSeconds;
  }
}

const isReducedEach = ({ sharding, gradientReduction }: Layout): boolean =>
  sharding >= 2 && gradientReduction === 'per-micro-batch';

/** Half of the layouts of a large space do not fit: nobody asks for their seconds, nor for the prices of their blocks. */
class LazyBound implements Bound {
  readonly #family: Family;
  readonly #layout: Layout;
  #peakBytes = -1;
  #residentBytes = 0;

  constructor(family: Family, layout: Layout) {
    this.#family = family;
    this.#layout = layout;
  }

  get stateBytes(): number {
    let most = 0;
    for (const bytes of this.#family.state(this.#layout)) if (bytes > most) most = bytes;
    return most;
  }

  get peakBytes(): number {
    if (this.#peakBytes < 0) this.#fill();
    return this.#peakBytes;
  }

  get residentBytes(): number {
    if (this.#peakBytes < 0) this.#fill();
    return this.#residentBytes;
  }

  get computeSeconds(): number {
    return this.#family.computeSeconds();
  }

  get seconds(): number {
    return secondsBound(this.#family.input(this.#layout), this.#family.loads());
  }

  #fill(): void {
    const state = this.#family.state(this.#layout);
    const working = this.#family.working(this.#layout);
    this.#peakBytes = 0;
    for (let stage = 0; stage < state.length; stage++) {
      const bytes = (state[stage] as number) + (working[stage] as number);
      if (bytes <= this.#peakBytes) continue;
      this.#peakBytes = bytes;
      this.#residentBytes = state[stage] as number;
    }
  }
}

/** Lower bounds of one legal layout in normal form. */
export const boundOf = (pricing: Pricing, layout: Layout): Bound => boundBook(pricing)(layout);
