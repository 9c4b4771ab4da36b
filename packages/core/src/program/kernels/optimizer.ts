/** @file Rows over buckets of any number: the norm and the optimizer step. */
import { bytesOf } from '../../tensor/index.ts';
import { bucketRow, elements, type KernelRow, type LocalOperands, operandBytes } from './row.ts';

const gradients = (operands: LocalOperands): number => operands.reads.reduce((sum, read) => sum + elements(read), 0);
const gradientBytes = (operands: LocalOperands): number =>
  operands.reads.reduce((sum, read) => sum + operandBytes(read), 0);

/** Weights and state that a step writes: of each bucket's weights only the part that its gradients cover, though the
 * buffer may hold them whole (sharding 1 and 2).
 */
function stateBytes({ reads, writes }: LocalOperands): number {
  const buckets = reads.length - 2;
  return writes.reduce((sum, write, index) => {
    const gradient = reads[index];
    if (write === undefined || gradient === undefined || index >= buckets) return sum + operandBytes(write);
    return sum + Math.min(elements(write), elements(gradient)) * bytesOf(write.dtype);
  }, 0);
}

/** Sum of squares of the gradients that this rank counts: reads gradient buckets, writes a scalar. */
export const squareSum: KernelRow = bucketRow('g:[n] -> q:[]', (operands) => ({
  kind: 'memory',
  flops: 2 * gradients(operands),
  bytesRead: gradientBytes(operands),
  bytesWritten: 4,
}));

/** min(1, limit / norm) from the sum of squares. */
export const clip: KernelRow = bucketRow('q:[] -> k:[]', () => ({
  kind: 'memory',
  flops: 4,
  bytesRead: 4,
  bytesWritten: 4,
}));

/** AdamW: reads gradients, clip factor and learning rate; reads and writes master, m and v; writes weights. */
export const adamw: KernelRow = bucketRow('g:[n] k:[] lr:[] -> w:[n] o:[n]', (operands) => ({
  kind: 'memory',
  flops: 12 * gradients(operands),
  bytesRead: gradientBytes(operands) + stateBytes(operands),
  bytesWritten: stateBytes(operands),
}));

/** SGD with momentum: reads gradients, clip factor and learning rate; reads and writes master and momentum; writes weights. */
export const sgd: KernelRow = bucketRow('g:[n] k:[] lr:[] -> w:[n] o:[n]', (operands) => ({
  kind: 'memory',
  flops: 4 * gradients(operands),
  bytesRead: gradientBytes(operands) + stateBytes(operands),
  bytesWritten: stateBytes(operands),
}));

/** A bucket, or the rank's shard of it, between the memory of the device and that of the host: what is read passes once. */
export const copy: KernelRow = bucketRow('from:[n] -> to:[n]', ({ reads }) => ({
  kind: 'memory',
  flops: 0,
  bytesRead: operandBytes(reads[0]),
  bytesWritten: operandBytes(reads[0]),
}));
