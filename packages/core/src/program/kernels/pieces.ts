/** @file Rows that copy: into another type, or a piece of the sequence. Attributes: `piece`, counted from 0, of `pieces` equal ones of the rank. */
import type { MemoryWork } from '../work.ts';
import { elements, type KernelRow, operandBytes } from './row.ts';
import { parseSignature } from './signature.ts';

/** Reads and writes the bytes of the piece alone, whichever operand is the whole. */
const pieceRow = (signature: string, pieceOf: 'read' | 'write'): KernelRow => ({
  signature: parseSignature(signature),
  reduce: 'sum',
  variadic: false,
  work: ({ reads, writes }): MemoryWork => {
    const bytes = operandBytes(pieceOf === 'read' ? reads[0] : writes[0]);
    return { kind: 'memory', flops: 0, bytesRead: bytes, bytesWritten: bytes };
  },
});

/** The same values in the type of the output. Into a narrow type of products it takes no time of its own: tables of such
 * products were measured with the cast of their inputs, and their fit has a term for it.
 */
export const cast: KernelRow = {
  signature: parseSignature('x~:[..] -> y~:[..]'),
  reduce: 'sum',
  variadic: false,
  work: ({ reads, writes }): MemoryWork => {
    const bytes = operandBytes(writes[0]);
    const isNarrow = bytes < 2 * elements(writes[0]);
    return {
      kind: 'memory',
      flops: 0,
      bytesRead: isNarrow ? 0 : operandBytes(reads[0]),
      bytesWritten: isNarrow ? 0 : bytes,
    };
  },
};

/** Copies the rows of one piece out of the whole. */
export const slice: KernelRow = pieceRow('x:[s ..] -> y:[s* ..]', 'write');

/** Copies the rows of one piece into the whole. All but the first piece read the whole too: its other rows stay. */
export const place: KernelRow = pieceRow('x~:[s* ..] into?~:[s ..] -> y~:[s ..]', 'read');
