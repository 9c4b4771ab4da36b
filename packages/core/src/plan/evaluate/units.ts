/** @file Units of sharding 3 during the walk: a run is a row of uses of one unit, and each end of a run lets one more be
 * gathered. Same rules as compile/lower/runs.ts, without writing the runs of a step out.
 */
import type { Piece } from './chunks.ts';
import { gather } from './exchanges.ts';
import type { StepSpec } from './spec.ts';
import { BYTES, see, type UnitWalk, type Walk, WIDTH } from './state.ts';

/** Slot of a run in {@link UnitWalk.ready}: its own bucket, and one more for the tied one or that of its experts. */
export const slotOf = ({ ring }: UnitWalk, stage: number, run: number): number =>
  2 * (stage * ring + (run & (ring - 1)));

/** What stands before the first invocation. */
export function gatherFirst(walk: Walk, units: UnitWalk, stage: number): void {
  for (let run = 0; run <= walk.step.layout.prefetch; run++) gatherNext(walk, units, stage);
}

/** Whether the unit that an invocation uses last is the first of the next one in its list: the same chunk turned round, or a
 * chunk of one unit again. An input part does not use the embedding, so it may turn where the next one begins elsewhere. */
function sharesUnit({ pieces, chunkShift }: StepSpec, place: number, next: number): boolean {
  if (place >> chunkShift !== next >> chunkShift) return false;
  const mine = pieces[place] as readonly Piece[];
  const last = mine[mine.length - 1] as Piece;
  const first = (pieces[next] as readonly Piece[])[0] as Piece;
  return last.own === first.own && last.touchesTied === first.touchesTied;
}

/** Whether the run in use ends with piece `at` of `count` of the invocation that is being walked. */
export function runEnds(walk: Walk, units: UnitWalk, stage: number, at: number, count: number): boolean {
  if (at < count - 1) return true;
  const list = walk.order.lists[stage] as Uint16Array;
  const position = units.cursor[stage] as number;
  if (position + 1 >= list.length) return true;
  return !sharesUnit(walk.step, list[position] as number, list[position + 1] as number);
}

/** The run in use has ended: the next one is in use, and one more is gathered. */
export function endRun(walk: Walk, units: UnitWalk, stage: number): void {
  units.run[stage] = (units.run[stage] as number) + 1;
  gatherNext(walk, units, stage);
}

/** Gathers the run that comes next, if there is one, once the invocation before has ended. */
function gatherNext(walk: Walk, units: UnitWalk, stage: number): void {
  const { step } = walk;
  const list = walk.order.lists[stage] as Uint16Array;
  const position = units.nextPosition[stage] as number;
  if (position >= list.length) return;
  const place = list[position] as number;
  const pieces = step.pieces[place] as readonly Piece[];
  const index = units.nextPiece[stage] as number;
  const { own, experts, touchesTied, readsWeights } = pieces[index] as Piece;
  let isRead = readsWeights;
  if (index + 1 < pieces.length) units.nextPiece[stage] = index + 1;
  else if (step.layout.reshard) isRead = passBorder(walk, units, stage, list) || readsWeights;
  else passToNextChunk(step, units, stage, list);
  const run = units.nextRun[stage] as number;
  units.nextRun[stage] = run + 1;
  const slot = slotOf(units, stage, run);
  units.ready[slot] = Number.NEGATIVE_INFINITY;
  units.ready[slot + 1] = Number.NEGATIVE_INFINITY;
  if (touchesTied) gatherBucket(walk, units, stage, slot + 1, step.stageBucket[stage] as number, isRead);
  const first = step.firstBucket[place] as number;
  if (own >= 0) gatherBucket(walk, units, stage, slot, first + own, isRead);
  if (experts >= 0) gatherBucket(walk, units, stage, slot + 1, first + experts, isRead);
}

/** Kept units are gathered once: on to the first use of the next chunk. Chunks begin in the order of their numbers, or the
 * other way round on a stage that begins with its second one.
 */
function passToNextChunk({ chunkShift, mirrored }: StepSpec, units: UnitWalk, stage: number, list: Uint16Array): void {
  const way = mirrored && (((list[0] as number) >> chunkShift) & 1) === 1 ? -1 : 1;
  let position = units.nextPosition[stage] as number;
  const chunk = way * ((list[position] as number) >> chunkShift);
  while (position < list.length && way * ((list[position] as number) >> chunkShift) <= chunk) position += 1;
  units.nextPosition[stage] = position;
  units.nextPiece[stage] = 0;
}

/** Moves the next run from the last unit of an invocation past all uses of it in those that follow; tells whether one of
 * these reads the weights.
 */
function passBorder({ step }: Walk, units: UnitWalk, stage: number, list: Uint16Array): boolean {
  let position = units.nextPosition[stage] as number;
  let place = list[position] as number;
  let isRead = false;
  let index = 0;
  for (;;) {
    position += 1;
    if (position >= list.length || !sharesUnit(step, place, list[position] as number)) break;
    place = list[position] as number;
    const pieces = step.pieces[place] as readonly Piece[];
    isRead ||= (pieces[0] as Piece).readsWeights;
    if (pieces.length > 1) {
      index = 1;
      break;
    }
  }
  units.nextPosition[stage] = position;
  units.nextPiece[stage] = index;
  return isRead;
}

/** What nobody reads is freed at once. */
function gatherBucket(walk: Walk, units: UnitWalk, stage: number, slot: number, index: number, isRead: boolean): void {
  const { state, step } = walk;
  const bucket = step.buckets[index];
  if (bucket?.gathers !== true) return;
  const base = stage * WIDTH;
  gather(walk, base, bucket.gatherSeconds, units.ready, slot);
  const before = state[base + BYTES] as number;
  state[base + BYTES] = before + bucket.weightBytes;
  see(state, base);
  if (!isRead) state[base + BYTES] = before;
}
