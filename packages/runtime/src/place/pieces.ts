/** @file How the piece of one rank lies in a whole array: rows of neighbouring elements along one dim. Exchanges pack and
 * unpack by these, and a shard in place is read and written through them.
 */
import { assertInvariant } from '@meshwright/core/errors';
import { type Collective, type ExpandedOperation, type Operand, partsOfAllReduce } from '@meshwright/core/program';
import { type Dim, localElements, localSize } from '@meshwright/core/tensor';
import type { Elements } from '../kernels/tensor.ts';
import { waysOf } from './dims.ts';
import type { Seat } from './seat.ts';

/** Neighbouring elements, by their place in the whole and in the piece. */
export interface Segment {
  readonly whole: number;
  readonly piece: number;
  readonly length: number;
}

/** The segments of piece `index` of `ways`, every part cut by itself; what is missing at the end is padding. In zigzag a
 * part is cut into twice as many, of which the piece has one from either end.
 */
export function segmentsOf(parts: readonly number[], ways: number, index: number, zigzag = false): readonly Segment[] {
  if (zigzag && ways > 1) return zigzagSegments(parts, ways, index);
  const segments: Segment[] = [];
  let whole = 0;
  let piece = 0;
  for (const part of parts) {
    const size = Math.ceil(part / ways);
    const start = index * size;
    const length = Math.max(0, Math.min(size, part - start));
    if (length > 0) segments.push({ whole: whole + start, piece, length });
    whole += part;
    piece += size;
  }
  return segments;
}

function zigzagSegments(parts: readonly number[], ways: number, index: number): readonly Segment[] {
  const segments: Segment[] = [];
  let start = 0;
  let piece = 0;
  for (const part of parts) {
    const length = part / (2 * ways);
    assertInvariant(Number.isInteger(length), () => `${part} elements do not make ${2 * ways} pieces`);
    for (const place of [index, 2 * ways - 1 - index]) {
      segments.push({ whole: start + place * length, piece, length });
      piece += length;
    }
    start += part;
  }
  return segments;
}

/** All pieces of a whole array [outer, dim, inner] along its middle dim. */
export interface PieceMap {
  readonly ways: number;
  readonly outer: number;
  readonly inner: number;
  /** Elements of the dim in the whole and, padding included, in a piece. */
  readonly wholeSize: number;
  readonly pieceSize: number;
  /** Elements of a piece, padding included. */
  readonly pieceElements: number;
  /** By piece. */
  readonly segments: readonly (readonly Segment[])[];
}

/** Of a dim of `parts` between `outer` and `inner` others, cut in `ways` pieces. */
export function pieceMap(
  parts: readonly number[],
  ways: number,
  outer: number,
  inner: number,
  zigzag = false,
): PieceMap {
  const wholeSize = parts.reduce((sum, part) => sum + part, 0);
  const pieceSize = parts.reduce((sum, part) => sum + Math.ceil(part / ways), 0);
  const segments = Array.from({ length: ways }, (_, index) => segmentsOf(parts, ways, index, zigzag));
  return { ways, outer, inner, wholeSize, pieceSize, pieceElements: outer * pieceSize * inner, segments };
}

/** How an all-to-all splits what it reads: along the dim that it cuts. {@link pieceMapOf} says where the pieces go. */
export function sentMapOf(expanded: ExpandedOperation, operation: Collective, seat: Seat): PieceMap {
  const { read, write } = operandsOf(expanded);
  const cut = read.dims.find(
    (dim, at) => dim.label !== operation.dim && waysOf(dim, seat) !== waysOf(write.dims[at] ?? dim, seat),
  );
  assertInvariant(cut !== undefined, () => 'an all-to-all that cuts no dim');
  return cutMap(read.dims, write.dims, { ...operation, dim: cut.label }, seat.degrees(operation.axis), seat);
}

/** How a collective splits its buffer over the ranks of its group, an all-reduce by what its algorithm works on; an
 * all-to-all, what it writes. */
export function pieceMapOf(expanded: ExpandedOperation, operation: Collective, seat: Seat): PieceMap {
  const { read, write } = operandsOf(expanded);
  const ways = seat.degrees(operation.axis);
  switch (operation.collective) {
    case 'all-reduce':
      return pieceMap([localElements(read.dims, seat.degrees)], partsOfAllReduce(operation, ways), 1, 1);
    case 'all-gather':
      return cutMap(write.dims, read.dims, operation, ways, seat);
    case 'reduce-scatter':
      return cutMap(read.dims, write.dims, operation, ways, seat);
    case 'all-to-all':
      return cutMap(write.dims, read.dims, operation, ways, seat);
    case 'shift':
      return pieceMap([localElements(read.dims, seat.degrees)], 1, 1, 1);
    default:
      throw new Error(`internal: collective ${operation.collective} is in no program yet.`);
  }
}

export function operandsOf(expanded: ExpandedOperation): { readonly read: Operand; readonly write: Operand } {
  const read = expanded.reads[0];
  const write = expanded.writes[0]?.operand;
  assertInvariant(read !== undefined && write !== undefined, () => `operation ${expanded.index} lacks operands`);
  return { read, write };
}

function cutMap(
  whole: readonly Dim[],
  piece: readonly Dim[],
  operation: Collective,
  ways: number,
  seat: Seat,
): PieceMap {
  const place = operation.dim === 'flat' ? 0 : whole.findIndex((dim) => dim.label === operation.dim);
  const dim = whole[place];
  const cut = piece[place];
  assertInvariant(dim !== undefined && cut !== undefined, () => `no dim ${operation.dim} to cut by ${operation.axis}`);
  assertInvariant(
    !cut.cut?.includes(operation.axis) || cut.cut.at(-1) === operation.axis,
    () => `${operation.axis} is not the innermost cut of dim ${dim.label}`,
  );
  const elsewhere = waysOf(dim, seat);
  const parts = (cut.parts ?? dim.parts ?? [dim.size]).map((part) => Math.ceil(part / elsewhere));
  const sizes = whole.map((each) => localSize(each, seat.degrees));
  const product = (some: readonly number[]): number => some.reduce((all, size) => all * size, 1);
  const [outermost] = cut.cut ?? [];
  const zigzag = cut.zigzag === true && outermost !== undefined && seat.along(operation.axis) === seat.along(outermost);
  return pieceMap(parts, ways, product(sizes.slice(0, place)), product(sizes.slice(place + 1)), zigzag);
}

/** Piece `index` of the whole: where it lies if it is one run of elements, else a copy, whose padding is zero, in memory of `create`. */
export function packPiece(
  map: PieceMap,
  index: number,
  whole: Elements,
  create: (length: number) => Elements,
): Elements {
  const [run, ...others] = map.outer === 1 ? (map.segments[index] ?? []) : [];
  if (run && others.length === 0 && run.length * map.inner === map.pieceElements) {
    return whole.subarray(run.whole * map.inner, (run.whole + run.length) * map.inner);
  }
  const piece = create(map.pieceElements).fill(0);
  walk(map, index, (from, to, length) => piece.set(whole.subarray(from, from + length), to));
  return piece;
}

/** Copies piece `index` into the whole; padding is dropped. */
export function unpackPiece(map: PieceMap, index: number, piece: Elements, whole: Elements): void {
  walk(map, index, (to, from, length) => whole.set(piece.subarray(from, from + length), to));
}

function walk(map: PieceMap, index: number, copy: (whole: number, piece: number, length: number) => void): void {
  const { outer, inner, wholeSize, pieceSize } = map;
  const segments = map.segments[index] ?? [];
  for (let row = 0; row < outer; row++) {
    for (const { whole, piece, length } of segments) {
      copy((row * wholeSize + whole) * inner, (row * pieceSize + piece) * inner, length * inner);
    }
  }
}

/** An array of the same type, filled with zeros. */
export function emptyLike(values: Elements, length: number): Elements {
  if (values instanceof Float64Array) return new Float64Array(length);
  if (values instanceof Int32Array) return new Int32Array(length);
  if (values instanceof Uint8Array) return new Uint8Array(length);
  return new Float32Array(length);
}
