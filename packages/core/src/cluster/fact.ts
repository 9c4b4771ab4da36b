import type { FactRow } from './fit-types.ts';
import { factSources, factsAsOf } from './generated/hardware.ts';
import type { Fact } from './types.ts';

/** A fact from a row of the hardware table. */
export function factOf(row: FactRow): Fact {
  const [value, kind, source] = row;
  const [low, high] = row[1] === 'assumed' ? [row[3], row[4]] : [value, value];
  return Object.freeze({ value, kind, source: factSources[source], asOf: factsAsOf, low, high });
}

/** A number that the user gave; `asOf` is that of the tables, the user did not say. */
export const givenFact = (value: number): Fact =>
  Object.freeze({ value, kind: 'given', source: 'given in the cluster', asOf: factsAsOf, low: value, high: value });

/** A number that nobody measured here, with the range that it may lie in. */
export const assumedFact = (value: number, source: string, low: number, high: number): Fact =>
  Object.freeze({ value, kind: 'assumed', source, asOf: factsAsOf, low, high });

/** A number that a fit of bench/fit.mjs found. */
export const fittedFact = (value: number, source: string): Fact =>
  Object.freeze({ value, kind: 'fitted', source, asOf: factsAsOf, low: value, high: value });

/** An object with everything in it frozen. */
export function freezeDeep<Value extends object>(value: Value): Value {
  for (const each of Object.values(value)) if (typeof each === 'object' && each !== null) freezeDeep(each);
  return Object.freeze(value);
}
