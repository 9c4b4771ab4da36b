/** @file Dims as one rank holds them, and which global elements those are. Cuts split into equal pieces, the last ones
 * padded; `parts` are cut each by itself.
 */
import type { Dim } from '@meshwright/core/tensor';
import type { LocalDim } from '../kernels/tensor.ts';
import type { Seat } from './seat.ts';

/** Pieces of a dim over all axes that cut it. */
export const waysOf = (dim: Dim, seat: Seat): number =>
  (dim.cut ?? []).reduce((product, axis) => product * seat.degrees(axis), 1);

/** The rank's piece of a dim, outer axes first. */
export const pieceIndexOf = (dim: Dim, seat: Seat): number =>
  (dim.cut ?? []).reduce((index, axis) => index * seat.degrees(axis) + seat.indexOn(axis), 0);

export function localDimOf(dim: Dim, seat: Seat): LocalDim {
  const ways = waysOf(dim, seat);
  if (dim.parts && ways > 1) {
    const size = dim.parts.reduce((sum, part) => sum + Math.ceil(part / ways), 0);
    return { label: dim.label, size, globalSize: dim.size, origin: 0, valid: size };
  }
  const size = Math.ceil(dim.size / ways);
  const origin = size * pieceIndexOf(dim, seat);
  const valid = Math.max(0, Math.min(size, dim.size - origin));
  return { label: dim.label, size, globalSize: dim.size, origin, valid };
}

export const localDimsOf = (dims: readonly Dim[], seat: Seat): readonly LocalDim[] =>
  dims.map((dim) => localDimOf(dim, seat));

/** The global index of each local element of a dim; -1 for padding. */
export function globalIndices(dim: Dim, seat: Seat): Int32Array {
  const ways = waysOf(dim, seat);
  const piece = pieceIndexOf(dim, seat);
  const indices: number[] = [];
  let start = 0;
  for (const part of dim.parts ?? [dim.size]) {
    const size = Math.ceil(part / ways);
    for (let local = 0; local < size; local++) {
      const inPart = piece * size + local;
      indices.push(inPart < part ? start + inPart : -1);
    }
    start += part;
  }
  return Int32Array.from(indices);
}
