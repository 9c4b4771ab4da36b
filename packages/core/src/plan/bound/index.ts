/** @file The first tier of evaluation: lower bounds on the time of a step and on the memory of its stages, in O(stages).
 * What they leave open is settled by the walk in `evaluate`, which never comes out below them. The cheapest comes first: the
 * state of a stage asks for no price, its memory for no load, and one time holds for all choices of the data axis.
 */
import type { Layout } from '../../layout/index.ts';
import type { Pricing } from '../evaluate/pricing.ts';
import { createBook } from './book.ts';
import { areOfOneFamily, Family } from './family.ts';
import type { Filled } from './memory.ts';
import { secondsBound } from './time.ts';

/** Each is worked out when it is asked for. */
export interface Bound {
  /** Weights, gradients and optimizer of the stage that holds most of them: at most {@link heldBytes}. */
  readonly stateBytes: number;
  /** Those and what a stage that has filled up holds of its micro-batches, one for many layouts: at most {@link peakBytes}. */
  readonly heldBytes: number;
  /** Of the fullest stage. */
  readonly peakBytes: number;
  /** Weights, gradients and optimizer of that stage. */
  readonly residentBytes: number;
  /** Of the layers alone, and as if nothing were computed or gathered again: at most {@link floorSeconds}, and one for many
   * layouts. */
  readonly lightestSeconds: number;
  /** If all stages computed equally long and never waited: at most {@link computeSeconds}, for a sum. */
  readonly floorSeconds: number;
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
    return this.#family.state(this.#layout).most;
  }

  get heldBytes(): number {
    const { bytes } = this.#family.state(this.#layout);
    const filled = this.#family.filled(this.#layout);
    let most = 0;
    for (let stage = 0; stage < bytes.length; stage++) {
      const held = (bytes[stage] as number) + (filled[stage] as Filled).peak;
      if (held > most) most = held;
    }
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

  get lightestSeconds(): number {
    return this.#family.lightestSeconds();
  }

  get floorSeconds(): number {
    return this.#family.floorSeconds();
  }

  get computeSeconds(): number {
    return this.#family.computeSeconds();
  }

  get seconds(): number {
    return secondsBound(this.#family.input(this.#layout), this.#family.loads());
  }

  #fill(): void {
    const state = this.#family.state(this.#layout).bytes;
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
