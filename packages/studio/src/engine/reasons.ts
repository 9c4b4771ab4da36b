import { type CodeRow, codes } from '@meshwright/core/errors';

/** Meaning and fix of codes. */
export const reasonsOf = (wanted: readonly string[]): Readonly<Record<string, CodeRow>> =>
  Object.fromEntries(Object.entries(codes).filter(([code]) => wanted.includes(code)));
