/** @file One row of the kernel table: signature, and FLOPs and bytes from local shapes. */
import { bytesOf, type DType } from '../../tensor/index.ts';
import type { GemmWork, MemoryWork, Work } from '../work.ts';
import { parseSignature, type Signature } from './signature.ts';

/** An operand as one rank sees it: local dims and element type. */
export interface LocalOperand {
  readonly dims: readonly number[];
  readonly dtype: DType;
  readonly accumulate: boolean;
}

export interface LocalOperands {
  /** In the order of the signature; undefined for an absent optional operand. */
  readonly reads: readonly (LocalOperand | undefined)[];
  readonly writes: readonly (LocalOperand | undefined)[];
  readonly attributes: Readonly<Record<string, number | string>>;
}

export interface KernelRow {
  readonly signature: Signature;
  /** How a label that is summed over reduces. */
  readonly reduce: 'sum' | 'max';
  /** Operands are buckets of any number (norm and optimizer); the verifier types them by their own rule. */
  readonly variadic: boolean;
  readonly work: (operands: LocalOperands) => Work;
}

export const elements = (operand: LocalOperand | undefined): number =>
  operand ? operand.dims.reduce((product, size) => product * size, 1) : 0;

export const operandBytes = (operand: LocalOperand | undefined): number =>
  operand ? elements(operand) * bytesOf(operand.dtype) : 0;

const sumBytes = (operands: readonly (LocalOperand | undefined)[]): number =>
  operands.reduce((sum, operand) => sum + operandBytes(operand), 0);

/** Bytes read: all inputs, and what is accumulated into. */
export const readBytes = ({ reads, writes }: LocalOperands): number =>
  sumBytes(reads) + sumBytes(writes.filter((write) => write?.accumulate));

export const writtenBytes = ({ writes }: LocalOperands): number => sumBytes(writes);

/** A row bound by memory: each operand passes once, `flopsPerElement` for each element of the first write. */
export function memoryRow(signature: string, flopsPerElement: number, reduce: 'sum' | 'max' = 'sum'): KernelRow {
  return {
    signature: parseSignature(signature),
    reduce,
    variadic: false,
    work: (operands): MemoryWork => ({
      kind: 'memory',
      flops: flopsPerElement * Math.max(elements(operands.reads[0]), elements(operands.writes[0])),
      bytesRead: readBytes(operands),
      bytesWritten: writtenBytes(operands),
    }),
  };
}

/** A row over buckets of any number. `bytesPerElement` of traffic for each element of the gradients that are read. */
export function bucketRow(signature: string, work: (operands: LocalOperands) => MemoryWork): KernelRow {
  return { signature: parseSignature(signature), reduce: 'sum', variadic: true, work };
}

export interface GemmShape {
  readonly m: number;
  readonly n: number;
  readonly k: number;
  readonly batch: number;
}

/** A matrix product; `shape` reads m, n, k and the number of products off the local operands. */
export function gemmRow(signature: string, shape: (operands: LocalOperands) => GemmShape): KernelRow {
  return {
    signature: parseSignature(signature),
    reduce: 'sum',
    variadic: false,
    work: (operands): GemmWork => {
      const { m, n, k, batch } = shape(operands);
      return {
        kind: 'gemm',
        m,
        n,
        k,
        batch,
        dtype: operands.reads[0]?.dtype ?? 'fp32',
        accumulate: operands.writes[0]?.accumulate ?? false,
        flops: 2 * m * n * k * batch,
        bytesRead: readBytes(operands),
        bytesWritten: writtenBytes(operands),
      };
    },
  };
}

/** Product of all dims but the last `trailing`. */
export const rows = (operand: LocalOperand | undefined, trailing = 1): number =>
  operand ? operand.dims.slice(0, operand.dims.length - trailing).reduce((product, size) => product * size, 1) : 0;

/** A dim counted from the end: 1 is the last. */
export const fromEnd = (operand: LocalOperand | undefined, index: number): number =>
  operand?.dims[operand.dims.length - index] ?? 0;

export const attribute = (operands: LocalOperands, name: string): number => Number(operands.attributes[name] ?? 0);
