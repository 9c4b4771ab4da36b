/** @file Device time of one kernel that runs alone. Every formula has its source in docs/sources.md, "Prices". */
import { type DeviceSpec, type GemmModel, halfProducts } from '../cluster/index.ts';
import type { AttentionWork, GemmWork, KernelName, Work } from '../program/index.ts';
import { launchesOf } from './launches.ts';
import type { PriceOptions } from './price-types.ts';

/** Device seconds before a memory-bound kernel moves its first byte. Assumed, 1 to 5 us. */
export const KERNEL_START = 2e-6;
/** Sequence at which attention reaches half of its rate. */
const HALF_SEQUENCE = 300;
/** Share of the rate at head size 64 over that at 128. */
const SMALL_HEAD = 0.8;
/** Waves at which the efficiency of attention is stated. */
const STATED_WAVES = 10;
/** Products of experts that run side by side where they are launched one by one: streams of Transformer Engine. */
const STREAMS = 4;
/** Rows of a tile of attention. */
const ATTENTION_TILE = 128;

/** Numbers of one type, ready for use. */
interface GemmTerms {
  readonly start: number;
  readonly fillK: number;
  readonly quantise: number;
  /** Seconds per unit of depth of one wave, for each tile. */
  readonly wide: number;
  readonly square: number;
  readonly narrow: number;
}

/** What decides the price of work beside the device. */
export type ComputeOptions = Pick<
  PriceOptions,
  'attention' | 'traffic' | 'castsProducts' | 'fp8' | 'addsSeparately' | 'expertProducts'
> & {
  readonly sustained: number;
  /** Seconds of the slowest device over those of the mean one. */
  readonly slowest: number;
};

/** Seconds of work; `tensor` is the degree that cuts the vocabulary. */
export type ComputePrice = (work: Work, kernel: KernelName | undefined, tensor: number) => number;

/** The price of work on a device: seconds, alone, without the host.
 *
 * `sustained` is the share of the fitted burst rate of products that training keeps up; attention and memory rates are
 * not multiplied with it (their numbers are sustained already).
 */
export function createComputePrice(device: DeviceSpec, options: ComputeOptions): ComputePrice {
  const bandwidth = device.memoryBandwidth.value * device.memoryEfficiency.value;
  const gemm = gemmPrice(device, bandwidth, options);
  const attention = attentionPrice(device, bandwidth, options);
  const { traffic = {}, slowest, expertProducts = 'grouped' } = options;
  const factorOf = (kernel: KernelName | undefined): number => (kernel === undefined ? 1 : (traffic[kernel] ?? 1));
  return (work, kernel, tensor) => {
    switch (work.kind) {
      case 'gemm':
        return slowest * gemm(work, tensor, Math.max(1, launchesOf(work, kernel, expertProducts) / STREAMS));
      case 'attention':
        return slowest * attention(work);
      case 'memory':
        return slowest * (KERNEL_START + (factorOf(kernel) * (work.bytesRead + work.bytesWritten)) / bandwidth);
    }
  };
}

function gemmPrice(
  device: DeviceSpec,
  bandwidth: number,
  { sustained, castsProducts = false, addsSeparately = false, fp8 }: ComputeOptions,
): (work: GemmWork, tensor: number, starts: number) => number {
  const multiprocessors = device.multiprocessors.value;
  const halves = halfProducts(device);
  const terms = {
    fp32: termsOf(device.gemm.fp32, multiprocessors, sustained),
    half: termsOf(halves, multiprocessors, sustained),
    fp8: termsOf(device.gemm.fp8 ?? halves, multiprocessors, sustained),
  };
  const { accumulate, grouped, groupedAccumulate } = device.products;
  const factor = { accumulate: accumulate.value, grouped: grouped.value, both: groupedAccumulate.value };

  /** The head, attention's own products and everything in fp32 keep their type. */
  const isQuantised = ({ m, n, k, batch, dtype }: GemmWork, tensor: number): boolean => {
    if (dtype === 'fp8') return true;
    if (fp8 === undefined || dtype === 'fp32' || batch > 1) return false;
    const vocabulary = Math.ceil(fp8.vocabulary / tensor);
    return m !== vocabulary && n !== vocabulary && k !== vocabulary;
  };

  return (work, tensor, starts) => {
    const { m, n, k, batch, dtype } = work;
    const casts = dtype === 'fp32' && castsProducts;
    const quantised = isQuantised(work, tensor);
    const term = quantised ? terms.fp8 : dtype === 'fp32' && !casts ? terms.fp32 : terms.half;
    const depth = k + term.fillK;
    let math = tileTime(m, n, batch, depth, term, multiprocessors, 1);
    if (work.accumulate && batch === 1 && Math.ceil(m / 128) * Math.ceil(n / 64) < multiprocessors) {
      // Few tiles: libraries split the depth over idle multiprocessors and add the parts up. Assumed, not measured.
      for (let parts = 2; parts <= 8; parts *= 2) {
        const split = tileTime(m, n, batch, k / parts + term.fillK, term, multiprocessors, parts);
        math = Math.min(math, split + (8 * parts * m * n) / bandwidth);
      }
    }
    const adds = work.accumulate && addsSeparately;
    // The product writes 2 bytes; the sum reads them and the 4 that are there, and writes 4.
    const sum = adds ? KERNEL_START + (10 * m * n * batch) / bandwidth : 0;
    const rate =
      batch > 1 ? (work.accumulate ? factor.both : factor.grouped) : work.accumulate && !adds ? factor.accumulate : 1;
    const moved = (work.bytesRead + work.bytesWritten) / bandwidth;
    const quantise = term.quantise * (fp8?.casts ?? 1) * batch;
    // One cast to 16 bit (read 4 bytes, write 2) serves the two products that read it.
    const cast = ((3 * quantise + (casts ? 3 : 0)) * m * k) / bandwidth;
    return starts * term.start + Math.max(math / rate, moved) + cast + sum;
  };
}

function attentionPrice(
  device: DeviceSpec,
  bandwidth: number,
  options: ComputeOptions,
): (work: AttentionWork) => number {
  const { forward, backward, forwardWaves, backwardWaves } = device.attention;
  const share = options.attention ?? { forward: 1, backward: 1 };
  const peak = halfProducts(device).peak.value;
  const forwardRate = forward.value * share.forward * peak;
  const backwardRate = backward.value * share.backward * peak;
  const singleShare = device.gemm.fp32.peak.value / peak;
  const multiprocessors = device.multiprocessors.value;
  return (work) => {
    const isForward = work.direction === 'forward';
    const half = isForward ? forwardWaves.value : backwardWaves.value;
    const waves = (work.batch * work.heads * Math.ceil(work.sequence / ATTENTION_TILE)) / multiprocessors;
    const occupied = ((waves / (waves + half)) * (STATED_WAVES + half)) / STATED_WAVES;
    const head = work.headSize <= 64 ? (SMALL_HEAD * work.headSize) / 64 : 1;
    const long = longShare(work);
    const rate = (isForward ? forwardRate : backwardRate) * occupied * head * long;
    const math = work.flops / (work.dtype === 'fp32' ? rate * singleShare : rate);
    return KERNEL_START + Math.max(math, (work.bytesRead + work.bytesWritten) / bandwidth);
  };
}

/** Share of the rate by the keys that a query meets: each costs as many more as half of {@link HALF_SEQUENCE}, for the tile at
 * the diagonal and the start of a row; a window has a second ragged edge, half a tile.
 */
function longShare({ sequence, seen }: AttentionWork): number {
  const keys = seen?.keys ?? sequence / 2;
  return keys / (keys + HALF_SEQUENCE / 2 + (seen?.farEdge ? ATTENTION_TILE / 2 : 0));
}

function termsOf({ peak, efficiency, fit }: GemmModel, multiprocessors: number, sustained: number): GemmTerms {
  const rate = (peak.value * efficiency.value * sustained) / multiprocessors;
  const [wide, square, narrow] = fit.tileFactors;
  return {
    start: fit.start,
    fillK: fit.fillK,
    quantise: fit.quantise,
    wide: (2 * 256 * 128) / (rate * wide),
    square: (2 * 128 * 128) / (rate * square),
    narrow: (2 * 128 * 64) / (rate * narrow),
  };
}

/** The best of four tiles: waves x time of a wave, waves half-way between whole and fractional. */
function tileTime(
  m: number,
  n: number,
  batch: number,
  depth: number,
  term: GemmTerms,
  multiprocessors: number,
  parts: number,
): number {
  const scale = (batch * parts) / multiprocessors;
  const rows128 = Math.ceil(m / 128);
  const columns128 = Math.ceil(n / 128);
  const tall = smooth(scale * Math.ceil(m / 256) * columns128) * term.wide;
  const broad = smooth(scale * rows128 * Math.ceil(n / 256)) * term.wide;
  const square = smooth(scale * rows128 * columns128) * term.square;
  const narrow = smooth(scale * rows128 * Math.ceil(n / 64)) * term.narrow;
  return depth * Math.min(tall, broad, square, narrow);
}

const smooth = (waves: number): number => (waves <= 1 ? 1 : 0.5 * (Math.ceil(waves) + waves));
