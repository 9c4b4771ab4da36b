/** @file Evaluates a step at block level: walks the invocations of all stages once, skipping ahead in the steady state. */
import { gatherUpdated, postReceive, reduceLate } from './exchanges.ts';
import type { WalkOrder } from './order.ts';
import type { StepSpec } from './spec.ts';
import { createWalk, PEAK, type Walk, WIDTH } from './state.ts';
import { repeatLoop } from './steady.ts';
import { finishPeriod } from './tail.ts';
import { gatherFirst } from './units.ts';
import { visitAll } from './visit.ts';

export interface Evaluation {
  readonly seconds: number;
  /** Highest live bytes of each stage. */
  readonly peakBytes: Float64Array;
  /** Invocations that were walked. */
  readonly walked: number;
}

export function evaluateStep(step: StepSpec, order: WalkOrder): Evaluation {
  const walk = createWalk(step, order);
  for (let stage = 0; stage < step.stages.length; stage++) openPeriod(walk, stage);
  let at = 0;
  for (const loop of order.loops) {
    visitAll(walk, at, loop.to);
    if (order.extra > 0) repeatLoop(walk, loop);
    at = loop.to;
  }
  visitAll(walk, at, order.visits.stage.length);
  for (let stage = 0; stage < step.stages.length; stage++) reduceLate(walk, stage);
  const seconds = finishPeriod(walk);
  return { seconds, peakBytes: peaksOf(walk), walked: walk.walked };
}

/** What a stage does before its first invocation, which may receive. */
function openPeriod(walk: Walk, stage: number): void {
  const { step, units } = walk;
  if (units !== undefined) gatherFirst(walk, units, stage);
  else if (step.mode !== 'alone' && step.layout.sharding > 0) gatherUpdated(walk, stage);
  if (walk.order.opensWithReceive[stage] === 1) postReceive(walk, stage * WIDTH);
}

function peaksOf({ state }: Walk): Float64Array {
  const peaks = new Float64Array(state.length / WIDTH);
  for (let stage = 0; stage < peaks.length; stage++) peaks[stage] = state[stage * WIDTH + PEAK] as number;
  return peaks;
}
