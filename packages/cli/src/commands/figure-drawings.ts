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

/** A measured step under the simulated one, on one scale of time. */
export function drawOverlay(simulated: SimulatedStep, measured: SimulatedStep, schedule: string): string {
  const window = [0, Math.max(simulated.seconds, measured.seconds)] as const;
  const [above, below] = [drawTimeline(simulated, schedule, window), drawTimeline(measured, schedule, window)];
  const [, width = 0, height = 0] = sizeOf(above);
  const [, widthBelow = 0, heightBelow = 0] = sizeOf(below);
  const nested = (svg: string, y: number): string => svg.replace('<svg', `<svg y="${y}"`);
  const label = (text: string, y: number): string =>
    `<text x="8" y="${y}" font-family="sans-serif" font-size="14" font-weight="600">${text}</text>`;
  const whole = LABEL + height + LABEL + heightBelow;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${Math.max(width, widthBelow)} ${whole}" role="img" aria-label="simulated above, measured below">`,
    `${label('simulated', LABEL - 6)}${nested(above, LABEL)}`,
    `${label('measured', LABEL + height + LABEL - 6)}${nested(below, LABEL + height + LABEL)}</svg>`,
    '',
  ].join('\n');
}

/** Pixels of a line of text above a figure. */
const LABEL = 24;

const sizeOf = (svg: string): readonly (number | undefined)[] => {
  const box = /viewBox="0 0 ([\d.]+) ([\d.]+)"/.exec(svg);
  return [0, Number(box?.[1] ?? 0), Number(box?.[2] ?? 0)];
};

/** The figure of a sweep over sizes. */
export const drawScaling = (sweep: Sweep, name: string): string => svgText(Scaling({ sweep, name }));

/** The step-through figure at a frame, or the whole step at once when none is named. */
export const drawSteps = (script: StepScript, frame?: number, detail: Detail = 'collectives'): string =>
  svgText(frame === undefined ? StepsStill({ script }) : Steps({ script, frame, detail }));
