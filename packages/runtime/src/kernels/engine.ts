/** @file What executes kernels, and where the memory of a rank lies. The interpreter knows this interface and nothing else of
 * an engine; the plain engine is the reference that others are held against.
 */
import type { DType } from '@meshwright/core/tensor';
import type { Arithmetic } from '../transport/wire.ts';
import { type TensorKernels, tensorKernels } from './index.ts';
import { type AdamwConstants, adamw, type ShardState, type StepInputs } from './optimizer.ts';
import type { Elements, FloatArray } from './tensor.ts';

/** `plain`: TypeScript over typed arrays, sums in float64. `wasm`: WebAssembly vectors, sums in float32; where the host has
 * relaxed vectors and the processor can, products are added in one rounding. `wasm-portable`: the same in two roundings, the
 * same bits on every machine. `openblas`: matrix products by the OpenBLAS of this machine, the rest as `wasm`. */
export const kernelEngines = ['wasm', 'wasm-portable', 'openblas', 'plain'] as const;
export type KernelEngine = (typeof kernelEngines)[number];

export interface Engine {
  readonly kernels: TensorKernels;
  readonly adamw: (shard: ShardState, inputs: StepInputs, constants: AdamwConstants) => void;
  /** Whether a kernel adds into a result that says so; the others overwrite, and the interpreter adds. */
  readonly addsInPlace: (kernel: string) => boolean;
  /** Memory of a buffer, with anything in it. */
  readonly createElements: (dtype: DType, length: number) => Elements;
  /** Gives the memory of a buffer back. */
  readonly release: (elements: Elements) => void;
  /** Memory of a result on its way, until {@link Engine.endOperation}. */
  readonly scratch: (length: number) => FloatArray;
  readonly endOperation: () => void;
  /** The most bytes from the first to the last one in use; 0 where memory is the host's. */
  readonly highWaterBytes: () => number;
}

export function plainEngine(arithmetic: Arithmetic): Engine {
  return {
    kernels: tensorKernels,
    adamw,
    addsInPlace: () => false,
    createElements: (dtype, length) => {
      if (dtype === 'int32') return new Int32Array(length);
      if (dtype === 'u8') return new Uint8Array(length);
      return arithmetic === 'float64' ? new Float64Array(length) : new Float32Array(length);
    },
    release: () => undefined,
    scratch: (length) => new Float64Array(length),
    endOperation: () => undefined,
    highWaterBytes: () => 0,
  };
}
