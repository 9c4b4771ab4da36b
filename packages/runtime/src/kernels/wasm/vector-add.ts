/** @file Sums of arrays that lie anywhere, by vectors: through a small memory that stays in the near cache. Three copies and a
 * sum there cost less than half of a loop over both arrays, which computes in double precision and rounds.
 */
import { instantiate } from './exports.ts';

/** result = left + right, rounded to float32; the result may be one of them. */
export type Add = (result: Float32Array, left: Float32Array, right: Float32Array) => void;

/** Elements that are summed at a time. */
const CHUNK = 1 << 14;
const START = 1 << 16;
const END = START + 8 * CHUNK;

export function vectorAdd(): Add {
  const { buffer, kernels } = instantiate(END);
  const [first, second] = [START, START + 4 * CHUNK];
  const a = new Float32Array(buffer, first, CHUNK);
  const b = new Float32Array(buffer, second, CHUNK);
  return (result, left, right) => {
    const { length } = result;
    for (let from = 0; from < length; from += CHUNK) {
      const count = Math.min(CHUNK, length - from);
      a.set(left.subarray(from, from + count));
      b.set(right.subarray(from, from + count));
      kernels.add(1, count, first, 0, second, first);
      result.set(a.subarray(0, count), from);
    }
  };
}
