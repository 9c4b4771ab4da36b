/** @file Operations over flat buckets: the norm, the clip factor and the optimizer step, on what this rank owns. */
import { assertInvariant } from '@meshwright/core/errors';
import type { Bucket, Compute, ExpandedOperation, Operand } from '@meshwright/core/program';
import type { BucketKernelName } from '../kernels/index.ts';
import { adamw, clipFactor, type ShardState, sgd, squareSum } from '../kernels/optimizer.ts';
import type { FloatArray } from '../kernels/tensor.ts';
import { pieceIndexOf, waysOf } from '../place/dims.ts';
import { type OwnedRange, ownedDims, ownedRanges } from '../place/parameters.ts';
import { segmentsOf } from '../place/pieces.ts';
import { borrowFrom } from './borrow.ts';
import { deposit, poisonAround, settle, valuesOf, type Window } from './cells.ts';
import { isEarly, type Machine } from './machine.ts';

export function runBucketKernel(
  machine: Machine,
  expanded: ExpandedOperation,
  operation: Compute,
  kernel: BucketKernelName,
): void {
  switch (kernel) {
    case 'square-sum':
      return withGradients(machine, expanded, (owned) => writeScalar(machine, expanded, squareSum(owned)));
    case 'clip': {
      const squares = scalarOf(machine, expanded.reads[0]);
      machine.record.gradientNorm = Math.sqrt(squares);
      return writeScalar(machine, expanded, clipFactor(squares, attribute(operation, 'limit')));
    }
    case 'copy-out':
      return copyOut(machine, expanded);
    case 'copy-in':
      return machine.validates ? undefined : copyIn(machine, expanded);
    default:
      if (machine.validates) return;
      return withGradients(machine, expanded, (owned) => stepOptimizer(machine, expanded, operation, kernel, owned));
  }
}

/** The gradient, or this rank's shard of it, to host memory. */
function copyOut(machine: Machine, { reads, writes }: ExpandedOperation): void {
  const [from] = reads;
  const to = writes[0]?.operand;
  assertInvariant(from !== undefined && to !== undefined, () => 'a copy lacks an operand');
  deposit(machine.cells.window(to), valuesOf(machine.cells.window(from), machine.engine.scratch), false);
  machine.engine.endOperation();
}

/** New weights to the device: all of a shard, this rank's own part of a whole buffer, whose rest is stale from now on. */
function copyIn(machine: Machine, { reads, writes }: ExpandedOperation): void {
  const [from] = reads;
  const to = writes[0]?.operand;
  assertInvariant(from !== undefined && to !== undefined, () => 'a copy lacks an operand');
  const values = valuesOf(machine.cells.window(from));
  const weights = ownedWeights(machine, to, bucketOf(machine, to.instance.declaration.bucket));
  deposit(weights, values, false);
  if (isEarly(machine) && weights.cell.data.length > values.length) poisonAround(weights);
}

function stepOptimizer(
  machine: Machine,
  expanded: ExpandedOperation,
  operation: Compute,
  kernel: 'adamw' | 'sgd',
  owned: readonly OwnedGradient[],
): void {
  const [factor, learningRate] = expanded.reads.slice(-2).map((operand) => scalarOf(machine, operand));
  const inputs = { factor: factor ?? 1, learningRate: learningRate ?? 0, step: machine.step };
  for (const { bucket, gradient, ranges } of owned) {
    if (machine.options.captureGradients.includes(machine.step)) {
      machine.record.gradients[bucket.name] = gradient.slice();
    }
    const weights = weightWindow(machine, expanded, bucket);
    const inPlace = weights.spans.length === 1;
    const shard: ShardState = {
      ranges,
      gradient,
      weight: weightOf(machine, weights),
      master: stateOf(machine, expanded, bucket, 'master'),
      m: required(stateOf(machine, expanded, bucket, kernel === 'adamw' ? 'm' : 'momentum')),
      v: stateOf(machine, expanded, bucket, 'v'),
    };
    const weightDecay = Number(operation.attributes?.['weightDecay'] ?? 0);
    if (kernel === 'adamw') {
      const betas = { beta1: attribute(operation, 'beta1'), beta2: attribute(operation, 'beta2') };
      (operation.lane === 'host.update' ? adamw : machine.engine.adamw)(shard, inputs, {
        ...betas,
        epsilon: attribute(operation, 'epsilon'),
        weightDecay,
      });
    } else {
      sgd(shard, inputs, { momentum: attribute(operation, 'momentum'), weightDecay });
    }
    if (inPlace) settle(weights);
    else deposit(weights, shard.weight, false);
    machine.engine.endOperation();
    if (isEarly(machine) && weights.cell.data.length > shard.weight.length) poisonAround(weights);
  }
}

/** The weights themselves where they are one span, else a copy that the optimizer works on. */
function weightOf(machine: Machine, window: Window): FloatArray {
  return valuesOf(window, machine.engine.scratch) as FloatArray;
}

interface OwnedGradient {
  readonly bucket: Bucket;
  readonly gradient: FloatArray;
  readonly ranges: readonly OwnedRange[];
}

/** Works on the gradient operands of an operation, with what this rank owns of each. */
function withGradients(
  machine: Machine,
  { reads }: ExpandedOperation,
  work: (owned: readonly OwnedGradient[]) => void,
): void {
  const { create, giveBack } = borrowFrom(machine.engine, 'fp32');
  const owned = reads.flatMap((operand): readonly OwnedGradient[] => {
    const declaration = operand?.instance.declaration;
    if (operand === undefined || declaration?.role !== 'gradient') return [];
    const bucket = bucketOf(machine, declaration.bucket);
    const gradient = valuesOf(machine.cells.window(operand), create) as FloatArray;
    return [{ bucket, gradient, ranges: ownedRanges(bucket, declaration.dims, machine.seat) }];
  });
  work(owned);
  giveBack();
}

function bucketOf(machine: Machine, name: string | undefined): Bucket {
  const found = machine.expanded.list.buckets.find((each) => each.name === name);
  assertInvariant(found !== undefined, () => `no bucket ${name}`);
  return found;
}

/** What this rank owns of a weight buffer: all of a shard, its own spans of a whole one. */
export function ownedWeights(machine: Machine, weights: Operand, bucket: Bucket): Window {
  const window = machine.cells.window(weights);
  if (weights.dims.some((dim) => dim.cut)) return window;
  const [flat] = ownedDims(machine.expanded.list, bucket);
  if (flat === undefined) return window;
  const segments = segmentsOf(flat.parts ?? [flat.size], waysOf(flat, machine.seat), pieceIndexOf(flat, machine.seat));
  return { ...window, spans: segments.map(({ whole, length }) => ({ at: whole, length })) };
}

function weightWindow(machine: Machine, { writes }: ExpandedOperation, bucket: Bucket): Window {
  const write = writes.find(({ operand }) => {
    const { role, bucket: name } = operand.instance.declaration;
    return role === 'weight' && name === bucket.name;
  });
  assertInvariant(write !== undefined, () => `the optimizer does not write the weights of ${bucket.name}`);
  return ownedWeights(machine, write.operand, bucket);
}

function stateOf(machine: Machine, { writes }: ExpandedOperation, bucket: Bucket, state: string) {
  const write = writes.find(({ operand }) => operand.instance.declaration.name === `O.${bucket.name}.${state}`);
  return write && (machine.cells.window(write.operand).cell.data as FloatArray);
}

function required<Value>(value: Value | undefined): Value {
  assertInvariant(value !== undefined, () => 'the optimizer lacks a state buffer');
  return value;
}

function attribute(operation: Compute, name: string): number {
  const value = operation.attributes?.[name];
  assertInvariant(typeof value === 'number', () => `${operation.kernel} lacks the number '${name}'`);
  return value;
}

function scalarOf(machine: Machine, operand: Operand | undefined): number {
  assertInvariant(operand !== undefined, () => 'an operation lacks a scalar');
  return machine.cells.window(operand).cell.data[0] ?? Number.NaN;
}

function writeScalar(machine: Machine, { writes }: ExpandedOperation, value: number): void {
  const operand = writes[0]?.operand;
  assertInvariant(operand !== undefined, () => 'an operation lacks its result');
  deposit(machine.cells.window(operand), [value], false);
}
