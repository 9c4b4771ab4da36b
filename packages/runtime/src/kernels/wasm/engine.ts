/** @file The fast engine: all buffers of a rank in one WebAssembly memory, kernels that work on it in place. */
import { assertInvariant } from '@meshwright/core/errors';
import type { DType } from '@meshwright/core/tensor';
import type { Engine } from '../engine.ts';
import { blasGemm } from '../openblas/gemm.ts';
import type { OpenBlas } from '../openblas/library.ts';
import type { AdamwConstants, ShardState, StepInputs } from '../optimizer.ts';
import type { Elements } from '../tensor.ts';
import { createArena } from './arena.ts';
import { type Build, instantiate, type WasmKernels } from './exports.ts';
import { blockBytes, type Places } from './places.ts';
import { addingKernels, wasmTable } from './table.ts';

/** Static data of the kernels lies below this. */
const PACK_START = 1 << 16;
const PACK_BYTES = 1 << 20;
/** Queries and keys of a block of attention: what stays in the nearest cache, and more where a product has its price. */
const BLOCK = 64;
const BLAS_BLOCK = 128;
const ARENA_START = PACK_START + PACK_BYTES + Math.ceil(blockBytes(BLAS_BLOCK) / 4096) * 4096;

/** Room beyond the predicted peak, for buffers that wait for their exchange and results on their way. Pages that nobody
 * touches cost nothing. */
const SLACK_BYTES = 64 << 20;
const SLACK_SHARE = 2;
const LARGEST_MEMORY = 2 ** 32;
const WARM_SIDE = 512;

/** An engine for a rank that holds `peakBytes` at its peak, two-byte types in four. With `blas` its matrix products are
 * those of OpenBLAS, on the same memory. */
export function wasmEngine(
  peakBytes: number,
  { blas, build = 'portable' }: { readonly blas?: OpenBlas; readonly build?: Build } = {},
): Engine {
  const size = Math.min(LARGEST_MEMORY, ARENA_START + SLACK_SHARE * peakBytes + SLACK_BYTES);
  const { buffer, kernels: own } = instantiate(size, build);
  const kernels = blas ? withBlas(own, blas, blas.addressOf(buffer)) : own;
  const arena = createArena(ARENA_START, size);
  let borrowed: number[] = [];
  const allocate = (bytes: number): number => {
    const place = arena.allocate(bytes);
    assertInvariant(place !== undefined, () => `a rank's memory of ${size} bytes has no room for ${bytes} more`);
    return place;
  };
  const borrow = (bytes: number): number => {
    const place = allocate(bytes);
    borrowed.push(place);
    return place;
  };
  const pointer = (data: Elements): number => {
    if (data.buffer === buffer) return data.byteOffset;
    const at = borrow(4 * data.length);
    const view = data instanceof Int32Array ? Int32Array : Float32Array;
    new view(buffer, at, data.length).set(data);
    return at;
  };
  const block = blas ? BLAS_BLOCK : BLOCK;
  const places: Places = { kernels, pointer, borrow, buffer, pack: PACK_START, packBytes: PACK_BYTES, block };
  return {
    kernels: wasmTable(places),
    adamw: (shard, inputs, constants) => step(places, shard, inputs, constants),
    addsInPlace: (kernel) => addingKernels.has(kernel),
    createElements: (dtype, length) => elementsAt(dtype, buffer, allocate(4 * length), length),
    release: (elements) => arena.release(elements.byteOffset),
    scratch: (length) => new Float32Array(buffer, borrow(4 * length), length),
    endOperation: () => {
      for (const place of borrowed) arena.release(place);
      borrowed = [];
    },
    highWaterBytes: arena.highWaterBytes,
  };
}

/** OpenBLAS fetches its own memory and threads in its first large product; later ones are up to three times as fast. */
function withBlas(own: WasmKernels, blas: OpenBlas, base: number): WasmKernels {
  const gemm = blasGemm(blas, base, own);
  const bytes = 4 * WARM_SIDE ** 2;
  const [a, b, c] = [ARENA_START, ARENA_START + bytes, ARENA_START + 2 * bytes];
  gemm(WARM_SIDE, WARM_SIDE, WARM_SIDE, a, WARM_SIDE, 1, b, WARM_SIDE, 1, c, WARM_SIDE, 0, 0, PACK_START);
  return { ...own, gemm };
}

function elementsAt(dtype: DType, buffer: ArrayBuffer, place: number, length: number): Elements {
  if (dtype === 'int32') return new Int32Array(buffer, place, length);
  if (dtype === 'u8') return new Uint8Array(buffer, place, length);
  return new Float32Array(buffer, place, length);
}

function step(
  { kernels, pointer }: Places,
  { ranges, gradient, weight, master = weight, m, v = m }: ShardState,
  { factor, learningRate, step: count }: StepInputs,
  { beta1, beta2, epsilon, weightDecay }: AdamwConstants,
): void {
  const rate = learningRate / (1 - beta1 ** count);
  const root = 1 / (1 - beta2 ** count);
  const [slopes, parameters] = [pointer(gradient), pointer(master)];
  for (const { from, length, decay } of ranges) {
    const keep = decay ? 1 - learningRate * weightDecay : 1;
    const state = [slopes, pointer(m), pointer(v), parameters].map((place) => place + 4 * from);
    kernels.adamw(length, ...state, factor, beta1, beta2, epsilon, rate, root, keep);
  }
  if (master.byteOffset !== parameters) throw new Error('internal: the parameters of a step do not lie in memory.');
  if (master !== weight) {
    for (const { from, length } of ranges) weight.set(master.subarray(from, from + length), from);
  }
}
