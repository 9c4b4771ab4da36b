/** @file Fast kernels: AssemblyScript for WebAssembly with 128-bit vectors, compiled by tools/build-wasm.mjs. All pointers are
 * bytes in the one memory that the host gives; all sizes and strides are elements. Sums are carried in float32, so results
 * differ from those of the plain kernels in rounding; no fused multiply-add, so they are the same on every machine.
 */
export { attention, attentionDx } from './attention';
export { add, addInto, gatedSilu, gatedSiluDx, geluTanh, geluTanhDx } from './elementwise';
export { biasDw, fillRows, gemm } from './gemm';
export { crossEntropyDx, rowmax, rowsumexp } from './loss';
export { layernorm, layernormDx, rmsnorm, rmsnormDx } from './norm';
export { adamw } from './optimizer';
