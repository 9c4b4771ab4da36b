/** @file Numbers as the page shows them, from the formatters of core. */
import { bytes, formatBytes, formatGiB, formatSeconds, formatShare, seconds } from '@meshwright/core/units';

export const time = (value: number): string => formatSeconds(seconds(value));
export const size = (value: number): string => formatBytes(bytes(value));
export const gib = (value: number): string => formatGiB(bytes(value));
export const share = (value: number): string => formatShare(value);

/** A difference of two shares. */
export const points = (value: number): string => `${(value * 100).toFixed(1)} points`;

/** A whole number with separators. */
export const grouped = (value: number): string => Math.round(value).toLocaleString('en-US');

/** A difference with its sign: `+1.20 s`, `\u22120.40 s`; without one where it is written as nothing. */
export function signed(value: number, words: (size: number) => string): string {
  const size = words(Math.abs(value));
  if (!/[1-9]/.test(size)) return size;
  return `${value < 0 ? '\u2212' : '+'}${size}`;
}
