/** @file Numbers as the sentences of the flow say them. */
import { type Issue, renderIssue } from '../errors/index.ts';
import {
  bytes,
  formatBytes,
  formatCount,
  formatDuration,
  formatSeconds,
  formatShare,
  formatWhole,
  seconds,
} from '../units/index.ts';
import type { Quantity } from './types.ts';

/** Decimal units, as the laws of state are told (7 B parameters: 112 GB). */
export function gigabytes(value: number): string {
  if (value >= 1e12) return `${(value / 1e12).toFixed(value < 1e13 ? 2 : 1)} TB`;
  return `${(value / 1e9).toFixed(value < 1e10 ? 2 : 1)} GB`;
}

/** `107.8 GB (100 GiB)`: as laws are told, and as devices are. */
export const bothBytes = (value: number): string => `${gigabytes(value)} (${gib(value)})`;

export const gib = (value: number): string => formatBytes(bytes(value));
export const time = (value: number): string => formatSeconds(seconds(value));
/** Days, hours or minutes. */
export const duration = (value: number): string => formatDuration(seconds(value));
export const share = (value: number): string => formatShare(value);
export const amount = (value: number): string => formatCount(value);

/** A whole number with separators: `3,072`. */
export const whole = (value: number): string => formatWhole(value);

/** A quantity, for lists of numbers. */
export const quantity = (what: string, value: number, unit: Quantity['unit'], symbols?: string): Quantity => ({
  what,
  ...(symbols !== undefined && { symbols }),
  value,
  unit,
});

/** Why nothing of a kind is legal: the first issue in full, the codes of the others. */
export function issueWords(issues: readonly Issue[]): string {
  const [first, ...others] = issues;
  if (first === undefined) return 'no layout of this kind is legal.';
  const more = others.length > 0 ? ` Also ${others.map((each) => each.code).join(', ')}.` : '';
  return `${renderIssue(first)}${more}`;
}
