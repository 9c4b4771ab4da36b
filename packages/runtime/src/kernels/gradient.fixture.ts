/** Central differences in float64 against a kernel's backward. */
import { expect } from 'vitest';
import { normal } from '../numbers/hash.ts';
import { tensorKernels } from './index.ts';
import { type KernelCall, type Tensor, wholeTensor } from './tensor.ts';

type Name = keyof typeof tensorKernels;

/** Runs one kernel of the plain engine. */
export function call(
  name: Name,
  reads: readonly (Tensor | undefined)[],
  writes: readonly (Tensor | undefined)[],
  attributes: KernelCall['attributes'] = {},
): void {
  tensorKernels[name]({ reads, writes, attributes, draw: { seed: 7, firstSample: 3 } });
}

export const like = (tensor: Tensor): Tensor => zeroTensor(tensor.dims.map((dim) => dim.size));
export const hasKernel = (name: string): name is Name => name in tensorKernels;

/** Draws float64 tensors of normal values, each one anew. */
export function tensorDraws(): (sizes: readonly number[], labels?: readonly string[]) => Tensor {
  let draws = 0;
  return (sizes, labels = []) => {
    const length = sizes.reduce((product, size) => product * size, 1);
    draws++;
    return wholeTensor(
      Float64Array.from({ length }, (_, index) => normal(draws, index)),
      sizes,
      labels,
    );
  };
}

export const zeroTensor = (sizes: readonly number[], labels: readonly string[] = []): Tensor =>
  wholeTensor(new Float64Array(sizes.reduce((product, size) => product * size, 1)), sizes, labels);

/** The gradient of sum(slope * output) by `input`, element by element, equals `gradient`. */
export function expectGradient(input: Tensor, gradient: Tensor, output: Tensor, slope: Tensor, run: () => void): void {
  const step = 1e-5;
  const value = (): number => {
    run();
    let sum = 0;
    for (let index = 0; index < output.data.length; index++) sum += output.data[index]! * slope.data[index]!;
    return sum;
  };
  const differences = Array.from({ length: input.data.length }, (_, index) => {
    const kept = input.data[index]!;
    input.data[index] = kept + step;
    const above = value();
    input.data[index] = kept - step;
    const below = value();
    input.data[index] = kept;
    return (above - below) / (2 * step);
  });
  run();
  const largest = Math.max(...differences.map(Math.abs), 1e-3);
  const worst = Math.max(...differences.map((each, index) => Math.abs(each - gradient.data[index]!)));
  expect(worst / largest).toBeLessThan(1e-7);
}
