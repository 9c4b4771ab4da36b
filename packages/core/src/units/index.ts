/** @file Branded numbers for the quantities of this field, with the arithmetic that is allowed on them.
 *
 * A FLOP count takes a multiply-add as 2. Memory is counted in bytes and shown in GiB, link rates are bytes per second
 * of one direction and shown in GB/s. `k`, `M`, `G` are powers of ten, `Ki`, `Mi`, `Gi` powers of two.
 * Hot loops may work on plain numbers inside one file; borders carry the brand.
 */
declare const unit: unique symbol;
type Quantity<Name extends string> = number & { readonly [unit]: Name };

export type Seconds = Quantity<'s'>;
export type Bytes = Quantity<'B'>;
export type Flops = Quantity<'FLOP'>;
/** Bytes per second, one direction. */
export type BytesPerSecond = Quantity<'B/s'>;
export type FlopsPerSecond = Quantity<'FLOP/s'>;

export const seconds = (value: number): Seconds => value as Seconds;
export const microseconds = (value: number): Seconds => (value * 1e-6) as Seconds;
export const bytes = (value: number): Bytes => value as Bytes;
export const gibibytes = (value: number): Bytes => (value * 2 ** 30) as Bytes;
export const flops = (value: number): Flops => value as Flops;
export const bytesPerSecond = (value: number): BytesPerSecond => value as BytesPerSecond;
/** From a figure in decimal GB/s, one direction. */
export const gigabytesPerSecond = (value: number): BytesPerSecond => (value * 1e9) as BytesPerSecond;
/** From a line rate in Gbit/s, one direction. */
export const gigabitsPerSecond = (value: number): BytesPerSecond => ((value * 1e9) / 8) as BytesPerSecond;
export const flopsPerSecond = (value: number): FlopsPerSecond => value as FlopsPerSecond;
export const teraflopsPerSecond = (value: number): FlopsPerSecond => (value * 1e12) as FlopsPerSecond;

export const addSeconds = (...parts: readonly Seconds[]): Seconds =>
  parts.reduce((sum, part) => sum + part, 0) as Seconds;
export const addBytes = (...parts: readonly Bytes[]): Bytes => parts.reduce((sum, part) => sum + part, 0) as Bytes;
export const addFlops = (...parts: readonly Flops[]): Flops => parts.reduce((sum, part) => sum + part, 0) as Flops;
export const scaleSeconds = (value: Seconds, factor: number): Seconds => (value * factor) as Seconds;
export const scaleBytes = (value: Bytes, factor: number): Bytes => (value * factor) as Bytes;
export const scaleFlops = (value: Flops, factor: number): Flops => (value * factor) as Flops;
export const maxSeconds = (...parts: readonly Seconds[]): Seconds => Math.max(...parts) as Seconds;

/** Time to move `amount` at `rate`, without latency. */
export const transferTime = (amount: Bytes, rate: BytesPerSecond): Seconds => (amount / rate) as Seconds;
/** Time to compute `work` at `rate`. */
export const computeTime = (work: Flops, rate: FlopsPerSecond): Seconds => (work / rate) as Seconds;

export {
  formatBytes,
  formatCount,
  formatDuration,
  formatGiB,
  formatRate,
  formatSeconds,
  formatShare,
  formatWhole,
} from './format.ts';
