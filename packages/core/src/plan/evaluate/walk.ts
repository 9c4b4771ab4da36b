/** @file Evaluates a step at block level: walks the invocations of all stages once, skipping ahead in the steady state.
 *
 * The rules are those of the operation-level simulation. An invocation is a max-plus matrix on the clocks of its stage;
 * a transfer starts when both sides have come to it and its lanes are free. Memory follows the order of the list.
 */
import { EXIT } from '../../cost/index.ts';
import { chunkOf, isBackward, microBatchOf } from '../../schedules/index.ts';
import { isEach, noteShift, openPeriod, reduceBucket, runPiece, type Scratch, unitRunsOf, unitUsed } from './data.ts';
import type { WalkOrder } from './order.ts';
import type { ChunkSpec, Piece, StepSpec } from './spec.ts';
import { CLOCK, CLOCKS, RUN_RING, type StageState, see, stageState } from './state.ts';
import { finishPeriod } from './tail.ts';

export interface Evaluation {
  readonly seconds: number;
  /** Highest live bytes of each stage. */
  readonly peakBytes: Float64Array;
  /** Invocations that were walked, of all. */
  readonly walked: number;
}

/** Clocks that drift apart by less than this share of the time so far count as equal. */
const STEADY = 4e-14;

interface Walk {
  readonly step: StepSpec;
  readonly order: WalkOrder;
  readonly states: readonly StageState[];
  /** When each activation and gradient was handed to its lane; ring over micro-batches. */
  readonly sent: Float64Array;
  readonly ring: number;
  readonly chunks: number;
  /** Real micro-batches are this much ahead of the written ones. */
  offset: number;
  walked: number;
  readonly scratch: Scratch;
}

export function evaluateStep(step: StepSpec, order: WalkOrder): Evaluation {
  const { pipeline, chunks } = step.layout;
  const states = step.stages.map((spec, stage) =>
    stageState(spec, step.mode === 'units' ? unitRunsOf(spec, order.codes[stage] as Int32Array) : undefined),
  );
  const ring = 2 ** Math.ceil(Math.log2(order.written + order.stride));
  const walk: Walk = {
    step,
    order,
    states,
    sent: new Float64Array(2 * pipeline * chunks * ring),
    ring,
    chunks,
    offset: 0,
    walked: 0,
    scratch: {
      entry: new Float64Array(6),
      exit: new Float64Array(7),
      shift: { low: Number.POSITIVE_INFINITY, high: Number.NEGATIVE_INFINITY },
    },
  };
  states.forEach((state, stage) => {
    openPeriod(state, step);
    postReceive(walk, stage, state, 0, Number.NEGATIVE_INFINITY);
  });
  let at = 0;
  for (const loop of order.loops) {
    visitAll(walk, at, loop.to);
    repeat(walk, loop.from, loop.to);
    at = loop.to;
  }
  visitAll(walk, at, order.visits.length);
  const seconds = finishPeriod(step, states);
  return { seconds, peakBytes: Float64Array.from(states, (state) => state.peak), walked: walk.walked };
}

function visitAll(walk: Walk, from: number, to: number): void {
  const { visits } = walk.order;
  for (let index = from; index < to; index++) visit(walk, visits[index] as number);
  walk.walked += to - from;
}

function visit(walk: Walk, stage: number): void {
  const { step, order } = walk;
  const state = walk.states[stage] as StageState;
  const codes = order.codes[stage] as Int32Array;
  const code = codes[state.cursor] as number;
  const posted = state.clocks[CLOCK.posted] as number;
  postReceive(walk, stage, state, state.cursor + 1, state.clocks[CLOCK.ended] as number);
  const chunk = state.spec.chunks[chunkOf(code)] as ChunkSpec;
  const microBatch = microBatchOf(code);
  if (isBackward(code)) {
    const input = chunk.receivesBackward ? receive(walk, stage, code, posted) : Number.NEGATIVE_INFINITY;
    const reduces = step.mode !== 'alone' ? isEach(step) || microBatch === order.written - 1 : false;
    if (state.runs || reduces) runPieces(walk, stage, state, code, chunk.backwardPieces, input, reduces);
    else {
      send(walk, stage, state, code, runPiece(state, step, chunk.backward, input, walk.scratch), chunk.receivesForward);
      if (step.mode === 'alone' && microBatch === order.written - 1) reduceAlone(state, step, chunk, walk.scratch.exit);
    }
  } else {
    const input = chunk.receivesForward ? receive(walk, stage, code, posted) : Number.NEGATIVE_INFINITY;
    const gathers = step.mode !== 'alone' && step.layout.sharding > 0 && microBatch === 0;
    if (state.runs || gathers) runPieces(walk, stage, state, code, chunk.forwardPieces, input, false);
    else
      send(walk, stage, state, code, runPiece(state, step, chunk.forward, input, walk.scratch), chunk.receivesBackward);
  }
  state.cursor += 1;
}

/** Piece by piece; reductions that a piece makes possible are issued before the next one, the last ones after the send. */
function runPieces(
  walk: Walk,
  stage: number,
  state: StageState,
  code: number,
  pieces: readonly Piece[],
  input: number,
  reduces: boolean,
): void {
  const { step, scratch } = walk;
  let ready = input;
  let pending: readonly number[] = [];
  for (const piece of pieces) {
    for (const bucket of pending) reduceBucket(state, step, bucket);
    ready = runPiece(state, step, piece, ready, scratch);
    unitUsed(state, step);
    pending = reduces ? piece.ready : [];
  }
  const chunk = state.spec.chunks[chunkOf(code)] as ChunkSpec;
  send(walk, stage, state, code, ready, isBackward(code) ? chunk.receivesForward : chunk.receivesBackward);
  for (const bucket of pending) reduceBucket(state, step, bucket);
}

/** Without a data axis there is one bucket beside the tied one: complete with the first chunk's last backward. */
function reduceAlone(state: StageState, step: StepSpec, chunk: ChunkSpec, exit: Float64Array): void {
  if (chunk !== state.spec.chunks[0]) return;
  const { buckets } = state.spec;
  for (let index = 0; index < buckets.length; index++) {
    const bucket = buckets[index];
    state.gradientReady[index] = exit[bucket?.plan.tied ? EXIT.tied : EXIT.own] as number;
    if (!bucket?.inTail) reduceBucket(state, step, index);
  }
}

/** A receive is posted before the invocation that precedes its own; its buffer is there from then on. */
function postReceive(walk: Walk, stage: number, state: StageState, position: number, needs: number): void {
  const codes = walk.order.codes[stage] as Int32Array;
  if (position >= codes.length) return;
  const code = codes[position] as number;
  const chunk = state.spec.chunks[chunkOf(code)] as ChunkSpec;
  if (!(isBackward(code) ? chunk.receivesBackward : chunk.receivesForward)) return;
  const { clocks } = state;
  const host = (clocks[CLOCK.host] as number) + walk.step.launchExchange;
  clocks[CLOCK.host] = host;
  clocks[CLOCK.posted] = Math.max(host, needs);
  state.bytes += walk.step.borderBytes;
  see(state, state.bytes);
}

function slotOf(walk: Walk, stage: number, code: number): number {
  const direction = isBackward(code) ? 1 : 0;
  const row = (direction * walk.step.layout.pipeline + stage) * walk.chunks + chunkOf(code);
  return row * walk.ring + ((microBatchOf(code) + walk.offset) & (walk.ring - 1));
}

function receive(walk: Walk, stage: number, code: number, posted: number): number {
  const { pipeline } = walk.step.layout;
  const backward = isBackward(code);
  let from: number;
  if (backward) from = stage < pipeline - 1 ? slotOf(walk, stage + 1, code) : slotOf(walk, 0, code + 2);
  else from = stage > 0 ? slotOf(walk, stage - 1, code) : slotOf(walk, pipeline - 1, code - 2);
  const { clocks } = walk.states[stage] as StageState;
  const lane = backward ? CLOCK.gradientIn : CLOCK.activationIn;
  const end = Math.max(walk.sent[from] as number, posted, clocks[lane] as number) + walk.step.sendSeconds;
  clocks[lane] = end;
  return end;
}

function send(walk: Walk, stage: number, state: StageState, code: number, ready: number, sends: boolean): void {
  if (!sends) return;
  const { clocks } = state;
  const host = (clocks[CLOCK.host] as number) + walk.step.launchExchange;
  clocks[CLOCK.host] = host;
  const slot = slotOf(walk, stage, code);
  const at = Math.max(host, ready);
  const base = slot - (slot & (walk.ring - 1));
  const before = base + ((slot - walk.order.stride) & (walk.ring - 1));
  noteShift(walk.scratch, at - (walk.sent[before] as number));
  walk.sent[slot] = at;
  state.bytes -= walk.step.borderBytes;
}

/** Runs a round again until the real number of micro-batches is reached; once every clock advances by the same time in
 * a round, the rest is added in one go.
 */
function repeat(walk: Walk, from: number, to: number): void {
  const { order, states, step } = walk;
  const visitsOf = new Int32Array(states.length);
  for (let index = from; index < to; index++) {
    const stage = order.visits[index] as number;
    visitsOf[stage] = (visitsOf[stage] as number) + 1;
  }
  const usesOf = states.map((state, stage) => usesBefore(walk, state, stage, visitsOf[stage] as number));
  const clocks = new Float64Array(states.length * CLOCKS);
  const bytes = new Float64Array(states.length);
  const gathered = states.map((state) => pendingGathers(state, step));
  for (let left = order.extra; left > 0; left--) {
    walk.offset += order.stride;
    states.forEach((state, stage) => {
      clocks.set(state.clocks, stage * CLOCKS);
      bytes[stage] = state.bytes;
      state.roundPeak = 0;
      gathered[stage] = pendingGathers(state, step);
      state.cursor -= visitsOf[stage] as number;
      rewind(state, usesOf[stage] as number);
    });
    walk.scratch.shift.low = Number.POSITIVE_INFINITY;
    walk.scratch.shift.high = Number.NEGATIVE_INFINITY;
    visitAll(walk, from, to);
    const period = steadyPeriod(walk, clocks, gathered);
    if (period !== undefined) {
      skip(walk, period, left - 1, clocks, bytes);
      return;
    }
  }
}

/** When the copies that are gathered for this and the coming runs are there. */
function pendingGathers(state: StageState, step: StepSpec): Float64Array | undefined {
  const { runs } = state;
  if (runs === undefined) return undefined;
  const count = step.layout.prefetch + 1;
  const run = runs.runOfUse[runs.use] as number;
  const pending = new Float64Array(2 * count);
  for (let ahead = 0; ahead < count; ahead++) {
    const slot = 2 * ((run + ahead + runs.offset) & (RUN_RING - 1));
    pending[2 * ahead] = runs.ready[slot] as number;
    pending[2 * ahead + 1] = runs.ready[slot + 1] as number;
  }
  return pending;
}

/** Uses of units in the round that has just been walked. */
function usesBefore(walk: Walk, state: StageState, stage: number, visits: number): number {
  if (state.runs === undefined) return 0;
  const codes = walk.order.codes[stage] as Int32Array;
  let uses = 0;
  for (let position = state.cursor - visits; position < state.cursor; position++) {
    const code = codes[position] as number;
    const chunk = state.spec.chunks[chunkOf(code)] as ChunkSpec;
    uses += (isBackward(code) ? chunk.backwardPieces : chunk.forwardPieces).length;
  }
  return uses;
}

function rewind(state: StageState, uses: number): void {
  const { runs } = state;
  if (runs === undefined) return;
  const after = runs.runOfUse[runs.use] as number;
  runs.use -= uses;
  runs.offset += after - (runs.runOfUse[runs.use] as number);
}

/** The time by which all clocks advanced in the last round; undefined while they differ.
 *
 * The host may advance more slowly: then nothing waited for it in this round, and its distance only grows. Clocks of
 * lanes that are never used stay at zero.
 */
function steadyPeriod(
  walk: Walk,
  before: Float64Array,
  gathered: readonly (Float64Array | undefined)[],
): number | undefined {
  const { states, scratch } = walk;
  const last = states[states.length - 1] as StageState;
  const period =
    (last.clocks[CLOCK.compute] as number) - (before[(states.length - 1) * CLOCKS + CLOCK.compute] as number);
  const tolerance = STEADY * (last.clocks[CLOCK.compute] as number);
  const { low, high } = scratch.shift;
  if (low <= high && (Math.abs(low - period) > tolerance || Math.abs(high - period) > tolerance)) return undefined;
  for (let stage = 0; stage < states.length; stage++) {
    const { clocks } = states[stage] as StageState;
    for (let clock = 0; clock < CLOCKS; clock++) {
      const shift = (clocks[clock] as number) - (before[stage * CLOCKS + clock] as number);
      if (Math.abs(shift - period) <= tolerance || shift === 0) continue;
      if (clock === CLOCK.host && shift < period) continue;
      return undefined;
    }
    const pending = pendingGathers(states[stage] as StageState, walk.step);
    if (pending?.some((end, index) => !advances(end, gathered[stage]?.[index] ?? 0, period, tolerance)))
      return undefined;
  }
  return period;
}

/** Nothing was gathered there, or it advanced with the rest. */
const advances = (end: number, before: number, period: number, tolerance: number): boolean =>
  end === before || Math.abs(end - before - period) <= tolerance;

function skip(walk: Walk, period: number, rounds: number, before: Float64Array, bytesBefore: Float64Array): void {
  if (rounds === 0) return;
  const ahead = period * rounds;
  walk.states.forEach((state, stage) => {
    for (let clock = 0; clock < CLOCKS; clock++) {
      const shift = (state.clocks[clock] as number) - (before[stage * CLOCKS + clock] as number);
      state.clocks[clock] = (state.clocks[clock] as number) + shift * rounds;
    }
    const growth = (state.bytes - (bytesBefore[stage] as number)) * rounds;
    state.bytes += growth;
    if (growth > 0 && state.roundPeak + growth > state.peak) state.peak = state.roundPeak + growth;
    for (const clocks of [state.gradientReady, state.weightReady, ...(state.runs ? [state.runs.ready] : [])]) {
      for (let index = 0; index < clocks.length; index++) clocks[index] = (clocks[index] as number) + ahead;
    }
  });
  for (let index = 0; index < walk.sent.length; index++) walk.sent[index] = (walk.sent[index] as number) + ahead;
}
