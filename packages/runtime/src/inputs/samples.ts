/** @file The samples of a run: token sequences that depend on seed, step and global sample only, so that every layout and
 * every restart sees the same. Half of the tokens follow from the one before, so that there is something to learn.
 */
import { mix } from '../numbers/hash.ts';

/** Tokens 0 .. length of a sample: inputs are the first `length`, labels the last `length`. */
export function sampleTokens(
  seed: number,
  step: number,
  sample: number,
  length: number,
  vocabulary: number,
): Int32Array {
  const own = mix(mix(mix(seed, 0x70ce45), step), sample);
  const tokens = new Int32Array(length + 1);
  for (let index = 0; index <= length; index++) {
    const draw = mix(own, index);
    const follows = index > 0 && draw % 2 === 0;
    tokens[index] = follows ? (5 * tokens[index - 1]! + 3) % vocabulary : (draw >>> 1) % vocabulary;
  }
  return tokens;
}
