/** @file Rows of attention. Attributes: `heads`, `kvHeads`, `headSize`, all global; `window`: tokens that a token looks
 * back, itself among them; absent: all before it; `chunked`: no further than to the beginning of its own `window` tokens.
 * `alibi`: scores fall with the distance, head by head. `sinks`: a score for each head that takes part in the softmax.
 * Of a block of context attention: `hop`, how many ranks its keys have come from.
 */

import type { AttentionWork } from '../work.ts';
import { attribute, gemmRow, type KernelRow, type LocalOperands, readBytes, writtenBytes } from './row.ts';
import { parseSignature } from './signature.ts';

/** Blockwise causal attention. FLOPs of the causal half: 2 products of s^2 / 2 x head size for each head; under a window
 * w, of w s - w^2 / 2; in chunks of w, of w / 2 s.
 */
export const attention = (signature: string): KernelRow => attentionRow(signature, 'forward', 2);

/** Backward: five products, the scores once more among them. */
export const attentionBackward = (signature: string): KernelRow => attentionRow(signature, 'backward', 5);

function attentionRow(signature: string, direction: 'forward' | 'backward', products: number): KernelRow {
  return {
    signature: parseSignature(signature),
    reduce: 'sum',
    variadic: false,
    work: (operands): AttentionWork => {
      const { sequence, batch, heads, kvHeads, headSize } = attentionShape(operands, direction);
      const window = attribute(operands, 'window');
      const chunked = attribute(operands, 'chunked') === 1;
      const pairs = pairsSeen(sequence, window, chunked);
      const isCut = window > 0 && window < sequence;
      return {
        kind: 'attention',
        direction,
        sequence,
        batch,
        heads,
        kvHeads,
        headSize,
        dtype: operands.reads[0]?.dtype ?? 'fp32',
        ...(isCut && { seen: { keys: pairs / sequence, farEdge: !chunked } }),
        flops: products * 2 * batch * heads * headSize * pairs,
        bytesRead: readBytes(operands),
        bytesWritten: writtenBytes(operands),
      };
    },
  };
}

/** Queries of the rank against keys and values that came past (`u` tokens), with the output merged by its statistics.
 *
 * Zigzag cuts make all blocks alike: of a rank's s/c queries and u keys, half of the pairs are seen, whether they are its
 * own (causal), those of an earlier rank (the first half of the keys), of a later one (the second half of the queries),
 * or of all. A window only makes it less on some ranks; the largest counts.
 */
export const blockAttention = (signature: string): KernelRow => blockRow(signature, 'forward', 2);

/** Backward of a block: the gradient of its queries is added up, that of keys and values belongs to the block. */
export const blockAttentionBackward = (signature: string): KernelRow => blockRow(signature, 'backward', 5);

function blockRow(signature: string, direction: 'forward' | 'backward', products: number): KernelRow {
  return {
    signature: parseSignature(signature),
    reduce: 'sum',
    variadic: false,
    work: (operands): AttentionWork => {
      const shape = attentionShape(operands, direction);
      const keys = operands.reads[direction === 'forward' ? 1 : 2]?.dims[0] ?? 0;
      const { batch, heads, headSize, sequence } = shape;
      return {
        kind: 'attention',
        direction,
        ...shape,
        keys,
        dtype: operands.reads[0]?.dtype ?? 'fp32',
        flops: products * 2 * batch * heads * headSize * ((sequence * keys) / 2),
        bytesRead: readBytes(operands),
        bytesWritten: writtenBytes(operands),
      };
    },
  };
}

/** Pairs of tokens, counting causal attention at half. */
function pairsSeen(sequence: number, window: number, chunked: boolean): number {
  if (window === 0 || window >= sequence) return sequence ** 2 / 2;
  if (!chunked) return window * sequence - window ** 2 / 2;
  const rest = sequence % window;
  return (Math.floor(sequence / window) * window ** 2 + rest ** 2) / 2;
}

function attentionShape(operands: LocalOperands, direction: 'forward' | 'backward') {
  const fused = direction === 'forward' ? operands.reads[0] : operands.reads[1];
  const [sequence = 0, batch = 0, width = 0] = fused?.dims ?? [];
  const headSize = attribute(operands, 'headSize');
  const heads = attribute(operands, 'heads');
  const kvHeads = attribute(operands, 'kvHeads');
  const localHeads = Math.round(((width / headSize) * heads) / (heads + 2 * kvHeads));
  return { sequence, batch, heads: localHeads, kvHeads: Math.round((localHeads * kvHeads) / heads), headSize };
}

/** A product of unfused attention; one [s s] x head size product for each head, two where `context.dx` and `scores.dx` do. */
export const scoreProduct = (signature: string): KernelRow =>
  gemmRow(signature, (operands) => {
    const scores = [...operands.reads, ...operands.writes].find((operand) => operand?.dims.length === 4);
    const [heads = 0, batch = 0, sequence = 0] = scores?.dims ?? [];
    const backward = operands.writes.some((write) => write?.dims.length === 3) && signature.includes('dqkv');
    const headSize = attribute(operands, 'headSize');
    return { m: sequence, n: sequence, k: headSize, batch: heads * batch * (backward ? 2 : 1) };
  });
