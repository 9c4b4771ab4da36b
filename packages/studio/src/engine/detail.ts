/** @file One layout looked at closely: its drawings, its timeline, its memory over the step. What repeats is shortened:
 * a pipeline is full after a few micro-batches, and says how many of all it shows.
 */
import { compileProgram } from '@meshwright/core/compile';
import { InputError } from '@meshwright/core/errors';
import type { Job } from '@meshwright/core/job';
import { completeLayout, type Layout, type LayoutRequest, microBatchesOf } from '@meshwright/core/layout';
import { memoryOf } from '@meshwright/core/memory';
import { type Shown, showLayout, splitCosts } from '@meshwright/core/plan';
import {
  degreesOf,
  type ExpandedList,
  expandList,
  lifetimesOf,
  type Program,
  renderWhy,
} from '@meshwright/core/program';
import type { Scenario } from '../scenario/scenario.ts';
import { isError, jobOf } from './job-of.ts';

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

/** Memory of one stage over the operations of a step. */
export interface StageMemory {
  readonly stage: number;
  /** Bytes alive, in the order of the program; the largest of each stretch. */
  readonly over: Float64Array;
  readonly peakAt: number;
  readonly peakBytes: number;
  readonly residentBytes: number;
  readonly peakWhy: string;
  /** Largest first. */
  readonly alive: readonly { readonly name: string; readonly role: string; readonly bytes: number }[];
  readonly aliveCount: number;
}

const POINTS = 480;
const LISTED = 24;

/** All stages, with what was shortened. */
export interface MemoryDetail {
  readonly stages: readonly StageMemory[];
  readonly note: string;
}

/** Memory over time of every stage. */
export function memoryDetail(scenario: Scenario, request: LayoutRequest): MemoryDetail {
  const { program, shown, all } = compiled(scenario, request, (layout) => 2 * layout.pipeline + 2);
  const lists = program.lists.map((list) => expandList(program, list));
  const memory = memoryOf(program, lists);
  const degrees = degreesOf(program);
  const stages = lists.map((list, index): StageMemory => {
    const { live } = lifetimesOf(list, degrees);
    const own = memory.lists[index];
    const at = own?.peakIndex ?? 0;
    return {
      stage: list.list.pipeline,
      over: thinned(live),
      peakAt: at / Math.max(1, live.length - 1),
      peakBytes: own?.peakBytes ?? 0,
      residentBytes: own?.residentBytes ?? 0,
      peakWhy: whyOf(list, at, program.layers),
      alive: (own?.alive ?? []).slice(0, LISTED).map(({ instance, role, bytes }) => ({ name: instance, role, bytes })),
      aliveCount: own?.alive.length ?? 0,
    };
  });
  return { stages, note: shown < all ? `Shown over ${shown} of ${all} micro-batches; the rest repeats.` : '' };
}

function thinned(live: Float64Array): Float64Array {
  if (live.length <= POINTS) return Float64Array.from(live);
  const thin = new Float64Array(POINTS);
  for (let index = 0; index < live.length; index++) {
    const at = Math.floor((index / live.length) * POINTS);
    thin[at] = Math.max(thin[at] ?? 0, live[index] ?? 0);
  }
  return thin;
}

/** The reason of an operation, in the words of the program. */
export const whyOf = (list: ExpandedList, index: number, layers: number): string => {
  const operation = list.operations[index];
  if (!operation) return '';
  const { block, microBatch } = operation;
  return renderWhy(operation.operation.why, {
    operation: operation.operation,
    layers,
    ...(block !== undefined && { block }),
    ...(microBatch !== undefined && { microBatch }),
  });
};
