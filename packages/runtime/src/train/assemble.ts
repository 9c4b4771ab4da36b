/** @file Puts what the ranks own together: whole tensors under Hugging Face names. */
import type { Program } from '@meshwright/core/program';
import type { Elements } from '../kernels/tensor.ts';
import { elementFinder, ownedDims, ownedRanges } from '../place/parameters.ts';
import { listOf, seatOf } from '../place/seat.ts';

/** A whole tensor; NaN where no rank had an element. */
export interface GlobalTensor {
  readonly shape: readonly number[];
  readonly data: Float64Array;
  /** Largest difference between two ranks that own the same element: 0 when all copies agree bit for bit. */
  spread: number;
}

export type TensorSet = Readonly<Record<string, GlobalTensor>>;

/** Whole tensors from shards by rank and bucket. */
export function assembleTensors(program: Program, shards: readonly Readonly<Record<string, Elements>>[]): TensorSet {
  const tensors: Record<string, GlobalTensor> = {};
  const tensorOf = (name: string, shape: readonly number[]): GlobalTensor => {
    const size = shape.reduce((product, each) => product * each, 1);
    tensors[name] ??= { shape, data: new Float64Array(size).fill(Number.NaN), spread: 0 };
    return tensors[name];
  };
  for (const [rank, own] of shards.entries()) {
    const seat = seatOf(program, rank);
    const list = listOf(program, seat);
    for (const bucket of list.buckets) {
      const values = own[bucket.name];
      if (values === undefined) continue;
      for (const { view, viewFrom, from, length } of ownedRanges(bucket, ownedDims(list, bucket), seat)) {
        const find = elementFinder(view, seat);
        for (let index = 0; index < length; index++) {
          const element = find(viewFrom + index);
          if (element) put(tensorOf(element.tensor.name, element.tensor.shape), element.index, values[from + index]!);
        }
      }
    }
  }
  return tensors;
}

function put(tensor: GlobalTensor, index: number, value: number): void {
  const known = tensor.data[index]!;
  if (Number.isNaN(known)) tensor.data[index] = value;
  else tensor.spread = Math.max(tensor.spread, Number.isNaN(value) ? Infinity : Math.abs(known - value));
}
