/** @file One invocation of a split schedule as one integer: kind in bits 0 and 1, whether it runs together with the next one
 * in bit 2, chunk in bit 3, micro-batch above.
 */

/** `F` forward; `B` backward, both parts in one block; `I` its input part; `W` its weight part. */
export type SplitKind = 'F' | 'B' | 'I' | 'W';

/** A chunk computes one micro-batch, or a part of it. */
export interface SplitInvocation {
  readonly kind: SplitKind;
  readonly chunk: 0 | 1;
  readonly microBatch: number;
  /** Runs together with the next one: both start when both can. */
  readonly together: boolean;
}

/** In the order of their numbers. */
const kinds: readonly SplitKind[] = ['F', 'B', 'I', 'W'];

/** The code of an invocation. */
export const splitCode = (kind: SplitKind, chunk: number, microBatch: number, together = false): number =>
  (microBatch << 4) | (chunk << 3) | (together ? 4 : 0) | kinds.indexOf(kind);

export const kindOf = (code: number): SplitKind => kinds[code & 3] as SplitKind;
export const isTogether = (code: number): boolean => (code & 4) !== 0;
export const splitChunkOf = (code: number): number => (code >> 3) & 1;
export const splitMicroBatchOf = (code: number): number => code >> 4;

/** The readable form of a code. */
export const decodeSplit = (code: number): SplitInvocation => ({
  kind: kindOf(code),
  chunk: splitChunkOf(code) === 0 ? 0 : 1,
  microBatch: splitMicroBatchOf(code),
  together: isTogether(code),
});

/** A list as people write it: `F0 I0 W0`, with two chunks `F0.1`; a pair that runs together is joined by `+`. */
export function formatSplit(codes: Iterable<number>, chunks: number): string {
  let text = '';
  let before = '';
  for (const code of codes) {
    text += `${before}${kindOf(code)}${splitMicroBatchOf(code)}${chunks > 1 ? `.${splitChunkOf(code)}` : ''}`;
    before = isTogether(code) ? '+' : ' ';
  }
  return text;
}
