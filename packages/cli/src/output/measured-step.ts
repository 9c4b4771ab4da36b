/** @file A measured step over the simulated one of the same program. */
import type { Job } from '@meshwright/core/job';
import type { Layout } from '@meshwright/core/layout';
import { createEvaluator } from '@meshwright/core/plan';
import type { Program } from '@meshwright/core/program';
import {
  measuredStep,
  type Overlay,
  overlayOf,
  pricesOf,
  type SimulatedStep,
  simulateProgram,
} from '@meshwright/core/sim';
import type { Timeline } from '@meshwright/core/timeline';

/** Both steps, and what differs. */
export interface ComparedStep {
  readonly simulated: SimulatedStep;
  readonly measured: SimulatedStep;
  readonly overlay: Overlay;
}

/** Lays a measured step over the simulated one, every operation priced as if it ran alone. */
export function comparedStep(job: Job, layout: Layout, program: Program, timeline: Timeline): ComparedStep {
  const simulated = simulateProgram(program, pricesOf(program, createEvaluator(job).pricesOf(layout)));
  const measured = measuredStep(simulated, timeline);
  return { simulated, measured, overlay: overlayOf(simulated, measured) };
}

/** The prices of the job are those of a machine that was measured, so that predicted seconds mean something here. */
export const isCalibrated = ({ cluster }: Job): boolean => cluster.device.measured !== undefined;
