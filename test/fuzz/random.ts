/** @file Numbers drawn from a seed: the same seed and case give the same text on every machine. */

/** Draws for one case. */
export interface Draws {
  /** A number in [0, 1). */
  real(): number;
  /** A whole number in [0, below). */
  whole(below: number): number;
  chance(share: number): boolean;
  /** One of `values`, which are not none. */
  pick<T>(values: readonly T[]): T;
}

/** Draws of case `index` of the run `seed` (mulberry32, started from both mixed by multiplication). */
export function drawsOf(seed: number, index: number): Draws {
  let state = (Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b) ^ Math.imul(index + 1, 0xc2b2ae35)) >>> 0;
  const real = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const whole = (below: number): number => Math.floor(real() * below);
  return { real, whole, chance: (share) => real() < share, pick: (values) => values[whole(values.length)] as never };
}
