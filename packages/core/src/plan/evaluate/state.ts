/** @file Numbers of all stages during the walk, in typed arrays: the walk is the planner's hot loop. */
import type { WalkOrder } from './order.ts';
import type { StepSpec } from './spec.ts';

/** Numbers of one stage in {@link Walk.state}: number k of stage i stands at i * WIDTH + k. Lanes and host first, each
 * as the time when it is free.
 */
export const HOST = 0;
export const COMPUTE = 1;
export const TENSOR = 2;
export const GATHER = 3;
export const REDUCE = 4;
export const ACTIVATION_IN = 5;
export const GRADIENT_IN = 6;
/** When the receive of the coming invocation could start. */
export const POSTED = 7;
/** End of the last call of the invocation before. */
export const ENDED = 8;
/** The lanes of what comes from the other neighbour, where stages receive alike from both: see `OTHER_SIDE` in order.ts. */
export const OTHER_ACTIVATION_IN = 9;
export const OTHER_GRADIENT_IN = 10;
/** End of the latest reduction that holds up all calls behind it: see {@link StepSpec.reductionsBlock}. */
export const HELD = 11;
/** The numbers before this one are clocks. */
export const CLOCKS = 12;
/** When the input at a block's border is there; after the block, its output. */
export const BORDER = 12;
/** Live bytes, and their highest value. */
export const BYTES = 13;
export const PEAK = 14;
/** When the gathered weights of the coming piece are there: of its own bucket, of the tied one. */
export const COPY = 15;
export const TIED_COPY = 16;
/** Sums over sets of shards: a lane of the last micro-batch only, which rounds of the steady state never stand for. */
export const SETS = 17;
export const WIDTH = 18;

export interface Walk {
  readonly step: StepSpec;
  readonly order: WalkOrder;
  readonly state: Float64Array;
  /** When each transfer was handed to its lane; see `Visits.from`. */
  readonly sent: Float64Array;
  /** When each bucket's last gathered copy is there. */
  readonly weightReady: Float64Array;
  /** When each bucket's gradients, as they are now (whole or shard), were last written. */
  readonly gradientReady: Float64Array;
  /** By stage: buckets whose reductions wait for the end of its last backward, in the order of their lines. */
  readonly late: readonly number[][];
  /** Sharding 3 only. */
  readonly units: UnitWalk | undefined;
  /** Invocations that were walked. */
  walked: number;
}

/** Units of sharding 3: see compile/lower/runs.ts. Runs of a stage are numbered as they come. */
export interface UnitWalk {
  /** By stage: the position in its list of the invocation that is being walked. */
  readonly cursor: Int32Array;
  /** By stage: the run in use. */
  readonly run: Int32Array;
  /** By stage: the run that is gathered next, and its first use as position in the list and index of the piece. */
  readonly nextRun: Int32Array;
  readonly nextPosition: Int32Array;
  readonly nextPiece: Int32Array;
  /** End of the gathers of a run: its own bucket, then the tied one; a ring of `ring` runs for each stage. */
  readonly ready: Float64Array;
  readonly ring: number;
}

export function createWalk(step: StepSpec, order: WalkOrder): Walk {
  const stages = step.stages.length;
  const state = new Float64Array(stages * WIDTH);
  for (let stage = 0; stage < stages; stage++) {
    const resident = step.stages[stage]?.residentBytes ?? 0;
    state[stage * WIDTH + BYTES] = resident;
    state[stage * WIDTH + PEAK] = resident;
  }
  return {
    step,
    order,
    state,
    sent: new Float64Array(order.senders * order.written),
    weightReady: new Float64Array(step.buckets.length),
    gradientReady: new Float64Array(step.buckets.length),
    late: Array.from({ length: stages }, () => []),
    units: step.mode === 'units' ? unitWalk(stages, step.layout.prefetch) : undefined,
    walked: 0,
  };
}

function unitWalk(stages: number, prefetch: number): UnitWalk {
  const ring = 2 ** Math.ceil(Math.log2(prefetch + 2));
  return {
    cursor: new Int32Array(stages),
    run: new Int32Array(stages),
    nextRun: new Int32Array(stages),
    nextPosition: new Int32Array(stages),
    nextPiece: new Int32Array(stages),
    ready: new Float64Array(2 * ring * stages).fill(Number.NEGATIVE_INFINITY),
    ring,
  };
}

export function see(state: Float64Array, base: number): void {
  const bytes = state[base + BYTES] as number;
  if (bytes > (state[base + PEAK] as number)) state[base + PEAK] = bytes;
}
