/** @file Random numbers without state: every draw is a hash of what it is for, so it is the same on any rank and layout. */

/** A 32-bit hash of `value` under `seed` (the finaliser of MurmurHash3 over a Weyl step). */
export function mix(seed: number, value: number): number {
  let hash = (seed ^ Math.imul(value + 1, 0x9e3779b1)) | 0;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

/** A 32-bit hash of a text (FNV-1a, then mixed). */
export function hashText(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  return mix(hash, text.length);
}

/** Uniform in [0, 1) from `seed` and a place; places may exceed 32 bits. */
export const uniform = (seed: number, place: number): number =>
  mix(mix(seed, Math.floor(place / 2 ** 32)), (place % 2 ** 32) | 0) / 2 ** 32;

/** Standard normal from `seed` and a place (Box-Muller). */
export function normal(seed: number, place: number): number {
  const radius = Math.sqrt(-2 * Math.log(1 - uniform(seed, 2 * place)));
  return radius * Math.cos(2 * Math.PI * uniform(seed, 2 * place + 1));
}
