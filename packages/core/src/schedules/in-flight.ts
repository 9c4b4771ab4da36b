/** @file How many micro-batches a stage holds: the maximal counts per chunk just before each kind of invocation. */
import { assertShape, chunkOf, type InvocationDirection, isBackward, type ScheduleShape } from './invocation.ts';
import { scheduleCodes } from './lists.ts';

/** Just before an invocation of `direction` and `chunk`, the stage may hold `counts[c]` micro-batches of each chunk c.
 *
 * A micro-batch is held from its forward to the end of its backward: before `F` it is not yet counted, before `B` it is. */
export interface InFlight {
  readonly direction: InvocationDirection;
  readonly chunk: number;
  readonly counts: readonly number[];
}

/** The maximal holdings of a stage, kind by kind: chunk 0 forward, chunk 0 backward, chunk 1 forward, ...
 *
 * Vectors that another of the same kind exceeds everywhere are left out, so memory that grows with each count peaks at
 * one of these. With one chunk: before a backward min(m, p - i) for 1f1b, m for gpipe, 1 for naive; one less before a
 * forward. */
export function inFlight(shape: ScheduleShape, stage: number): readonly InFlight[] {
  assertShape(shape);
  const kinds: number[][][] = Array.from({ length: 2 * shape.chunks }, () => []);
  const held = new Array<number>(shape.chunks).fill(0);
  for (const code of scheduleCodes(truncated(shape), stage)) {
    const chunk = chunkOf(code);
    const backward = isBackward(code);
    keepMaximal(kinds[2 * chunk + (backward ? 1 : 0)] ?? [], held);
    held[chunk] = (held[chunk] ?? 0) + (backward ? -1 : 1);
  }
  return kinds.flatMap((vectors, kind) =>
    vectors.map((counts) => ({ direction: kind % 2 === 1 ? 'B' : 'F', chunk: kind >> 1, counts }) as const),
  );
}

/** Beyond a warm-up, a period and a drain the steady state repeats; gpipe alone grows with all of its micro-batches. */
function truncated(shape: ScheduleShape): ScheduleShape {
  if (shape.schedule === 'gpipe') return shape;
  return { ...shape, microBatches: Math.min(shape.microBatches, 4 * shape.stages) };
}

function keepMaximal(vectors: number[][], candidate: readonly number[]): void {
  if (vectors.some((known) => covers(known, candidate))) return;
  let kept = 0;
  for (const known of vectors) {
    if (!covers(candidate, known)) vectors[kept++] = known;
  }
  vectors.length = kept;
  vectors.push([...candidate]);
}

const covers = (larger: readonly number[], smaller: readonly number[]): boolean =>
  smaller.every((count, chunk) => count <= (larger[chunk] ?? 0));
