/** @file How many micro-batches a stage holds: the maximal counts per chunk just before each kind of invocation. */
import { chunkOf, endsBackward, type InvocationKind, kindNumber, kindOf, type ScheduleShape } from './invocation.ts';
import { scheduleCodes } from './lists.ts';
import { isSplit } from './placement.ts';

/** Just before an invocation of `kind` and `chunk`, the stage may hold `counts[c]` micro-batches of each chunk c.
 *
 * A micro-batch is held from its forward to the end of its backward, weight part included: before `F` it is not yet
 * counted, before the others it is. */
export interface InFlight {
  readonly kind: InvocationKind;
  readonly chunk: number;
  readonly counts: readonly number[];
}

/** The maximal holdings of a stage, kind by kind: chunk 0 forward, chunk 0 backward, chunk 1 forward, ...
 *
 * Vectors that another of the same kind exceeds everywhere are left out, so memory that grows with each count peaks at
 * one of these. With one chunk: before a backward min(m, p - i) for 1f1b, m for gpipe, 1 for naive; one less before a
 * forward. */
export function inFlight(shape: ScheduleShape, stage: number): readonly InFlight[] {
  const found: { readonly code: number; readonly vectors: number[][] }[] = [];
  const held = new Array<number>(shape.chunks).fill(0);
  for (const code of scheduleCodes(truncated(shape), stage)) {
    const chunk = chunkOf(code);
    const place = chunk * 4 + kindNumber(code);
    found[place] ??= { code, vectors: [] };
    keepMaximal(found[place].vectors, held);
    if (kindOf(code) === 'F') held[chunk] = (held[chunk] ?? 0) + 1;
    else if (endsBackward(code)) held[chunk] = (held[chunk] ?? 0) - 1;
  }
  return found
    .filter((each) => each !== undefined)
    .flatMap(({ code, vectors }) => vectors.map((counts) => ({ kind: kindOf(code), chunk: chunkOf(code), counts })));
}

/** Beyond a warm-up, a period and a drain the steady state repeats; gpipe grows with all of its micro-batches, and split
 * schedules place weight parts by the end of the step. */
function truncated(shape: ScheduleShape): ScheduleShape {
  if (shape.schedule === 'gpipe' || isSplit(shape.schedule)) return shape;
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
