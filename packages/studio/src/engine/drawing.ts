/** @file Figures of one layout: the script of its steps, and the figure of exchanges. */
import type { Layout, LayoutRequest } from '@meshwright/core/layout';
import { type Shown, showLayout } from '@meshwright/core/plan';
import {
  Exchanges,
  type LessonKey,
  type LessonModel,
  lessonScene,
  type StepScript,
  scriptOptionsOf,
  stepScript,
  svgText,
} from '@meshwright/figures';
import type { Scenario } from '../scenario/scenario.ts';
import { compiled } from './detail.ts';
import { jobOf } from './job-of.ts';

/** Micro-batches that show a full pipeline, or two where there is none. */
const enough = (layout: Layout): number => (layout.pipeline > 1 ? 2 * layout.pipeline : 1);

/** The script of a lesson. */
export const lessonScript = (key: LessonKey, model: LessonModel, sharding: 1 | 2 | 3): StepScript =>
  lessonScene(key, model, sharding).script;

/** A script with what was shortened. */
export interface ToldScript {
  readonly script: StepScript;
  readonly note: string;
}

/** The script of the step-through figure for one's own plan. */
export function scriptOf(scenario: Scenario, request: LayoutRequest): ToldScript {
  const { job, layout, program, shown, all } = compiled(scenario, request, enough);
  const script = stepScript(program, job.cluster, scriptOptionsOf(job, layout));
  return {
    script,
    note:
      shown < all ? `The first ${shown} of ${all} micro-batches of a step are told, with the update behind them.` : '',
  };
}

/** What a layout puts on the links, and where its ranks stand. */
export interface Placed {
  readonly shown: Shown;
  readonly gpusPerNode: number;
}

export function placedLayout(scenario: Scenario, request: LayoutRequest): Placed {
  const job = jobOf({ ...scenario, layout: {} });
  return { shown: showLayout(job, request, { groups: true }), gpusPerNode: job.cluster.gpusPerNode };
}

/** The figure of exchanges as SVG text. */
export interface LayoutDrawing {
  readonly svg: string;
  /** What was shortened in the figure. */
  readonly note: string;
}

export function layoutDrawing(scenario: Scenario, request: LayoutRequest): LayoutDrawing {
  const { job, program, shown, all } = compiled(scenario, request, enough);
  const note = shown < all ? `Drawn for ${shown} of ${all} micro-batches of a step.` : '';
  return { svg: svgText(Exchanges({ program, cluster: job.cluster })), note };
}
