/** @file Walks invocations one after the other: a chunk in one go, or piece by piece where the data axis has a part in it.
 *
 * The rules are those of the operation level: a block is a max-plus matrix on the clocks of its stage, and memory follows
 * the order of the list.
 */
import { EXIT, exitAfterGathers, exitClock, rowOf } from '../../cost/index.ts';
import type { Piece } from './chunks.ts';
import { arrive, depart, reduceBucket } from './exchanges.ts';
import { NET, NET_FREED, RISE, RISE_FREED } from './piece-bytes.ts';
import { BORDER, BYTES, COMPUTE, ENDED, HOST, PEAK, TENSOR, type Walk, WIDTH } from './state.ts';
import { endRun, runEnds, slotOf } from './units.ts';

const COMPUTE_ROW = rowOf(EXIT.compute);
const TENSOR_ROW = rowOf(EXIT.tensor);
const OUTPUT_ROW = rowOf(EXIT.output);
const END_ROW = rowOf(EXIT.end);
const OWN_ROW = rowOf(EXIT.own);
const TIED_ROW = rowOf(EXIT.tied);

/** Walks the visits [from, to) of the order. */
export function visitAll(walk: Walk, from: number, to: number): void {
  const { bits } = walk.order.visits;
  const { pieceVisits } = walk.step;
  for (let index = from; index < to; index++) {
    if (((bits[index] as number) & pieceVisits) === 0) visitWhole(walk, index);
    else visitPieces(walk, index);
  }
  walk.walked += to - from;
}

function visitWhole(walk: Walk, index: number): void {
  const { step, state, order } = walk;
  const base = (order.visits.stage[index] as number) * WIDTH;
  const place = order.visits.place[index] as number;
  arrive(walk, index, base);
  const matrix = step.whole[place] as Float64Array;
  const host = state[base + HOST] as number;
  const compute = state[base + COMPUTE] as number;
  const tensor = state[base + TENSOR] as number;
  const input = state[base + BORDER] as number;
  state[base + HOST] = host + (matrix[0] as number);
  state[base + COMPUTE] = exitClock(matrix, COMPUTE_ROW, host, compute, tensor, input);
  state[base + TENSOR] = exitClock(matrix, TENSOR_ROW, host, compute, tensor, input);
  state[base + BORDER] = exitClock(matrix, OUTPUT_ROW, host, compute, tensor, input);
  state[base + ENDED] = exitClock(matrix, END_ROW, host, compute, tensor, input);
  addBytes(state, base, step.wholeBytes, 2 * place, 2 * place + 1);
  depart(walk, index, base);
}

function addBytes(state: Float64Array, base: number, bytes: Float64Array, net: number, rise: number): void {
  const before = state[base + BYTES] as number;
  const peak = before + (bytes[rise] as number);
  if (peak > (state[base + PEAK] as number)) state[base + PEAK] = peak;
  state[base + BYTES] = before + (bytes[net] as number);
}

/** Piece by piece; reductions that a piece makes possible are issued before the next one, the last ones after the send. */
function visitPieces(walk: Walk, index: number): void {
  const { step, units, order } = walk;
  const { visits } = order;
  const stage = visits.stage[index] as number;
  const place = visits.place[index] as number;
  const base = stage * WIDTH;
  const pieces = step.pieces[place] as readonly Piece[];
  const reduces = ((visits.bits[index] as number) & step.reducingVisits) !== 0;
  arrive(walk, index, base);
  for (let at = 0; at < pieces.length; at++) {
    const piece = pieces[at] as Piece;
    if (reduces && at > 0) reduceCompleted(walk, stage, place, pieces[at - 1] as Piece);
    if (units === undefined) {
      runPiece(walk, stage, place, piece);
      addBytes(walk.state, base, piece.bytes, NET, RISE);
      continue;
    }
    const ends = runEnds(walk, units, stage, at, pieces.length);
    const frees = ends && piece.readsWeights;
    runPiece(walk, stage, place, piece);
    addBytes(walk.state, base, piece.bytes, frees ? NET_FREED : NET, frees ? RISE_FREED : RISE);
    if (ends) endRun(walk, units, stage);
  }
  depart(walk, index, base);
  if (reduces) reduceCompleted(walk, stage, place, pieces[pieces.length - 1] as Piece);
  if (units !== undefined) units.cursor[stage] = (units.cursor[stage] as number) + 1;
}

/** The clocks of one piece, which waits for the gathered copies that it reads and completes gradients. */
function runPiece(walk: Walk, stage: number, place: number, piece: Piece): void {
  const { step, state, units } = walk;
  const base = stage * WIDTH;
  const { matrix } = piece;
  const ownBucket = piece.own < 0 ? -1 : (step.firstBucket[place] as number) + piece.own;
  const tiedBucket = piece.touchesTied ? (step.stageBucket[stage] as number) : -1;
  const copies = units === undefined ? walk.weightReady : units.ready;
  const slot = units === undefined ? -1 : slotOf(units, stage, units.run[stage] as number);
  const own = ownBucket < 0 ? Number.NEGATIVE_INFINITY : (copies[slot < 0 ? ownBucket : slot] as number);
  const tied = tiedBucket < 0 ? Number.NEGATIVE_INFINITY : (copies[slot < 0 ? tiedBucket : slot + 1] as number);
  const host = state[base + HOST] as number;
  const compute = state[base + COMPUTE] as number;
  const tensor = state[base + TENSOR] as number;
  const input = state[base + BORDER] as number;
  const exit = (row: number): number =>
    Math.max(exitClock(matrix, row, host, compute, tensor, input), exitAfterGathers(matrix, row, own, tied));
  state[base + HOST] = host + (matrix[0] as number);
  state[base + COMPUTE] = exit(COMPUTE_ROW);
  state[base + TENSOR] = exit(TENSOR_ROW);
  state[base + BORDER] = exit(OUTPUT_ROW);
  state[base + ENDED] = exit(END_ROW);
  if ((place & 1) === 0) return;
  if (ownBucket >= 0) raise(walk.gradientReady, ownBucket, exit(OWN_ROW));
  if (tiedBucket >= 0) raise(walk.gradientReady, tiedBucket, exit(TIED_ROW));
}

function raise(clocks: Float64Array, index: number, value: number): void {
  if (value > (clocks[index] as number)) clocks[index] = value;
}

function reduceCompleted(walk: Walk, stage: number, place: number, piece: Piece): void {
  const base = stage * WIDTH;
  if (piece.completesTied) reduceBucket(walk, base, walk.step.stageBucket[stage] as number);
  if (piece.completesOwn) reduceBucket(walk, base, (walk.step.firstBucket[place] as number) + piece.own);
}
