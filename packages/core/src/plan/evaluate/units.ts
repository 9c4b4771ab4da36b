/** @file Units of sharding 3 during the walk: a run is a row of uses of one unit, and each end of a run lets one more be
 * gathered. Same rules as compile/lower/runs.ts, without writing the runs of a step out.
 */
import type { Piece } from './chunks.ts';
import { gather } from './exchanges.ts';
import { sharesUnit } from './loops.ts';
import { placeOf } from './order.ts';
import { BYTES, ENDED, see, type UnitWalk, type Walk, WIDTH } from './state.ts';

/** Slot of a run in {@link UnitWalk.ready}: its own bucket, and one more for the tied one. */
export const slotOf = ({ ring }: UnitWalk, stage: number, run: number): number =>
  2 * (stage * ring + (run & (ring - 1)));

/** What stands before the first invocation. */
export function gatherFirst(walk: Walk, units: UnitWalk, stage: number): void {
  for (let run = 0; run <= walk.step.layout.prefetch; run++) gatherNext(walk, units, stage, Number.NEGATIVE_INFINITY);
}

/** Whether the run in use ends with piece `at` of `count` of the invocation that is being walked. */
export function runEnds(walk: Walk, units: UnitWalk, stage: number, at: number, count: number): boolean {
  if (at < count - 1) return true;
  const list = walk.order.codes[stage] as Int32Array;
  const position = units.cursor[stage] as number;
  if (position + 1 >= list.length) return true;
  return !sharesUnit(list[position] as number, list[position + 1] as number, count);
}

/** The run in use has ended: the next one is in use, and one more is gathered. */
export function endRun(walk: Walk, units: UnitWalk, stage: number): void {
  units.run[stage] = (units.run[stage] as number) + 1;
  gatherNext(walk, units, stage, walk.state[stage * WIDTH + ENDED] as number);
}

/** Gathers the run that comes next, if there is one. What nobody reads is freed at once. */
function gatherNext(walk: Walk, units: UnitWalk, stage: number, needs: number): void {
  const { step } = walk;
  const list = walk.order.codes[stage] as Int32Array;
  const position = units.nextPosition[stage] as number;
  if (position >= list.length) return;
  const place = placeOf(step.layout.chunks, stage, list[position] as number);
  const piece = step.pieces[place]?.[units.nextPiece[stage] as number] as Piece;
  const isRead = passRun(walk, units, stage, list);
  const run = units.nextRun[stage] as number;
  units.nextRun[stage] = run + 1;
  const slot = slotOf(units, stage, run);
  if (piece.touchesTied) gatherBucket(walk, units, stage, slot + 1, step.stageBucket[stage] as number, needs, isRead);
  if (piece.own < 0) return;
  const own = (step.firstBucket[place] as number) + piece.own;
  gatherBucket(walk, units, stage, slot, own, needs, isRead);
}

/** Moves the next run past its uses; tells whether one of them reads the weights. */
function passRun({ step }: Walk, units: UnitWalk, stage: number, list: Int32Array): boolean {
  let position = units.nextPosition[stage] as number;
  let index = units.nextPiece[stage] as number;
  let isRead = false;
  for (;;) {
    const code = list[position] as number;
    const pieces = step.pieces[placeOf(step.layout.chunks, stage, code)] as readonly Piece[];
    isRead ||= (pieces[index] as Piece).readsWeights;
    if (index + 1 < pieces.length) {
      units.nextPiece[stage] = index + 1;
      break;
    }
    position += 1;
    index = 0;
    if (position >= list.length || !sharesUnit(code, list[position] as number, pieces.length)) {
      units.nextPiece[stage] = 0;
      break;
    }
  }
  units.nextPosition[stage] = position;
  return isRead;
}

function gatherBucket(
  walk: Walk,
  units: UnitWalk,
  stage: number,
  slot: number,
  index: number,
  needs: number,
  isRead: boolean,
): void {
  const { state, step } = walk;
  const bucket = step.buckets[index];
  if (bucket === undefined) return;
  const base = stage * WIDTH;
  units.ready[slot] = gather(walk, base, bucket.gatherSeconds, needs);
  const before = state[base + BYTES] as number;
  state[base + BYTES] = before + bucket.weightBytes;
  see(state, base);
  if (!isRead) state[base + BYTES] = before;
}
