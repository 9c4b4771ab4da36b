/** @file How often the host launches a kernel of the table. */
import type { KernelName, Work } from '../program/index.ts';

/** Products of experts in one row of the kernel table; `batch` is how many experts. */
const expertProducts: ReadonlySet<KernelName | undefined> = new Set<KernelName>([
  'expert-gemm',
  'expert-gemm.dx',
  'expert-gemm.dw',
  'grouped-gemm',
  'grouped-gemm.dx',
  'grouped-gemm.dw',
]);

/** Launches of a kernel, each with what belongs to it (casts of its operands): one, but for products of experts that a framework
 * runs one by one. */
export const launchesOf = (work: Work, kernel: KernelName | undefined, products: 'grouped' | 'each'): number =>
  products === 'each' && work.kind === 'gemm' && expertProducts.has(kernel) ? work.batch : 1;
