/** @file What a piece does to the live bytes of its stage, buckets included, as four numbers.
 *
 * `NET` is what it adds, `RISE` how far the live bytes rise above its entry; `NET_FREED` and `RISE_FREED` are the same
 * when the weights that were gathered for it are freed at its last read of them.
 */
import type { MemoryProfile } from '../../cost/index.ts';
import type { BucketSpec } from './buckets.ts';

export const NET = 0;
export const RISE = 1;
export const NET_FREED = 2;
export const RISE_FREED = 3;

/** Gradient buckets that the piece is the first to write in its micro-batch, and that are not resident. */
export interface MadeBuckets {
  readonly own: boolean;
  readonly tied: boolean;
}

/** The numbers of `count` equal calls in a row. */
export function pieceBytes(
  memory: MemoryProfile,
  count: number,
  own: BucketSpec | undefined,
  tied: BucketSpec | undefined,
  made: MadeBuckets,
): Float64Array {
  const bytes = new Float64Array(4);
  for (const frees of [false, true]) {
    const first = firstCall(memory, own, tied, made, frees);
    const last = first.net + (count - 1) * memory.net;
    const rise = count > 1 ? Math.max(first.rise, Math.max(first.net, last - memory.net) + memory.rise) : first.rise;
    bytes[frees ? NET_FREED : NET] = last;
    bytes[frees ? RISE_FREED : RISE] = rise;
  }
  return bytes;
}

/** Gradient buckets are made in the first of equal calls; weights are freed in units, which are one call. */
function firstCall(
  memory: MemoryProfile,
  own: BucketSpec | undefined,
  tied: BucketSpec | undefined,
  made: MadeBuckets,
  frees: boolean,
): { readonly net: number; readonly rise: number } {
  let extra = 0;
  let rise = Number.NEGATIVE_INFINITY;
  memory.peaks.forEach((peak, part) => {
    rise = Math.max(rise, extra + peak);
    switch (memory.events[part]) {
      case 'free-own':
        if (frees) extra -= own?.weightBytes ?? 0;
        break;
      case 'free-tied':
        if (frees) extra -= tied?.weightBytes ?? 0;
        break;
      case 'allocate-own':
        if (made.own) extra += own?.gradientBytes ?? 0;
        break;
      case 'allocate-tied':
        if (made.tied) extra += tied?.gradientBytes ?? 0;
        break;
      default:
    }
  });
  return { net: memory.net + extra, rise };
}
