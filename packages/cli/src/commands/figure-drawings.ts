/** @file Figures as SVG text. */
import type { ClusterSpec } from '@meshwright/core/cluster';
import type { Sweep } from '@meshwright/core/plan';
import type { Program } from '@meshwright/core/program';
import type { SimulatedStep } from '@meshwright/core/sim';
import {
  type Detail,
  Exchanges,
  Scaling,
  type StepScript,
  Steps,
  StepsStill,
  StepTimeline,
  svgText,
} from '@meshwright/figures';

/** The figure of exchanges. */
export const drawExchanges = (program: Program, cluster: ClusterSpec): string =>
  svgText(Exchanges({ program, cluster }));

/** The figure of a step in time, or of a window of it in seconds. The schedule is only named: a program does not know it. */
export const drawTimeline = (step: SimulatedStep, schedule?: string, window?: readonly [number, number]): string =>
  svgText(StepTimeline({ step, ...(schedule !== undefined && { schedule }), ...(window && { window }) }));

/** The figure of a sweep over sizes. */
export const drawScaling = (sweep: Sweep, name: string): string => svgText(Scaling({ sweep, name }));

/** The step-through figure at a frame, or the whole step at once when none is named. */
export const drawSteps = (script: StepScript, frame?: number, detail: Detail = 'collectives'): string =>
  svgText(frame === undefined ? StepsStill({ script }) : Steps({ script, frame, detail }));
