import type { FrameworkFact } from './types.ts';

/** A fact that was read in the year-month of `asOf`. */
export const fact = <const Value>(value: Value, source: string, asOf = '2026-11'): FrameworkFact<Value> => ({
  value,
  source,
  asOf,
});
