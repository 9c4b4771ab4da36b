/** @file Rotary positions: cosines and sines of a rank's places, made once for each cut of the sequence and kept. */
import { headLayout } from '../heads.ts';
import { headsOf, turnedOf } from '../index.ts';
import {
  dimAt,
  globalPlacesOf,
  type KernelCall,
  type LocalDim,
  numberOf,
  readOf as r,
  writeOf as w,
} from '../tensor.ts';
import { floatsAt, type Places, type Rows } from './places.ts';

/** For each place half cosines, then half sines. */
function anglesOf(dim: LocalDim, theta: number, turned: number): Float32Array {
  const places = globalPlacesOf(dim);
  const half = turned / 2;
  const angles = new Float32Array(places.length * turned);
  for (const [s, place] of places.entries()) {
    for (let j = 0; j < half; j++) {
      const angle = place * theta ** ((-2 * j) / turned);
      angles[s * turned + j] = Math.cos(angle);
      angles[s * turned + half + j] = Math.sin(angle);
    }
  }
  return angles;
}

/** What tells one table of angles from another: places ascend, and a zigzag cut is told by its ranks and first place. */
const keyOf = ({ size, globalSize, origin, zigzag, places }: LocalDim, theta: number, turned: number): string =>
  [size, globalSize, origin, zigzag?.ranks, zigzag?.rank, places?.[0], theta, turned].join(' ');

export function ropeRows(places: Places): Rows {
  const known = new Map<string, Float32Array>();
  const rotate = (c: KernelCall, sign: 1 | -1): void => {
    const [from, to] = [r(c, 0), w(c, 0)];
    const { S, B, A, kvHeads, D, P } = headLayout(from, headsOf(c));
    const [dim, theta, turned] = [dimAt(from, 0), numberOf(c, 'theta'), turnedOf(c)];
    const key = keyOf(dim, theta, turned);
    const angles = known.get(key) ?? anglesOf(dim, theta, turned);
    known.set(key, angles);
    const at = places.borrow(4 * angles.length);
    floatsAt(places, at, angles.length).set(angles);
    if (from.data !== to.data) to.data.set(from.data);
    places.kernels.rotate(S, B, A + kvHeads, D, P, turned / 2, at, sign, places.pointer(to.data));
  };
  return {
    rope: (c) => rotate(c, 1),
    'rope.dx': (c) => rotate(c, -1),
  };
}
