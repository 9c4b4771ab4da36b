/** @file Layouts that differ in nothing but the data axis: what is worked out once for all of them. */
import { microBatches } from '../../compile/index.ts';
import type { Layout } from '../../layout/index.ts';
import { type Book, type KnownContents, type StageState, type StateBook, statesOf } from './book.ts';
import type { StageLoad } from './load.ts';
import { type Filled, filledStages, stateOfStages, workingOfStages } from './memory.ts';
import { type BoundInput, computeBound, floorBound, layersFloor } from './time.ts';

/** Whether two layouts differ in nothing but the data axis. */
export const areOfOneFamily = (one: Layout, other: Layout): boolean =>
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

/** Bytes of the distinct stages under a few choices of the data axis: too few for a map, and a search makes a million. */
interface Variants {
  readonly keys: number[];
  readonly made: (readonly number[])[];
}

/** Layouts that differ in the data axis only, and what they have in common. */
export class Family {
  readonly layout: Layout;
  readonly #book: Book;
  readonly #contents: KnownContents;
  readonly #states: StateBook;
  readonly #working: Variants = { keys: [], made: [] };
  #filled: readonly Filled[] | undefined;
  #shared: Pick<BoundInput, 'counts' | 'blocks' | 'rows' | 'prices' | 'microBatches'> | undefined;
  #loads: readonly StageLoad[] | undefined;
  #lightest: number | undefined;
  #floor: number | undefined;
  #computeSeconds: number | undefined;

  constructor(book: Book, layout: Layout) {
    this.#book = book;
    this.layout = layout;
    this.#contents = book.contentsOf(layout);
    this.#states = statesOf(this.#contents, layout);
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
  state(layout: Layout): StageState {
    const variant = layout.replicate * 8 + layout.sharding * 2 + (isReducedEach(layout) ? 1 : 0);
    const found = this.#states.get(variant);
    if (found !== undefined) return found;
    const bytes = stateOfStages(this.#book.common, layout, this.#contents);
    const made = { bytes, most: Math.max(...bytes) };
    this.#states.set(variant, made);
    return made;
  }

  /** Stages as they are when they have filled up. */
  filled(layout: Layout): readonly Filled[] {
    this.#filled ??= filledStages(this.input(layout), this.#contents.distinct);
    return this.#filled;
  }

  /** Working bytes of the distinct stages: of the data axis they see what is gathered and what each micro-batch reduces. */
  working(layout: Layout): readonly number[] {
    const { keys, made } = this.#working;
    const ahead = layout.sharding === 3 ? 1 + layout.prefetch : 0;
    const variant = (layout.replicate * 2 ** 16 + ahead) * 2 + (isReducedEach(layout) ? 1 : 0);
    const at = keys.indexOf(variant);
    if (at >= 0) return made[at] as readonly number[];
    const input = this.input(layout);
    const bytes = workingOfStages(input, this.filled(layout));
    keys.push(variant);
    made.push(bytes);
    return bytes;
  }

  loads(): readonly StageLoad[] {
    this.#loads ??= this.#book.loadsOf(this.layout, this.#contents.all);
    return this.#loads;
  }

  lightestSeconds(): number {
    if (this.#lightest === undefined) {
      const input = this.input(this.layout);
      const blocks = this.#book.lightestOf(this.layout, input.blocks);
      this.#lightest = layersFloor({ ...input, blocks }, this.#contents.layersOfKind);
    }
    return this.#lightest;
  }

  floorSeconds(): number {
    this.#floor ??= floorBound(this.input(this.layout), this.#contents.layersOfKind);
    return this.#floor;
  }

  computeSeconds(): number {
    this.#computeSeconds ??= computeBound(this.input(this.layout), this.loads());
    return this.#computeSeconds;
  }
}

const isReducedEach = ({ sharding, gradientReduction }: Layout): boolean =>
  sharding >= 2 && gradientReduction === 'per-micro-batch';
