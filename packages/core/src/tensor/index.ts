/** @file Element types, and dims of a tensor with the mesh axes that cut them. */

/** `mxfp8`: blocks of 32 elements share a scale of one byte. `nvfp4`: half a byte, blocks of 16 share one. */
export type DType = 'fp32' | 'fp16' | 'bf16' | 'fp8' | 'mxfp8' | 'nvfp4' | 'int32' | 'u8';

const elementBytes: Readonly<Record<DType, number>> = {
  fp32: 4,
  fp16: 2,
  bf16: 2,
  fp8: 1,
  mxfp8: 1 + 1 / 32,
  nvfp4: 1 / 2 + 1 / 16,
  int32: 4,
  u8: 1,
};

/** Bytes of one element, its share of the scales of its block included. */
export const bytesOf = (dtype: DType): number => elementBytes[dtype];

/** One dim of a tensor.
 *
 * `size` is global. `cut` names the mesh axes that cut the dim, outer first; absent means whole. `parts` are the global
 * sizes of the tensors that are fused along this dim (query, key, value): each part is cut by itself. `zigzag`: the
 * outermost axis cuts twice as many pieces as it has ranks, and rank r of n holds pieces r and 2 n - 1 - r, so that
 * causal attention is the same work for all. `routed`: rows of tokens that a router has sent to experts; their number on a
 * rank depends on data.
 */
export interface Dim {
  readonly label: string;
  readonly size: number;
  readonly cut?: readonly string[];
  readonly parts?: readonly number[];
  readonly zigzag?: true;
  readonly routed?: Routing;
}

/** How the rows of a routed dim spread over the experts, which stand in a dim of their own before it: `size` counts the
 * rows of all experts, and each has an equal share of them times `load`. A symbol: it is bound to 1 (balanced), to the
 * busiest rank's rows over the mean, or to what a rank has counted.
 */
export interface Routing {
  readonly experts: number;
  readonly load: number;
}

/** Degree of an axis by name. */
export type Degrees = (axis: string) => number;

/** Pieces of a dim over all axes that cut it. */
export const cutWays = ({ cut = [] }: Dim, degrees: Degrees): number =>
  cut.reduce((product, axis) => product * degrees(axis), 1);

/** Elements of a dim on one rank; a cut that does not divide is padded up, part by part. Of routed rows those of one
 * expert, which need not be whole: with its experts a rank has a whole number.
 */
export function localSize(dim: Dim, degrees: Degrees): number {
  const ways = cutWays(dim, degrees);
  if (dim.routed) return (dim.size * dim.routed.load) / dim.routed.experts / ways;
  if (ways === 1) return dim.size;
  if (dim.parts) return dim.parts.reduce((sum, part) => sum + Math.ceil(part / ways), 0);
  return Math.ceil(dim.size / ways);
}

/** Elements of a tensor on one rank, padding included. */
export function localElements(dims: readonly Dim[], degrees: Degrees): number {
  let product = 1;
  let rows = 1;
  for (const dim of dims) {
    // Routed rows are whole together with the experts before them.
    if (dim.routed) {
      rows = wholeRows(product * localSize(dim, degrees));
      product = 1;
    } else product *= localSize(dim, degrees);
  }
  return rows * product;
}

/** Rows of a load are rounded up; what is whole but for the rounding of its share is whole. */
const wholeRows = (rows: number): number => Math.ceil(rows - 1e-6 * Math.max(1, rows * 1e-6));

/** Elements of a tensor over all ranks that hold a different piece, padding left out. */
export const globalElements = (dims: readonly Dim[]): number => dims.reduce((product, dim) => product * dim.size, 1);

/** The axes that cut any dim of a tensor. */
export const cutAxes = (dims: readonly Dim[]): readonly string[] => dims.flatMap((dim) => dim.cut ?? []);
