/** @file Where buffers lie in one memory: first fit over the gaps that earlier buffers have left. */

/** Vectors are read in sixteen bytes; a line of the cache has sixty-four. */
const ALIGNMENT = 64;

interface Gap {
  start: number;
  end: number;
}

export interface Arena {
  /** The first byte of `bytes` free bytes; undefined when there is no room. */
  readonly allocate: (bytes: number) => number | undefined;
  readonly release: (start: number) => void;
  /** The most bytes from the arena's begin to the last byte in use. */
  readonly highWaterBytes: () => number;
}

/** An arena over the bytes from `start` to `end`. */
export function createArena(start: number, end: number): Arena {
  const gaps: Gap[] = [{ start, end }];
  const sizes = new Map<number, number>();
  let highest = start;
  return {
    allocate: (bytes) => {
      const size = Math.max(ALIGNMENT, Math.ceil(bytes / ALIGNMENT) * ALIGNMENT);
      const index = gaps.findIndex((gap) => gap.end - gap.start >= size);
      const gap = gaps[index];
      if (gap === undefined) return undefined;
      const place = gap.start;
      gap.start += size;
      if (gap.start === gap.end) gaps.splice(index, 1);
      sizes.set(place, size);
      highest = Math.max(highest, place + bytes);
      return place;
    },
    release: (place) => {
      const size = sizes.get(place) ?? 0;
      sizes.delete(place);
      giveBack(gaps, place, place + size);
    },
    highWaterBytes: () => highest - start,
  };
}

/** Puts a gap back in order of place, joined with its neighbours. */
function giveBack(gaps: Gap[], start: number, end: number): void {
  let index = 0;
  while (index < gaps.length && gaps[index]!.start < start) index++;
  const [before, after] = [gaps[index - 1], gaps[index]];
  if (before && before.end === start) {
    before.end = end;
    if (after && after.start === end) {
      before.end = after.end;
      gaps.splice(index, 1);
    }
  } else if (after && after.start === end) {
    after.start = start;
  } else {
    gaps.splice(index, 0, { start, end });
  }
}
