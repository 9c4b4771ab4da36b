import type { Bytes, BytesPerSecond, Seconds } from './index.ts';

const GIB = 2 ** 30;

/** Memory in GiB without the unit, one decimal: for columns whose head names the unit. */
export const formatGiB = (value: Bytes): string => (value / GIB).toFixed(1);

/** Bytes with the unit that keeps 3 significant digits, in powers of two: `17.6 GiB`, `512 B`. */
export function formatBytes(value: Bytes): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];
  let amount: number = value;
  let index = 0;
  while (Math.abs(amount) >= 1024 && index < units.length - 1) {
    amount /= 1024;
    index += 1;
  }
  return `${index === 0 ? amount.toFixed(0) : significant(amount)} ${units[index]}`;
}

/** Seconds with the unit that keeps 3 significant digits: `7.10 s`, `43.8 ms`, `5.20 us`. */
export function formatSeconds(value: Seconds): string {
  const size = Math.abs(value);
  if (size === 0) return '0 s';
  if (size < 1e-3) return `${significant(value * 1e6)} us`;
  if (size < 1) return `${significant(value * 1e3)} ms`;
  return `${significant(value)} s`;
}

/** A long time with the unit that people use for it: `33.0 days`, `1.92 h`, `4.10 min`, seconds below two minutes. */
export function formatDuration(value: Seconds): string {
  if (value < 120) return formatSeconds(value);
  if (value < 7200) return `${significant(value / 60)} min`;
  return value < 2 * 86_400 ? `${significant(value / 3600)} h` : `${significant(value / 86_400)} days`;
}

/** A link rate of one direction in decimal GB/s: `450 GB/s`. */
export const formatRate = (value: BytesPerSecond): string => `${significant(value / 1e9)} GB/s`;

/** A share of one as percent with one decimal: `46.7 %`. */
export const formatShare = (value: number): string => `${(value * 100).toFixed(1)} %`;

/** A whole number with separators: `1,340,000`. */
export const formatWhole = (value: number): string =>
  Math.round(value)
    .toString()
    .replace(/\B(?=(\d{3})+$)/g, ',');

/** A count in powers of ten, 3 significant digits: `70.6 B`, `1.34 M`, `820`. */
export function formatCount(value: number): string {
  const size = Math.abs(value);
  if (size >= 1e12) return `${significant(value / 1e12)} T`;
  if (size >= 1e9) return `${significant(value / 1e9)} B`;
  if (size >= 1e6) return `${significant(value / 1e6)} M`;
  if (size >= 1e4) return `${significant(value / 1e3)} k`;
  return Number.isInteger(value) ? String(value) : significant(value);
}

function significant(value: number): string {
  const size = Math.abs(value);
  if (size >= 1000) return value.toFixed(0);
  if (size >= 100) return value.toFixed(0);
  if (size >= 10) return value.toFixed(1);
  return value.toFixed(2);
}
