/** @file Dims as one rank holds them, and which global elements those are. Cuts split into equal pieces, the last ones
 * padded; `parts` are cut each by itself, and zigzag cuts hold two pieces each.
 */
import type { Dim } from '@meshwright/core/tensor';
import { globalPlacesOf, type LocalDim, zigzagPlaces } from '../kernels/tensor.ts';
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
  if (dim.zigzag && ways > 1) return zigzagDim(dim, seat);
  const size = Math.ceil(dim.size / ways);
  const origin = size * pieceIndexOf(dim, seat);
  const valid = Math.max(0, Math.min(size, dim.size - origin));
  return { label: dim.label, size, globalSize: dim.size, origin, valid };
}

/** Of the zigzag pieces of the outermost axis, the inner ones cut pieces in a row. */
function zigzagDim(dim: Dim, seat: Seat): LocalDim {
  const [outer = '', ...inner] = dim.cut ?? [];
  const zigzag = { ranks: seat.degrees(outer), rank: seat.indexOn(outer) };
  const all = zigzagPlaces(dim.size, zigzag.ranks, zigzag.rank);
  const ways = waysOf({ ...dim, cut: inner }, seat);
  const size = Math.ceil(all.length / ways);
  const from = size * pieceIndexOf({ ...dim, cut: inner }, seat);
  const places = all.subarray(from, from + size);
  return { label: dim.label, size, globalSize: dim.size, origin: 0, valid: places.length, zigzag, places };
}

export const localDimsOf = (dims: readonly Dim[], seat: Seat): readonly LocalDim[] =>
  dims.map((dim) => localDimOf(dim, seat));

/** The global index of each local element of a dim; -1 for padding. */
export function globalIndices(dim: Dim, seat: Seat): Int32Array {
  if (dim.zigzag) return globalPlacesOf(localDimOf(dim, seat));
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
