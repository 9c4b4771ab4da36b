/** @file The compiled kernels over one memory. Signatures are those of packages/runtime/assembly: pointers are bytes. */
import { setFlagsFromString } from 'node:v8';
import { wasmKernels } from './generated/module.ts';
import { relaxedKernels } from './generated/relaxed.ts';

type Numbers = readonly number[];
type Call<Arguments extends Numbers> = (...given: Arguments) => void;

/** m, n, k; a with its two strides, b with its two, c with its row's; adds, bias, pack. */
export type GemmArguments = [
  ...sizes: [number, number, number],
  ...a: [number, number, number],
  ...b: [number, number, number],
  ...c: [number, number],
  ...rest: [adds: number, bias: number, pack: number],
];

export interface WasmKernels {
  readonly gemm: Call<GemmArguments>;
  readonly fillRows: Call<[m: number, n: number, c: number, cRow: number, bias: number]>;
  readonly biasDw: Call<number[]>;
  readonly beginRows: Call<number[]>;
  readonly softenRows: Call<number[]>;
  readonly finishRows: Call<number[]>;
  readonly rowMeans: Call<number[]>;
  readonly slopeRows: Call<number[]>;
  readonly maskRows: Call<number[]>;
  readonly scale: Call<number[]>;
  readonly softmaxRows: Call<number[]>;
  readonly softmaxRowsDx: Call<number[]>;
  readonly layernorm: Call<number[]>;
  readonly layernormDx: Call<number[]>;
  readonly rmsnorm: Call<number[]>;
  readonly rmsnormDx: Call<number[]>;
  readonly activate: Call<number[]>;
  readonly activateDx: Call<number[]>;
  readonly gated: Call<number[]>;
  readonly gatedDx: Call<number[]>;
  readonly cap: Call<number[]>;
  readonly capDx: Call<number[]>;
  readonly add: Call<number[]>;
  readonly rowmax: Call<number[]>;
  readonly rowsumexp: Call<number[]>;
  readonly crossEntropyDx: Call<number[]>;
  readonly rotate: Call<number[]>;
  readonly gatherRows: Call<number[]>;
  readonly scatterRows: Call<number[]>;
  readonly sumCopies: Call<number[]>;
  readonly sumCopiesDx: Call<number[]>;
  readonly addBias: Call<number[]>;
  readonly weighRows: Call<number[]>;
  readonly dotRows: Call<number[]>;
  readonly adamw: Call<number[]>;
}

/** The part of the WebAssembly interface that is used; the compiler's library for Node 20 has none. */
interface WebAssemblyInterface {
  readonly validate: (bytes: Uint8Array) => boolean;
  readonly Memory: new (size: { initial: number; maximum: number }) => { readonly buffer: ArrayBuffer };
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (module: object, imports: object) => { readonly exports: unknown };
}

const PAGE_BYTES = 65_536;

const engine = (): WebAssemblyInterface =>
  (globalThis as unknown as { readonly WebAssembly: WebAssemblyInterface }).WebAssembly;

/** A module of one function that multiplies and adds four lanes at once. */
const RELAXED_PROBE = [
  ...[0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00],
  ...[0x01, 0x08, 0x01, 0x60, 0x03, 0x7b, 0x7b, 0x7b, 0x01, 0x7b],
  ...[0x03, 0x02, 0x01, 0x00],
  ...[0x0a, 0x0d, 0x01, 0x0b, 0x00, 0x20, 0x00, 0x20, 0x01, 0x20, 0x02, 0xfd, 0x85, 0x02, 0x0b],
];

/** Whether this host runs the relaxed build. Node 20 has relaxed vectors behind a flag, which is set here for the process. */
export function hasRelaxedVectors(): boolean {
  const { validate } = engine();
  const probe = Uint8Array.from(RELAXED_PROBE);
  if (!validate(probe)) setFlagsFromString('--experimental-wasm-relaxed-simd');
  return validate(probe);
}

/** `portable`: the same results on every machine. `relaxed`: products are added with one rounding where the processor can. */
export type Build = 'portable' | 'relaxed';

/** The faster build of those that this host runs. */
export const fastestBuild = (): Build => (hasRelaxedVectors() ? 'relaxed' : 'portable');

/** Memory of a fixed size and the kernels that work on it. */
export function instantiate(
  bytes: number,
  build: Build = 'portable',
): { readonly buffer: ArrayBuffer; readonly kernels: WasmKernels } {
  const { Memory, Module, Instance } = engine();
  const pages = Math.ceil(bytes / PAGE_BYTES);
  const memory = new Memory({ initial: pages, maximum: pages });
  const text = build === 'relaxed' ? relaxedKernels : wasmKernels;
  const module = new Module(Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0)));
  const { exports } = new Instance(module, { env: { memory } });
  return { buffer: memory.buffer, kernels: exports as WasmKernels };
}
