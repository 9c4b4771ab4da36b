/** @file Local shapes of operands, and the work of an operation on one rank. */
import { assertInvariant } from '../errors/index.ts';
import { bytesOf, type Degrees, type Dim, localElements, localSize } from '../tensor/index.ts';
import type { ExpandedOperation, Operand } from './expand.ts';
import { type KernelRow, kernels, type LocalOperand, type LocalOperands } from './kernels/index.ts';
import type { BufferDeclaration, Compute } from './types.ts';
import type { Work } from './work.ts';

/** The dims of an operand on one rank. */
export const localDims = (dims: readonly Dim[], degrees: Degrees): readonly number[] =>
  dims.map((dim) => localSize(dim, degrees));

/** Bytes that a buffer takes on the device of one rank, padding included; a shard in place takes none, nor does what lies in
 * host memory. */
export function bufferBytes(operand: Operand, degrees: Degrees): number {
  const { declaration } = operand.instance;
  if (declaration.shardOf !== undefined || declaration.place === 'host') return 0;
  return localElements(declaration.dims, degrees) * bytesOf(declaration.dtype);
}

/** Bytes that the buffers of a list take in host memory for one rank. */
export const hostBytes = (buffers: readonly BufferDeclaration[], degrees: Degrees): number =>
  buffers
    .filter(({ place }) => place === 'host')
    .reduce((sum, { dims, dtype }) => sum + localElements(dims, degrees) * bytesOf(dtype), 0);

/** Bytes of what an operation touches of a buffer. */
export const touchedBytes = (operand: Operand, degrees: Degrees): number =>
  localElements(operand.dims, degrees) * bytesOf(operand.instance.declaration.dtype);

/** The work of a compute operation on one rank. */
export function workOf(expanded: ExpandedOperation, degrees: Degrees): Work {
  const { operation } = expanded;
  assertInvariant(operation.kind === 'compute', () => `${operation.kind} is not a compute operation`);
  const local = (operand: Operand, accumulate: boolean): LocalOperand => ({
    dims: localDims(operand.dims, degrees),
    dtype: operand.instance.declaration.dtype,
    accumulate,
  });
  return workOfKernel(operation, {
    reads: expanded.reads.map((operand) => operand && local(operand, false)),
    writes: expanded.writes.map((write) => local(write.operand, write.accumulate)),
    attributes: operation.attributes ?? {},
  });
}

/** The work of a kernel on operands of known local shape. */
export const workOfKernel = (operation: Compute, operands: LocalOperands): Work => {
  const row: KernelRow = kernels[operation.kernel];
  return row.work(operands);
};
