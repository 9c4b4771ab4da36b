/** @file A measured step over the simulated one of the same program. */
import { networkOf, slowDownOf } from '@meshwright/core/cost';
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
  simulateShared,
} from '@meshwright/core/sim';
import type { Timeline } from '@meshwright/core/timeline';

/** Both steps, and what differs. */
export interface ComparedStep {
  readonly simulated: SimulatedStep;
  readonly measured: SimulatedStep;
  readonly overlay: Overlay;
}

/** Lays a measured step over the simulated one: of a machine that was measured with what its kernels and exchanges take from
 * each other, else with every operation as if it ran alone. */
export function comparedStep(job: Job, layout: Layout, program: Program, timeline: Timeline): ComparedStep {
  const prices = createEvaluator(job).pricesOf(layout);
  const setting = { prices, network: networkOf(job.cluster), slowDown: slowDownOf(job.cluster) };
  const simulated = isCalibrated(job)
    ? simulateShared(program, setting)
    : simulateProgram(program, pricesOf(program, prices));
  const measured = measuredStep(simulated, timeline);
  return { simulated, measured, overlay: overlayOf(simulated, measured) };
}

/** The prices of the job are those of a machine that was measured, so that predicted seconds mean something here. */
export const isCalibrated = ({ cluster }: Job): boolean => cluster.device.measured !== undefined;
