/** @file Numbers as cells show them: no unit, fixed decimals, thousands separated. */

import { formatWhole } from '@meshwright/core/units';

/** A whole number with separators: `1,340,000`. */
export const whole = (value: number): string => formatWhole(value);

/** A number with fixed decimals and separators: `12,345.6`. */
export function fixed(value: number, decimals: number): string {
  const [digits = '', rest] = value.toFixed(decimals).split('.');
  const grouped = digits.replace(/\B(?=(\d{3})+$)/g, ',');
  return rest === undefined ? grouped : `${grouped}.${rest}`;
}

/** A share of one as percent, without the sign: `46.7`. */
export const percent = (share: number, decimals = 1): string => fixed(share * 100, decimals);

/** A length in words: `1 layer`, `80 layers`. */
export const count = (value: number, noun: string): string => `${whole(value)} ${noun}${value === 1 ? '' : 's'}`;

/** A number with at least three significant digits: `0.818`, `43.8`, `1,240`. */
export function significant(value: number): string {
  const size = Math.abs(value);
  return fixed(value, size >= 100 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 3);
}

/** One unit for a column of bytes. */
export interface ByteColumn {
  readonly unit: string;
  cell(bytes: number): string;
}

/** The unit in which the largest of a column has one to four digits before the point, in powers of two. */
export function byteColumn(amounts: readonly number[]): ByteColumn {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  const largest = Math.max(1, ...amounts);
  const index = Math.min(units.length - 1, Math.floor(Math.log2(largest) / 10));
  return {
    unit: units[index] ?? 'B',
    cell: (bytes) =>
      index === 0 ? whole(bytes) : fixed(bytes / 1024 ** index, largest / 1024 ** index >= 100 ? 1 : 2),
  };
}
