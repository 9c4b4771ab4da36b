/** @file What makes ranks slower than their price says: slow devices, and jitter with a seed. */
import { InputError, issue } from '../../errors/index.ts';
import { degreeOf, worldSize } from '../../mesh/index.ts';
import type { Program } from '../../program/index.ts';
import type { RankClasses } from '../ranks.ts';
import type { OperationPrices } from '../types.ts';

/** A device whose kernels take `seconds` times as long. */
export interface SlowDevice {
  readonly device: number;
  readonly seconds: number;
}

/** Kernels vary from call to call: normal, with this standard deviation as a share. */
export interface Jitter {
  readonly seed: number;
  readonly spread: number;
}

/** Throws DEVICE_MISSING for a device that no rank runs on. */
export function slowColours({ mesh }: Program, slow: readonly SlowDevice[]): ReadonlyMap<number, string> {
  const ranks = worldSize(mesh);
  const issues = slow
    .filter(({ device }) => device >= ranks)
    .map(({ device }) =>
      issue(
        'DEVICE_MISSING',
        'devices',
        `device ${device} is not one of the ${ranks} of this step.`,
        `Use 0 to ${ranks - 1}.`,
      ),
    );
  if (issues.length > 0) throw new InputError(issues);
  return new Map(slow.map(({ device, seconds }) => [device, `${seconds}`]));
}

/** Prices with slow devices and jitter in them. Of the ranks that meet in a model-parallel group the slowest counts: the
 * deviation of a kernel is the largest of so many draws. */
export function disturbedPrices(
  program: Program,
  pricing: OperationPrices,
  { classes }: RankClasses,
  slow: readonly SlowDevice[],
  jitter: Jitter | undefined,
): OperationPrices {
  if (slow.length === 0 && jitter === undefined) return pricing;
  const slower = new Map(slow.map(({ device, seconds }) => [device, seconds]));
  const factors = classes.map(({ first }) => slower.get(first) ?? 1);
  const { mesh } = program;
  const group = degreeOf(mesh, 'tensor') * degreeOf(mesh, 'context') * degreeOf(mesh, 'expert');
  const { launch, launchCompute, launchExchange } = pricing;
  return {
    ...(launch && { launch }),
    launchCompute,
    launchExchange,
    duration: (expanded, list, index = 0) => {
      const seconds = pricing.duration(expanded, list, index);
      if (expanded.operation.kind !== 'compute') return seconds;
      const factor = factors[index] ?? 1;
      if (jitter === undefined) return seconds * factor;
      const draw = uniform(jitter.seed, classes[index]?.first ?? 0, expanded.index);
      return seconds * factor * Math.max(LEAST, 1 + jitter.spread * normalQuantile(draw ** (1 / group)));
    },
  };
}

/** No draw makes a kernel faster than this share of its price. */
const LEAST = 0.5;

/** A number strictly between 0 and 1 for a seed and two more numbers: three rounds of an integer hash. */
function uniform(seed: number, one: number, two: number): number {
  let hash = seed | 0;
  for (const each of [one, two, 0x9e3779b9]) {
    hash = Math.imul(hash ^ each, 0x85ebca6b);
    hash ^= hash >>> 13;
    hash = Math.imul(hash, 0xc2b2ae35);
    hash ^= hash >>> 16;
  }
  return ((hash >>> 0) + 0.5) / 2 ** 32;
}

/** The normal deviation that a share of draws lies below: bisection on {@link normalShare}, to 1e-6. */
function normalQuantile(share: number): number {
  let low = -8;
  let high = 8;
  while (high - low > 1e-6) {
    const middle = (low + high) / 2;
    if (normalShare(middle) < share) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}

/** Share of normal draws below `deviation`; error below 7.5e-8 (Abramowitz and Stegun 1964, 26.2.17). */
function normalShare(deviation: number): number {
  const at = Math.abs(deviation);
  const t = 1 / (1 + 0.2316419 * at);
  const series = t * (0.31938153 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))));
  const above = (Math.exp((-at * at) / 2) / Math.sqrt(2 * Math.PI)) * series;
  return deviation >= 0 ? 1 - above : above;
}
