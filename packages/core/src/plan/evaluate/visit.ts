/** @file Walks invocations one after the other: a chunk in one go, or piece by piece where the data axis has a part in it.
 *
 * The rules are those of the operation level: a block is a max-plus matrix on the clocks of its stage, and memory follows
 * the order of the list. Functions here pass numbers in the state, not as results: what returns a fraction may allocate.
 */
import { type BlockMatrix, ENTRY, EXIT, exitClock, rowOf } from '../../cost/index.ts';
import type { Piece } from './chunks.ts';
import { arrive, depart, holdUp, reduceBucket } from './exchanges.ts';
import { FIRST_FORWARD, LAST_BACKWARD, LAST_FORWARD, WEIGHT } from './order.ts';
import { NET, NET_FREED, RISE, RISE_FREED } from './piece-bytes.ts';
import {
  BORDER,
  BYTES,
  COMPUTE,
  COPY,
  ENDED,
  HOST,
  PEAK,
  TENSOR,
  TIED_COPY,
  type UnitWalk,
  type Walk,
  WIDTH,
} from './state.ts';
import { endRun, runEnds, slotOf } from './units.ts';

const HOST_ROW = rowOf(EXIT.host);
const COMPUTE_ROW = rowOf(EXIT.compute);
const TENSOR_ROW = rowOf(EXIT.tensor);
const OUTPUT_ROW = rowOf(EXIT.output);
const END_ROW = rowOf(EXIT.end);
const OWN_ROW = rowOf(EXIT.own);
const TIED_ROW = rowOf(EXIT.tied);
const OWN = ENTRY.own;
const TIED = ENTRY.tied;

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
  if (step.reductionsBlock) holdUp(state, base);
  const matrix = step.whole[place] as Float64Array;
  const host = state[base + HOST] as number;
  const compute = state[base + COMPUTE] as number;
  const tensor = state[base + TENSOR] as number;
  const input = state[base + BORDER] as number;
  state[base + HOST] = step.hostWaits
    ? exitClock(matrix, HOST_ROW, host, compute, tensor, input)
    : host + (matrix[0] as number);
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
  const { step, order } = walk;
  const { visits } = order;
  const stage = visits.stage[index] as number;
  const place = visits.place[index] as number;
  const base = stage * WIDTH;
  const pieces = step.pieces[place] as readonly Piece[];
  const bits = visits.bits[index] as number;
  // Weight parts read no weights.
  const units = (bits & WEIGHT) === 0 ? walk.units : undefined;
  const reduces = (bits & step.reducingVisits) !== 0;
  const firstBucket = step.firstBucket[place] as number;
  const tiedBucket = step.stageBucket[stage] as number;
  arrive(walk, index, base);
  for (let at = 0; at < pieces.length; at++) {
    const piece = pieces[at] as Piece;
    if (reduces && at > 0) reduceCompleted(walk, stage, firstBucket, tiedBucket, pieces[at - 1] as Piece, bits);
    if (step.reductionsBlock) holdUp(walk.state, base);
    const second = piece.experts >= 0 ? firstBucket + piece.experts : tiedBucket;
    const own = piece.own < 0 ? -1 : firstBucket + piece.own;
    if (units === undefined) takeCopies(walk.state, base, walk.weightReady, own, second);
    else takeUnit(walk, units, stage, bits);
    if (reduces) noteGradients(walk, base, firstBucket, second, piece);
    runPiece(walk.state, base, piece, step.hostWaits);
    if (units === undefined) addBytes(walk.state, base, piece.bytes, NET, RISE);
    else if (step.layout.reshard) leaveUnit(walk, units, stage, piece, at, pieces.length);
    else leaveKeptUnit(walk, units, stage, piece, bits);
  }
  depart(walk, index, base);
  if (reduces) reduceCompleted(walk, stage, firstBucket, tiedBucket, pieces[pieces.length - 1] as Piece, bits);
  if (units !== undefined) units.cursor[stage] = (units.cursor[stage] as number) + 1;
}

/** The clocks of one piece, which waits for the gathered copies that it reads. */
function runPiece(state: Float64Array, base: number, { matrix, hasSecond }: Piece, hostWaits: boolean): void {
  const host = state[base + HOST] as number;
  const compute = state[base + COMPUTE] as number;
  const tensor = state[base + TENSOR] as number;
  const input = state[base + BORDER] as number;
  const copy = state[base + COPY] as number;
  state[base + HOST] = hostWaits
    ? pieceClock(matrix, HOST_ROW, host, compute, tensor, input, copy)
    : host + (matrix[0] as number);
  state[base + COMPUTE] = pieceClock(matrix, COMPUTE_ROW, host, compute, tensor, input, copy);
  state[base + TENSOR] = pieceClock(matrix, TENSOR_ROW, host, compute, tensor, input, copy);
  state[base + BORDER] = pieceClock(matrix, OUTPUT_ROW, host, compute, tensor, input, copy);
  state[base + ENDED] = pieceClock(matrix, END_ROW, host, compute, tensor, input, copy);
  if (!hasSecond) return;
  const tied = state[base + TIED_COPY] as number;
  if (hostWaits) raise(state, base + HOST, (matrix[HOST_ROW + TIED] as number) + tied);
  raise(state, base + COMPUTE, (matrix[COMPUTE_ROW + TIED] as number) + tied);
  raise(state, base + TENSOR, (matrix[TENSOR_ROW + TIED] as number) + tied);
  raise(state, base + BORDER, (matrix[OUTPUT_ROW + TIED] as number) + tied);
  raise(state, base + ENDED, (matrix[END_ROW + TIED] as number) + tied);
}

const pieceClock = (
  matrix: BlockMatrix,
  row: number,
  host: number,
  compute: number,
  tensor: number,
  input: number,
  copy: number,
): number => Math.max(exitClock(matrix, row, host, compute, tensor, input), (matrix[row + OWN] as number) + copy);

/** When the gradients of the coming piece will be written, by its clocks before it runs. */
function noteGradients(walk: Walk, base: number, firstBucket: number, second: number, piece: Piece): void {
  const { state, gradientReady } = walk;
  const { matrix, own, hasSecond } = piece;
  const host = state[base + HOST] as number;
  const compute = state[base + COMPUTE] as number;
  const tensor = state[base + TENSOR] as number;
  const input = state[base + BORDER] as number;
  const copy = state[base + COPY] as number;
  if (own >= 0) {
    raise(gradientReady, firstBucket + own, pieceClock(matrix, OWN_ROW, host, compute, tensor, input, copy));
  }
  if (!hasSecond) return;
  const tied = state[base + TIED_COPY] as number;
  if (own >= 0) raise(gradientReady, firstBucket + own, (matrix[OWN_ROW + TIED] as number) + tied);
  raise(gradientReady, second, pieceClock(matrix, TIED_ROW, host, compute, tensor, input, copy));
  raise(gradientReady, second, (matrix[TIED_ROW + TIED] as number) + tied);
}

function raise(clocks: Float64Array, index: number, value: number): void {
  if (value > (clocks[index] as number)) clocks[index] = value;
}

/** The coming piece reads copies that are there at these clocks: those of its own bucket, where it has one that is gathered,
 * and of a second one. Who reads none, has no way from them in its matrix. */
function takeCopies(state: Float64Array, base: number, copies: Float64Array, own: number, tied: number): void {
  state[base + COPY] = own < 0 ? Number.NEGATIVE_INFINITY : (copies[own] as number);
  state[base + TIED_COPY] = copies[tied] as number;
}

/** Kept weights were waited for at their first use. */
function takeUnit({ state, step }: Walk, units: UnitWalk, stage: number, bits: number): void {
  if (!step.layout.reshard && (bits & FIRST_FORWARD) === 0) {
    state[stage * WIDTH + COPY] = Number.NEGATIVE_INFINITY;
    state[stage * WIDTH + TIED_COPY] = Number.NEGATIVE_INFINITY;
    return;
  }
  const slot = slotOf(units, stage, units.run[stage] as number);
  takeCopies(state, stage * WIDTH, units.ready, slot, slot + 1);
}

/** After a use of a unit: its last reader frees it, and the end of its run lets one more be gathered. */
function leaveUnit(walk: Walk, units: UnitWalk, stage: number, piece: Piece, at: number, count: number): void {
  const ends = runEnds(walk, units, stage, at, count);
  const frees = ends && piece.readsWeights;
  addBytes(walk.state, stage * WIDTH, piece.bytes, frees ? NET_FREED : NET, frees ? RISE_FREED : RISE);
  if (ends) endRun(walk, units, stage);
}

/** After a use of a unit that is kept: its first use lets one more be gathered, its last reader of the step frees it. */
function leaveKeptUnit(walk: Walk, units: UnitWalk, stage: number, piece: Piece, bits: number): void {
  const isLast = (bits & LAST_BACKWARD) !== 0 || ((bits & LAST_FORWARD) !== 0 && !piece.readsAgain);
  const frees = isLast && piece.readsWeights;
  addBytes(walk.state, stage * WIDTH, piece.bytes, frees ? NET_FREED : NET, frees ? RISE_FREED : RISE);
  if ((bits & FIRST_FORWARD) !== 0) endRun(walk, units, stage);
}

function reduceCompleted(
  walk: Walk,
  stage: number,
  firstBucket: number,
  tiedBucket: number,
  piece: Piece,
  bits: number,
): void {
  const isLast = (bits & LAST_BACKWARD) !== 0;
  if (piece.completesTied) reduceBucket(walk, stage, tiedBucket, isLast && !piece.isEarlierEnd);
  if (piece.completesOwn) reduceBucket(walk, stage, firstBucket + piece.own, isLast);
  if (piece.completesExperts) reduceBucket(walk, stage, firstBucket + piece.experts, isLast);
}
