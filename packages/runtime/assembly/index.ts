/** @file Fast kernels: AssemblyScript for WebAssembly with 128-bit vectors, compiled by tools/build-wasm.mjs in two builds. All
 * pointers are bytes in the one memory that the host gives; all sizes and strides are elements. Sums are carried in float32,
 * so results differ from those of the plain kernels in rounding. The portable build multiplies and adds apart, so its
 * results are the same on every machine; the relaxed one does both at once where the processor can.
 */
export { beginRows, finishRows, rowMeans, slopeRows, softenRows } from './attention';
export { activate, activateDx, add, cap, capDx, gated, gatedDx } from './elementwise';
export { biasDw, fillRows, gemm } from './gemm';
export { crossEntropyDx, rowmax, rowsumexp } from './loss';
export { layernorm, layernormDx, rmsnorm, rmsnormDx } from './norm';
export { adamw } from './optimizer';
export { rotate } from './rope';
export { addBias, dotRows, gatherRows, scatterRows, sumCopies, sumCopiesDx, weighRows } from './rows';
export { maskRows, scale, softmaxRows, softmaxRowsDx } from './softmax';
