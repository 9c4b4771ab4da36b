/** @file The compiled kernels over one memory. Signatures are those of packages/runtime/assembly: pointers are bytes. */
import { wasmKernels } from './generated/module.ts';

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
  readonly attention: Call<number[]>;
  readonly attentionDx: Call<number[]>;
  readonly layernorm: Call<number[]>;
  readonly layernormDx: Call<number[]>;
  readonly rmsnorm: Call<number[]>;
  readonly rmsnormDx: Call<number[]>;
  readonly geluTanh: Call<number[]>;
  readonly geluTanhDx: Call<number[]>;
  readonly gatedSilu: Call<number[]>;
  readonly gatedSiluDx: Call<number[]>;
  readonly add: Call<number[]>;
  readonly addInto: Call<number[]>;
  readonly rowmax: Call<number[]>;
  readonly rowsumexp: Call<number[]>;
  readonly crossEntropyDx: Call<number[]>;
  readonly adamw: Call<number[]>;
}

/** The part of the WebAssembly interface that is used; the compiler's library for Node 20 has none. */
interface WebAssemblyInterface {
  readonly Memory: new (size: { initial: number; maximum: number }) => { readonly buffer: ArrayBuffer };
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (module: object, imports: object) => { readonly exports: unknown };
}

const PAGE_BYTES = 65_536;

/** Memory of a fixed size and the kernels that work on it. */
export function instantiate(bytes: number): { readonly buffer: ArrayBuffer; readonly kernels: WasmKernels } {
  const { Memory, Module, Instance } = (globalThis as unknown as { readonly WebAssembly: WebAssemblyInterface })
    .WebAssembly;
  const pages = Math.ceil(bytes / PAGE_BYTES);
  const memory = new Memory({ initial: pages, maximum: pages });
  const module = new Module(Uint8Array.from(atob(wasmKernels), (letter) => letter.charCodeAt(0)));
  const { exports } = new Instance(module, { env: { memory } });
  return { buffer: memory.buffer, kernels: exports as WasmKernels };
}
