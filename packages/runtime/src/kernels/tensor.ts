/** @file What kernels work on: a dense row-major array on one rank that knows where it stands in the global tensor.
 *
 * Kernels are out-parameter style and overwrite, but for those of an engine that say they add; adding into a buffer and
 * rounding to its type are the interpreter's, done once for all of them. Products and sums are carried in float64 inside a kernel and rounded at the
 * store. Shape suffixes in this folder: R rows (all leading dims), S sequence, B micro-batch, H width, N output,
 * K input, P fused query-key-value, A heads, D head size, G gate and up, V vocabulary, E experts, T experts of a token.
 */
import { assertInvariant } from '@meshwright/core/errors';

/** Values of a floating type; float64 is for finite differences and for telling logic from rounding. */
export type FloatArray = Float32Array | Float64Array;
export type Elements = FloatArray | Int32Array | Uint8Array;

/** One dim as a rank sees it. */
export interface LocalDim {
  readonly label: string;
  /** Elements on this rank, padding included. */
  readonly size: number;
  /** Elements of the global dim. */
  readonly globalSize: number;
  /** Global index of the first local element; for a dim with `parts` only 0 is told. */
  readonly origin: number;
  /** Leading elements that are not padding; for a dim with `parts` all of them. */
  readonly valid: number;
  /** Where the outermost axis cuts in zigzag: its ranks, and the place of this one. `origin` says nothing then. */
  readonly zigzag?: { readonly ranks: number; readonly rank: number };
  /** Global index of each local element, where it is not `origin` and what follows. */
  readonly places?: Int32Array;
}

/** Global index of each element that rank `rank` of `ranks` holds of a zigzag cut of `size`: pieces r and 2 n - 1 - r. */
export function zigzagPlaces(size: number, ranks: number, rank: number): Int32Array {
  const piece = size / (2 * ranks);
  assertInvariant(Number.isInteger(piece), () => `${size} elements do not make ${2 * ranks} pieces`);
  const second = (2 * ranks - 1 - rank) * piece;
  return Int32Array.from({ length: 2 * piece }, (_, at) => (at < piece ? rank * piece + at : second + at - piece));
}

/** Global index of each local element of a dim. */
export const globalPlacesOf = ({ size, origin, places }: LocalDim): Int32Array =>
  places ?? Int32Array.from({ length: size }, (_, at) => origin + at);

export interface Tensor {
  readonly data: Elements;
  readonly dims: readonly LocalDim[];
  /** A result that is added to; only for kernels that say they can. */
  readonly adds?: boolean;
}

/** A tensor that is whole on this rank: what tests and scalars are made of. */
export function wholeTensor(data: Elements, sizes: readonly number[], labels: readonly string[] = []): Tensor {
  const dims = sizes.map((size, index) => ({
    label: labels[index] ?? `${index}`,
    size,
    globalSize: size,
    origin: 0,
    valid: size,
  }));
  return { data, dims };
}

/** A dim by its place; negative places count from the end. */
export function dimAt(tensor: Tensor, place: number): LocalDim {
  const dim = tensor.dims.at(place);
  assertInvariant(dim !== undefined, () => `a kernel asks for dim ${place} of ${tensor.dims.length}`);
  return dim;
}

export const sizeAt = (tensor: Tensor, place: number): number => dimAt(tensor, place).size;

/** Product of all dims but the last `trailing`. */
export const rowsOf = (tensor: Tensor, trailing = 1): number =>
  tensor.dims.slice(0, tensor.dims.length - trailing).reduce((product, dim) => product * dim.size, 1);

export const elementsOf = (tensor: Tensor): number => rowsOf(tensor, 0);

/** How dropout draws: the same for every layout, because it knows the sample and the site and not the rank. */
export interface DropoutDraw {
  /** Mixed from seed, step and site. */
  readonly seed: number;
  /** Global index of the sample that stands at place 0 of dim `b` on this rank, counted over micro-batches. */
  readonly firstSample: number;
}

/** Operands in the order of the kernel's row, an absent optional one undefined. */
export interface KernelCall {
  readonly reads: readonly (Tensor | undefined)[];
  readonly writes: readonly (Tensor | undefined)[];
  readonly attributes: Readonly<Record<string, number | string>>;
  readonly draw: DropoutDraw;
}

export type Kernel = (call: KernelCall) => void;

export function readOf(call: KernelCall, index: number): Tensor {
  const tensor = call.reads[index];
  assertInvariant(tensor !== undefined, () => `a kernel lacks operand ${index}`);
  return tensor;
}

export function writeOf(call: KernelCall, index: number): Tensor {
  const tensor = call.writes[index];
  assertInvariant(tensor !== undefined, () => `a kernel lacks result ${index}`);
  return tensor;
}

export function numberOf(call: KernelCall, name: string): number {
  const value = call.attributes[name];
  assertInvariant(typeof value === 'number', () => `a kernel lacks the number '${name}'`);
  return value;
}

export function nameOf(call: KernelCall, name: string): string {
  const value = call.attributes[name];
  assertInvariant(typeof value === 'string', () => `a kernel lacks the name '${name}'`);
  return value;
}
