/** @file N ranks = 1 rank: two runs of one job under different layouts, compared tensor by tensor. Bounds are those of
 * float32 with products in float64: what differs is the order of sums over ranks and nothing else.
 */
import type { KernelEngine } from '../kernels/engine.ts';
import type { GlobalTensor, TensorSet } from '../train/assemble.ts';
import type { RunResult } from '../train/train-program.ts';

/** How far two runs may differ. All are relative. */
export interface ParityBounds {
  /** Of a gradient, to the largest gradient of its tensor. */
  readonly gradient: number;
  readonly loss: number;
  /** Of the global gradient norm. */
  readonly norm: number;
  /** Of a parameter, to the largest of its tensor. */
  readonly parameter: number;
  /** Tensors whose gradient is below this part of the largest of all have none in exact arithmetic (an attention key
   * bias): Adam turns their rounding into steps, so they are not compared. */
  readonly vanishing: number;
}

export const defaultBounds: ParityBounds = {
  gradient: 2e-5,
  loss: 1e-6,
  norm: 1e-6,
  parameter: 1e-5,
  vanishing: 1e-6,
};

/** Bounds for the kernels of an engine: sums in float32 differ a little more than sums in float64 that are rounded once. */
export const boundsOf = (kernels: KernelEngine): ParityBounds =>
  kernels === 'plain' ? defaultBounds : { ...defaultBounds, norm: 3e-6 };

/** One comparison: `difference` is relative, in the measure of its bound. */
export interface ParityFinding {
  readonly what: 'gradient' | 'loss' | 'norm' | 'parameter' | 'copies' | 'stopped';
  readonly step?: number;
  readonly tensor?: string;
  readonly difference: number;
  readonly bound: number;
  /** In words, where a number does not say it. */
  readonly says?: string;
}

export interface ParityReport {
  readonly holds: boolean;
  /** What is beyond its bound. */
  readonly broken: readonly ParityFinding[];
  /** The largest difference of each kind, within bounds or not. */
  readonly worst: Readonly<Partial<Record<ParityFinding['what'], ParityFinding>>>;
}

/** Compares a run with the run of the unsharded program on the same seed and data. */
export function compareRuns(
  reference: RunResult,
  sharded: RunResult,
  bounds: ParityBounds = defaultBounds,
): ParityReport {
  const findings = [
    ...stops(reference, sharded),
    ...compareSeries('loss', reference.losses, sharded.losses, bounds.loss),
    ...compareSeries('norm', reference.gradientNorms, sharded.gradientNorms, bounds.norm),
    ...compareGradients(reference, sharded, bounds),
    ...compareParameters(reference, sharded, bounds),
    ...copies(sharded.parameters),
  ];
  const worst: Partial<Record<ParityFinding['what'], ParityFinding>> = {};
  for (const each of findings) {
    const known = worst[each.what];
    if (!known || !(each.difference <= known.difference)) worst[each.what] = each;
  }
  const broken = findings.filter(({ difference, bound }) => !(difference <= bound));
  return { holds: broken.length === 0, broken, worst };
}

function stops(reference: RunResult, sharded: RunResult): readonly ParityFinding[] {
  return [reference, sharded].flatMap(({ stopped }): readonly ParityFinding[] => {
    if (stopped === 'done') return [];
    if (stopped === 'interrupted') return [{ what: 'stopped', difference: Infinity, bound: 0, says: 'interrupted' }];
    const says = `rank ${stopped.rank} stopped at ${stopped.operation ?? 'no operation'}: ${stopped.reason}`;
    return [{ what: 'stopped', difference: Infinity, bound: 0, says }];
  });
}

function compareSeries(
  what: 'loss' | 'norm',
  reference: readonly (number | undefined)[],
  sharded: readonly (number | undefined)[],
  bound: number,
): readonly ParityFinding[] {
  return reference.map((expected, index) => {
    const got = sharded[index];
    const same = expected === undefined && got === undefined;
    const difference = same ? 0 : Math.abs((got ?? Number.NaN) / (expected ?? Number.NaN) - 1);
    return { what, step: index + 1, difference, bound };
  });
}

function compareGradients(reference: RunResult, sharded: RunResult, bounds: ParityBounds): readonly ParityFinding[] {
  return Object.entries(reference.gradients).flatMap(([step, expected]) => {
    const floor = bounds.vanishing * largestOfAll(expected);
    return Object.entries(expected).map(([tensor, values]): ParityFinding => {
      const got = sharded.gradients[Number(step)]?.[tensor];
      const difference = distance(values, got) / Math.max(largest(values), floor);
      return { what: 'gradient', step: Number(step), tensor, difference, bound: bounds.gradient };
    });
  });
}

function compareParameters(reference: RunResult, sharded: RunResult, bounds: ParityBounds): readonly ParityFinding[] {
  const compared = tensorsWithGradient(reference, bounds);
  return Object.entries(reference.parameters).flatMap(([tensor, values]): readonly ParityFinding[] => {
    if (reference.optimizer === 'adamw' && compared && !compared.has(tensor)) return [];
    const difference = distance(values, sharded.parameters[tensor]) / largest(values);
    return [{ what: 'parameter', tensor, difference, bound: bounds.parameter }];
  });
}

/** Names of tensors whose gradient does not vanish; undefined when no gradients were captured. */
function tensorsWithGradient(reference: RunResult, bounds: ParityBounds): ReadonlySet<string> | undefined {
  const [first] = Object.values(reference.gradients);
  if (!first) return undefined;
  const floor = bounds.vanishing * largestOfAll(first);
  return new Set(Object.entries(first).flatMap(([name, values]) => (largest(values) > floor ? [name] : [])));
}

/** Ranks that own the same element must agree bit for bit. */
const copies = (tensors: TensorSet): readonly ParityFinding[] =>
  Object.entries(tensors).map(([tensor, { spread }]) => ({ what: 'copies', tensor, difference: spread, bound: 0 }));

const largest = ({ data }: GlobalTensor): number => data.reduce((most, each) => Math.max(most, Math.abs(each)), 0);

const largestOfAll = (tensors: TensorSet): number => Math.max(0, ...Object.values(tensors).map(largest));

/** Largest difference of two tensors; NaN where either has one, infinite where one is missing. */
function distance(expected: GlobalTensor, got: GlobalTensor | undefined): number {
  if (got === undefined || got.data.length !== expected.data.length) return Infinity;
  let most = 0;
  for (let index = 0; index < expected.data.length; index++) {
    const difference = Math.abs(expected.data[index]! - got.data[index]!);
    if (Number.isNaN(difference)) return Number.NaN;
    most = Math.max(most, difference);
  }
  return most;
}
