/** @file One compute operation on real tensors: finds its operands, runs the kernel, adds and rounds. */
import type { Compute, ExpandedOperation, ExpandedWrite } from '@meshwright/core/program';
import type { BucketKernelName } from '../kernels/index.ts';
import type { DropoutDraw, Elements, Tensor } from '../kernels/tensor.ts';
import { hashText, mix } from '../numbers/hash.ts';
import { runBucketKernel } from './buckets.ts';
import { deposit, lengthOf, settle, valuesOf, type Window } from './cells.ts';
import type { Machine } from './machine.ts';

const bucketKernels: readonly string[] = [
  'square-sum',
  'clip',
  'copy-out',
  'copy-in',
  'adamw',
  'sgd',
] satisfies BucketKernelName[];
const isBucketKernel = (kernel: string): kernel is BucketKernelName => bucketKernels.includes(kernel);

/** A result of a kernel: written in place, or beside the buffer when it is added or lies in several spans. */
interface Result {
  readonly window: Window;
  readonly values: Elements;
  readonly adds: boolean;
  readonly direct: boolean;
}

export function runCompute(machine: Machine, expanded: ExpandedOperation, operation: Compute): void {
  const { kernel } = operation;
  if (isBucketKernel(kernel)) return runBucketKernel(machine, expanded, operation, kernel);
  const reads = expanded.reads.map((operand) => operand && tensorOf(machine.cells.window(operand)));
  const results = expanded.writes.map((write, index) => resultOf(machine, expanded, write, index, kernel));
  machine.engine.kernels[kernel]({
    reads,
    writes: results.map(({ window, values, adds, direct }) => ({
      data: values,
      dims: window.dims,
      adds: adds && direct,
    })),
    attributes: attributesOf(machine, operation),
    draw: drawOf(machine, expanded, operation, reads[0]),
  });
  for (const { window, values, adds, direct } of results) {
    if (direct) settle(window);
    else deposit(window, values, adds, machine.add);
  }
  machine.engine.endOperation();
  if (kernel === 'nll') machine.record.loss = results[0]?.window.cell.data[0];
}

/** A validation drops nothing out. */
function attributesOf({ validates }: Machine, { attributes = {} }: Compute): Readonly<Record<string, number | string>> {
  return validates && 'p' in attributes ? { ...attributes, p: 0 } : attributes;
}

const tensorOf = (window: Window): Tensor => ({ data: valuesOf(window), dims: window.dims });

function resultOf(
  machine: Machine,
  expanded: ExpandedOperation,
  write: ExpandedWrite,
  index: number,
  kernel: string,
): Result {
  const window = machine.cells.window(write.operand);
  const adds = write.accumulate && !machine.lifetimes.overwrites(expanded.index, index);
  const direct = window.spans.length === 1 && (!adds || machine.engine.addsInPlace(kernel));
  const values = direct ? valuesOf(window) : machine.engine.scratch(lengthOf(window.spans));
  return { window, values, adds, direct };
}

/** Dropout knows the step, its site in the model and the global sample, never the rank. */
function drawOf(
  machine: Machine,
  expanded: ExpandedOperation,
  { attributes }: Compute,
  first: Tensor | undefined,
): DropoutDraw {
  const batch = first?.dims.find((dim) => dim.label === 'b');
  const site = hashText(`${attributes?.['site'] ?? ''} ${expanded.block ?? ''}`);
  return {
    seed: mix(mix(machine.options.seed, machine.step), site),
    firstSample: (expanded.microBatch ?? 0) * (batch?.globalSize ?? 1) + (batch?.origin ?? 0),
  };
}
