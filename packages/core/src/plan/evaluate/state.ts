/** @file Clocks and bytes of one stage during the walk. Plain mutable numbers: the walk is the planner's hot loop. */
import type { StageSpec } from './spec.ts';

/** Places in {@link StageState.clocks}; the first four are entry clocks of a block matrix. */
export const CLOCK = {
  host: 0,
  compute: 1,
  tensor: 2,
  gather: 3,
  reduce: 4,
  activationIn: 5,
  gradientIn: 6,
  /** When the receive of the coming invocation could start. */
  posted: 7,
  /** End of the last call of the invocation before. */
  ended: 8,
} as const;

export const CLOCKS = 9;

export interface StageState {
  readonly spec: StageSpec;
  readonly clocks: Float64Array;
  cursor: number;
  bytes: number;
  peak: number;
  /** Highest live bytes since the round began. */
  roundPeak: number;
  /** When each bucket's gradients, as they are now (whole or shard), were last written. */
  readonly gradientReady: Float64Array;
  /** When each bucket's last gathered copy is there. */
  readonly weightReady: Float64Array;
  /** Gradient buckets that are in memory though they are not resident. */
  readonly gradientLive: Uint8Array;
  readonly runs: RunState | undefined;
  /** When the host issued the tied bucket's reduction in the tail. */
  tiedIssued: number;
}

/** Runs of sharding 3: see compile/lower/runs.ts. */
export interface RunState {
  /** Unit of each run, in the order of the written list. */
  readonly unitOf: Int32Array;
  /** Run of each use. */
  readonly runOfUse: Int32Array;
  /** The last use of each run that reads the weights; -1 where nothing does. */
  readonly lastReader: Int32Array;
  /** Index of the coming use. */
  use: number;
  /** Written runs are this much behind the real ones, in a ring. */
  offset: number;
  /** End of the gathers of a run, for its own and its tied bucket; ring over runs, two clocks each. */
  readonly ready: Float64Array;
}

/** Runs that can be gathered at a time, at least; a power of two. */
export const RUN_RING = 16;

export function stageState(spec: StageSpec, runs: RunState | undefined): StageState {
  return {
    spec,
    clocks: new Float64Array(CLOCKS),
    cursor: 0,
    bytes: spec.residentBytes,
    peak: spec.residentBytes,
    roundPeak: 0,
    gradientReady: new Float64Array(spec.buckets.length),
    weightReady: new Float64Array(spec.buckets.length),
    gradientLive: new Uint8Array(spec.buckets.length),
    runs,
    tiedIssued: 0,
  };
}

export function see(state: StageState, bytes: number): void {
  if (bytes > state.peak) state.peak = bytes;
  if (bytes > state.roundPeak) state.roundPeak = bytes;
}
