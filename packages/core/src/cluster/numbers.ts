import type { Fields } from '../errors/fields/index.ts';
import { givenFact } from './fact.ts';
import type { Fact } from './types.ts';

/** Bounds of a given number. */
export interface NumberRule {
  readonly whole?: boolean;
  readonly min: number;
  readonly max: number;
}

const positive: NumberRule = { min: 1e-6, max: 1e9 };
/** A share of a rate. */
export const share: NumberRule = { min: 0.01, max: 1 };

/** The given number as a fact in the unit of `scale`, or the preset's. */
export function fact(
  fields: Fields | undefined,
  key: string,
  scale: number,
  base: Fact,
  { whole = false, min, max }: NumberRule = positive,
): Fact {
  const rule = { what: key, min, max };
  const value = whole ? fields?.integer([key], rule) : fields?.real([key], rule);
  return value === undefined ? base : givenFact(value * scale);
}
