/** @file What rows of the fast table work with: the kernels, the memory, and room in it. */
import type { TensorKernels } from '../index.ts';
import type { KernelCall, Tensor } from '../tensor.ts';
import type { WasmKernels } from './exports.ts';

/** Finds the first byte of a tensor; what does not lie in the memory is copied into it for the operation. */
type Pointer = (data: Tensor['data']) => number;

export interface Places {
  readonly kernels: WasmKernels;
  readonly pointer: Pointer;
  /** Room until the end of the operation: its first byte. */
  readonly borrow: (bytes: number) => number;
  /** The memory. */
  readonly buffer: ArrayBuffer;
  /** Room of {@link Places.packBytes} for panels of products, then of {@link blockBytes} for blocks of attention. */
  readonly pack: number;
  readonly packBytes: number;
  /** Queries and keys of a block of attention. */
  readonly block: number;
}

/** Two blocks of scores and three statistics of each query. */
export const blockBytes = (block: number): number => 8 * block * block + 12 * block;

/** Does the work, or says that it is one for the plain kernel. */
type Row = (call: KernelCall) => void | 'plain';
export type Rows = Partial<Record<keyof TensorKernels, Row>>;

/** Copies whole numbers into the memory for the operation. */
export function lend({ borrow, buffer }: Places, values: ArrayLike<number>): number {
  const at = borrow(4 * values.length);
  new Int32Array(buffer, at, values.length).set(values);
  return at;
}

/** Floats of the memory. */
export const floatsAt = ({ buffer }: Places, at: number, length: number): Float32Array =>
  new Float32Array(buffer, at, length);

export const flag = ({ adds }: Tensor): number => (adds ? 1 : 0);
