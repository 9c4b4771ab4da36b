/** @file Elements of a tensor as strided runs of its row-major order: a shard that is a rectangle is one run for each dim
 * that is cut, and a flat shard is a few.
 */

/** `count` rows of `length` neighbouring elements; the first begins at `start`, each next one `stride` later. */
export type Run = readonly [start: number, length: number, stride: number, count: number];

/** The runs of ascending indices. */
export function runsOf(indices: ArrayLike<number>): readonly Run[] {
  const runs: [number, number, number, number][] = [];
  for (let from = 0; from < indices.length; ) {
    const start = indices[from]!;
    let to = from + 1;
    while (to < indices.length && indices[to] === start + to - from) to++;
    const length = to - from;
    const last = runs.at(-1);
    if (last && continues(last, start, length)) {
      if (last[3] === 1) last[2] = start - last[0];
      last[3] += 1;
    } else {
      runs.push([start, length, length, 1]);
    }
    from = to;
  }
  return runs;
}

/** Whether a row may follow a run: as long as its rows, and at its stride once that is known. */
function continues([first, rowLength, stride, count]: Run, start: number, length: number): boolean {
  return length === rowLength && (count === 1 || start === first + stride * count);
}

/** Elements of all runs. */
export const elementsOfRuns = (runs: readonly Run[]): number =>
  runs.reduce((sum, [, length, , count]) => sum + length * count, 0);

/** Calls `row` for each row in order, with its place among the elements of all runs. */
export function eachRow(runs: readonly Run[], row: (start: number, length: number, from: number) => void): void {
  let from = 0;
  for (const [start, length, stride, count] of runs) {
    for (let each = 0; each < count; each++) {
      row(start + each * stride, length, from);
      from += length;
    }
  }
}
