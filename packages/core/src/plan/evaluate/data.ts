/** @file The data axis during the walk: gathers of updated weights and of units, reductions of buckets. */
import { applyMatrix, ENTRY, EXIT } from '../../cost/index.ts';
import { chunkOf, isBackward } from '../../schedules/index.ts';
import type { Piece, StageSpec, StepSpec } from './spec.ts';
import { CLOCK, RUN_RING, type RunState, type StageState, see } from './state.ts';

/** Scratch of one walk, shared by its stages. */
export interface Scratch {
  readonly entry: Float64Array;
  readonly exit: Float64Array;
  /** Smallest and largest advance of sends over one round, for the check of a steady state. */
  readonly shift: { low: number; high: number };
}

/** The order in which a stage uses its units, from its written list of invocations. */
export function unitRunsOf(spec: StageSpec, codes: Int32Array): RunState {
  const unitOf: number[] = [];
  const runOfUse: number[] = [];
  const lastReader: number[] = [];
  for (const code of codes) {
    const chunk = spec.chunks[chunkOf(code)];
    for (const piece of (isBackward(code) ? chunk?.backwardPieces : chunk?.forwardPieces) ?? []) {
      if (piece.unit !== unitOf[unitOf.length - 1]) {
        unitOf.push(piece.unit);
        lastReader.push(-1);
      }
      if (piece.readsWeights) lastReader[unitOf.length - 1] = runOfUse.length;
      runOfUse.push(unitOf.length - 1);
    }
  }
  return {
    unitOf: Int32Array.from(unitOf),
    runOfUse: Int32Array.from(runOfUse),
    lastReader: Int32Array.from(lastReader),
    use: 0,
    offset: 0,
    ready: new Float64Array(2 * RUN_RING).fill(Number.NEGATIVE_INFINITY),
  };
}

/** What stands before the first invocation. */
export function openPeriod(state: StageState, step: StepSpec): void {
  if (state.runs) {
    for (let run = 0; run <= step.layout.prefetch; run++) gatherRun(state, step, run, Number.NEGATIVE_INFINITY);
  } else if (step.mode !== 'alone' && step.layout.sharding > 0) {
    for (const bucket of state.spec.opening) {
      const gather = state.spec.buckets[bucket]?.gatherSeconds ?? 0;
      state.weightReady[bucket] = gatherOnce(state, step, gather, Number.NEGATIVE_INFINITY);
    }
  }
}

function gatherOnce(state: StageState, step: StepSpec, gather: number, needs: number): number {
  const { clocks } = state;
  const host = (clocks[CLOCK.host] as number) + step.launchExchange;
  clocks[CLOCK.host] = host;
  const end = Math.max(host, clocks[CLOCK.gather] as number, needs) + gather;
  clocks[CLOCK.gather] = end;
  return end;
}

function gatherRun(state: StageState, step: StepSpec, run: number, needs: number): void {
  const runs = state.runs as RunState;
  if (run >= runs.unitOf.length) return;
  const slot = 2 * ((run + runs.offset) & (RUN_RING - 1));
  runs.ready[slot] = Number.NEGATIVE_INFINITY;
  runs.ready[slot + 1] = Number.NEGATIVE_INFINITY;
  for (const index of state.spec.units[runs.unitOf[run] as number] ?? []) {
    const bucket = state.spec.buckets[index];
    if (bucket === undefined) continue;
    const end = gatherOnce(state, step, bucket.gatherSeconds, needs);
    runs.ready[slot + (bucket.plan.tied ? 1 : 0)] = end;
    state.bytes += bucket.weightBytes;
    see(state, state.bytes);
    if (runs.lastReader[run] === -1) state.bytes -= bucket.weightBytes;
  }
}

export function noteShift(scratch: Scratch, shift: number): void {
  if (shift < scratch.shift.low) scratch.shift.low = shift;
  if (shift > scratch.shift.high) scratch.shift.high = shift;
}

/** Runs one piece of an invocation; `input` is when its border's input is there. Gives when its output is. */
export function runPiece(state: StageState, step: StepSpec, piece: Piece, input: number, scratch: Scratch): number {
  const { entry, exit } = scratch;
  const { clocks, runs } = state;
  entry[ENTRY.host] = clocks[CLOCK.host] as number;
  entry[ENTRY.compute] = clocks[CLOCK.compute] as number;
  entry[ENTRY.tensor] = clocks[CLOCK.tensor] as number;
  entry[ENTRY.input] = input;
  if (runs) {
    const slot = 2 * (((runs.runOfUse[runs.use] as number) + runs.offset) & (RUN_RING - 1));
    entry[ENTRY.own] = runs.ready[slot] as number;
    entry[ENTRY.tied] = runs.ready[slot + 1] as number;
  } else {
    entry[ENTRY.own] = piece.own < 0 ? Number.NEGATIVE_INFINITY : (state.weightReady[piece.own] as number);
    entry[ENTRY.tied] = piece.tied < 0 ? Number.NEGATIVE_INFINITY : (state.weightReady[piece.tied] as number);
  }
  applyMatrix(piece.matrix, entry, exit);
  clocks[CLOCK.host] = exit[EXIT.host] as number;
  clocks[CLOCK.compute] = exit[EXIT.compute] as number;
  clocks[CLOCK.tensor] = exit[EXIT.tensor] as number;
  clocks[CLOCK.ended] = exit[EXIT.end] as number;
  if (piece.own >= 0) raise(state.gradientReady, piece.own, exit[EXIT.own] as number);
  if (piece.tied >= 0) raise(state.gradientReady, piece.tied, exit[EXIT.tied] as number);
  walkMemory(state, step, piece);
  return exit[EXIT.output] as number;
}

function raise(clocks: Float64Array, index: number, value: number): void {
  if (value > (clocks[index] as number)) clocks[index] = value;
}

/** Live bytes of a piece, with gathered weights freed and gradient buckets made inside it. */
export function walkMemory(state: StageState, step: StepSpec, piece: Piece): void {
  const { runs, spec } = state;
  const frees = runs !== undefined && runs.lastReader[runs.runOfUse[runs.use] as number] === runs.use;
  const makes =
    step.mode === 'per-micro-batch' || (step.mode === 'units' && step.layout.gradientReduction === 'per-micro-batch');
  for (const call of piece.calls) {
    const { memory } = call;
    let extra = 0;
    for (let part = 0; part < memory.peaks.length; part++) {
      see(state, state.bytes + extra + (memory.peaks[part] as number));
      const event = memory.events[part];
      if (event === undefined) continue;
      const index = event === 'free-own' || event === 'allocate-own' ? piece.own : piece.tied;
      const bucket = spec.buckets[index];
      if (bucket === undefined) continue;
      if (event === 'free-own' || event === 'free-tied') {
        if (frees) extra -= bucket.weightBytes;
      } else if (makes && state.gradientLive[index] === 0) {
        state.gradientLive[index] = 1;
        extra += bucket.gradientBytes;
      }
    }
    const first = state.bytes + extra + memory.net;
    state.bytes = first + memory.net * (call.count - 1);
    if (call.count > 1) see(state, Math.max(first, state.bytes - memory.net) + peakOf(memory.peaks));
  }
}

function peakOf(peaks: readonly number[]): number {
  let peak = Number.NEGATIVE_INFINITY;
  for (const each of peaks) if (each > peak) peak = each;
  return peak;
}

/** After the calls of one use of a unit: the gather that has waited for the end of its run. */
export function unitUsed(state: StageState, step: StepSpec): void {
  const { runs } = state;
  if (runs === undefined) return;
  const run = runs.runOfUse[runs.use] as number;
  runs.use += 1;
  if (runs.runOfUse[runs.use] !== run) {
    gatherRun(state, step, run + 1 + step.layout.prefetch, state.clocks[CLOCK.ended] as number);
  }
}

/** Reduces one bucket over data: after the sum over tensor while gradients are whole. */
export function reduceBucket(state: StageState, step: StepSpec, index: number): void {
  const bucket = state.spec.buckets[index];
  if (bucket === undefined) return;
  const { clocks } = state;
  const each = isEach(step);
  let ready = state.gradientReady[index] as number;
  if (!each && bucket.sumSeconds > 0) ready = sumOverTensor(state, step, bucket.sumSeconds, ready);
  if (step.layout.data > 1) {
    const host = (clocks[CLOCK.host] as number) + step.launchExchange;
    clocks[CLOCK.host] = host;
    ready = Math.max(host, clocks[CLOCK.reduce] as number, ready) + bucket.reduceSeconds;
    clocks[CLOCK.reduce] = ready;
  }
  state.gradientReady[index] = ready;
  if (state.gradientLive[index] === 1) {
    see(state, state.bytes);
    state.gradientLive[index] = 0;
    state.bytes -= bucket.gradientBytes;
  }
}

export function sumOverTensor(state: StageState, step: StepSpec, sum: number, ready: number): number {
  const { clocks } = state;
  const host = (clocks[CLOCK.host] as number) + step.launchExchange;
  clocks[CLOCK.host] = host;
  const end = Math.max(host, clocks[CLOCK.tensor] as number, ready) + sum;
  clocks[CLOCK.tensor] = end;
  return end;
}

/** Gradients are reduced after every micro-batch. */
export const isEach = (step: StepSpec): boolean =>
  step.mode === 'per-micro-batch' || (step.mode === 'units' && step.layout.gradientReduction === 'per-micro-batch');
