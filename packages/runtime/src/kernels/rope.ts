/** @file Rotary positions, in the half-split convention of Hugging Face's Llama: value j of a head turns with value
 * j + R/2 by the angle position * theta^(-2j/R), R the leading values of a head that are turned (all or a part). In
 * place or out of place.
 */
import { type HeadCounts, headLayout } from './heads.ts';
import { dimAt, globalPlacesOf, type Tensor } from './tensor.ts';

/** Base of the frequencies, and values of a head that are turned. */
export interface Turn {
  readonly theta: number;
  readonly turned: number;
}

export const rope = (qkv_SBP: Tensor, out_SBP: Tensor, counts: HeadCounts, turn: Turn): void =>
  rotate(qkv_SBP, out_SBP, counts, turn, 1);

/** A rotation's gradient is the rotation back. */
export const ropeDx = (dqkv_SBP: Tensor, out_SBP: Tensor, counts: HeadCounts, turn: Turn): void =>
  rotate(dqkv_SBP, out_SBP, counts, turn, -1);

function rotate(from_SBP: Tensor, to_SBP: Tensor, counts: HeadCounts, { theta, turned }: Turn, sign: 1 | -1): void {
  const { S, B, A, kvHeads, D, P } = headLayout(from_SBP, counts);
  const places = globalPlacesOf(dimAt(from_SBP, 0));
  const half = turned / 2;
  const [from, to] = [from_SBP.data, to_SBP.data];
  if (from !== to) to.set(from);
  for (let s = 0; s < S; s++) {
    for (let j = 0; j < half; j++) {
      const angle = places[s]! * theta ** ((-2 * j) / turned);
      const cos = Math.cos(angle);
      const sin = sign * Math.sin(angle);
      for (let b = 0; b < B; b++) {
        for (let head = 0; head < A + kvHeads; head++) {
          const at = (s * B + b) * P + head * D + j;
          const low = from[at]!;
          const high = from[at + half]!;
          to[at] = low * cos - high * sin;
          to[at + half] = high * cos + low * sin;
        }
      }
    }
  }
}
