/** @file One layout looked at closely: its drawings, its timeline, its memory over the step. What repeats is shortened:
 * a pipeline is full after a few micro-batches, and says how many of all it shows.
 */
import { compileProgram } from '@meshwright/core/compile';
import { InputError } from '@meshwright/core/errors';
import type { Job } from '@meshwright/core/job';
import { completeLayout, type Layout, type LayoutRequest, microBatchesOf } from '@meshwright/core/layout';
import { type Shown, showLayout, splitCosts } from '@meshwright/core/plan';
import type { Program } from '@meshwright/core/program';
import { memoryOverStep, type StageMemory } from '@meshwright/figures';
import type { Scenario } from '../scenario/scenario.ts';
import { isError } from './is-error.ts';
import { jobOf } from './job-of.ts';

/** A layout with the job that it splits, shortened to `shown` micro-batches. */
export interface Compiled {
  readonly job: Job;
  readonly layout: Layout;
  readonly program: Program;
  readonly shown: number;
  readonly all: number;
}

/** Compiles a layout, shortened to at least `most` micro-batches where there are more. Throws an InputError. */
export function compiled(scenario: Scenario, request: LayoutRequest, most: (layout: Layout) => number): Compiled {
  const job = jobOf({ ...scenario, layout: {} });
  const { layout, issues } = completeLayout(request, job, splitCosts(job));
  if (issues.some(isError)) throw new InputError(issues.filter(isError));
  const all = microBatchesOf(job, layout);
  const shown = Math.min(all, Math.ceil(most(layout) / layout.pipeline) * layout.pipeline);
  const short = { ...job, batch: { ...job.batch, sequences: shown * layout.data * layout.microBatch } };
  return { job: short, layout, program: compileProgram(short, layout), shown, all };
}

/** The whole of `show` for one layout. */
export const shownOf = (scenario: Scenario, request: LayoutRequest): Shown =>
  showLayout(jobOf({ ...scenario, layout: {} }), request);

/** All stages, with what was shortened. */
export interface MemoryDetail {
  readonly stages: readonly StageMemory[];
  readonly note: string;
}

/** Memory over time of every stage. */
export function memoryDetail(scenario: Scenario, request: LayoutRequest): MemoryDetail {
  const { program, shown, all } = compiled(scenario, request, (layout) => 2 * layout.pipeline + 2);
  const note = shown < all ? `Shown over ${shown} of ${all} micro-batches; the rest repeats.` : '';
  return { stages: memoryOverStep(program), note };
}
