/** @file Which element of which Hugging Face tensor lies where in a bucket, and which of them a rank owns. */
import type { Bucket, BufferDeclaration, RankList, View, ViewTensor } from '@meshwright/core/program';
import { type Dim, localElements } from '@meshwright/core/tensor';
import type { ShardRange } from '../kernels/optimizer.ts';
import { globalIndices, pieceIndexOf, waysOf } from './dims.ts';
import { segmentsOf } from './pieces.ts';
import type { Seat } from './seat.ts';

/** One element of a Hugging Face tensor. */
export interface TensorElement {
  readonly tensor: ViewTensor;
  /** Row-major index in the tensor as Hugging Face stores it. */
  readonly index: number;
}

/** Finds the element of a view's local place; undefined for padding. */
export type ElementFinder = (local: number) => TensorElement | undefined;

/** The tensors of a view are fused along its first dim, so they follow one another in its global row-major order. */
export function elementFinder(view: View, seat: Seat): ElementFinder {
  const indices = view.dims.map((dim) => globalIndices(dim, seat));
  return (local) => {
    let rest = local;
    let stride = 1;
    let global = 0;
    for (let place = indices.length - 1; place >= 0; place--) {
      const own = indices[place]!;
      const index = own[rest % own.length]!;
      if (index < 0) return undefined;
      rest = Math.floor(rest / own.length);
      global += index * stride;
      stride *= view.dims[place]!.size;
    }
    for (const tensor of view.tensors) {
      const size = tensor.shape.reduce((product, each) => product * each, 1);
      if (global < size) return { tensor, index: storedIndex(tensor, global) };
      global -= size;
    }
    return undefined;
  };
}

/** Transposed tensors are stored [in, out] and used [out, in]; stacked ones expert by expert. */
function storedIndex(tensor: ViewTensor, used: number): number {
  if (!tensor.transposed) return used;
  const [inputs = 1, outputs = 1] = tensor.shape.slice(-2);
  const expert = Math.floor(used / (inputs * outputs));
  const inside = used - expert * inputs * outputs;
  return expert * inputs * outputs + (inside % inputs) * outputs + Math.floor(inside / inputs);
}

/** Neighbouring elements of one view inside a rank's shard of its bucket. */
export interface OwnedRange extends ShardRange {
  readonly view: View;
  /** First element inside the view. */
  readonly viewFrom: number;
}

/** The ranges of a bucket that lie in a buffer of the given dims on this rank: all views, cut as the buffer is. */
export function ownedRanges(bucket: Bucket, dims: readonly Dim[], seat: Seat): readonly OwnedRange[] {
  const [flat] = dims;
  if (flat === undefined) return [];
  const segments = segmentsOf(flat.parts ?? [flat.size], waysOf(flat, seat), pieceIndexOf(flat, seat));
  return bucket.views.flatMap((view): readonly OwnedRange[] => {
    const elements = localElements(view.dims, seat.degrees);
    const counted = view.counted.every(({ axis, coordinate }) => seat.coordinate[axis] === coordinate);
    return segments.flatMap(({ whole, piece, length }): readonly OwnedRange[] => {
      const start = Math.max(whole, view.offset);
      const end = Math.min(whole + length, view.offset + elements);
      if (end <= start) return [];
      return [
        {
          view,
          viewFrom: start - view.offset,
          from: piece + start - whole,
          length: end - start,
          decay: view.decay,
          counted,
        },
      ];
    });
  });
}

/** A buffer that holds what a rank owns of a bucket and no more: its optimizer state, or weights that are not trained. */
export const ownedBuffer = (list: RankList, bucket: Bucket): BufferDeclaration | undefined =>
  list.buffers.find(
    ({ bucket: name, role, resident }) =>
      name === bucket.name && (bucket.frozen ? role === 'weight' && resident : role === 'optimizer'),
  );

/** The dims of what a rank owns of a bucket. */
export const ownedDims = (list: RankList, bucket: Bucket): readonly Dim[] => ownedBuffer(list, bucket)?.dims ?? [];
