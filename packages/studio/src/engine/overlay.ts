/** @file A measured step over the simulated one: the run of `meshwright run --json`, laid over the step that this scenario
 * takes under the layout of the run, or a run of the toy over the step of the lesson. Where the run is of something else it
 * says so.
 */
import { gpuCount } from '@meshwright/core/cluster';
import { compileProgram } from '@meshwright/core/compile';
import { parseLayoutString } from '@meshwright/core/io';
import { completeLayout, formatLayout } from '@meshwright/core/layout';
import { createEvaluator, splitCosts } from '@meshwright/core/plan';
import { expandList, type Program } from '@meshwright/core/program';
import {
  measuredStep,
  type Overlay,
  overlayOf,
  pricesOf,
  type SimulatedStep,
  simulateProgram,
  timelineOf,
} from '@meshwright/core/sim';
import { type Timeline, timelineOfColumns } from '@meshwright/core/timeline';
import { type LessonKey, lessonProgram, type StepScript } from '@meshwright/figures';
import type { Scenario } from '../scenario/scenario.ts';
import { isError } from './is-error.ts';
import { jobOf } from './job-of.ts';
import { type Compilation, replayOf, type Written } from './replay.ts';
import { stepDetail, type TimelineDetail } from './timeline.ts';

/** A run over the step that was predicted for it. */
export interface RunOverlay {
  readonly layout: string;
  /** The step press by press; text says why it cannot be told. */
  readonly replay: StepScript | string;
  /** The measured step, with the times that were predicted for each of its operations. */
  readonly detail: TimelineDetail;
  readonly overlay: Overlay;
}

/** The run over the simulated step of `scenario`; text says why it cannot be. */
export function overlayOfRun(scenario: Scenario, run: Written): RunOverlay | string {
  const { layout: short } = run;
  const timeline = timelineOfColumns(run['timeline']);
  if (typeof short !== 'string' || timeline === undefined) return 'it has no step whose operations are timed';
  const job = jobOf({ ...scenario, layout: {} });
  const ranks = new Set(timeline.rank).size;
  const gpus = gpuCount(job.cluster);
  if (ranks !== gpus) return `it ran on ${ranks} ranks, and this scenario has ${gpus} GPUs`;
  const { layout: request, issues } = parseLayoutString(short);
  const completed = completeLayout(request, job, splitCosts(job));
  const wrong = [...issues, ...completed.issues].find(isError);
  if (wrong) return `its layout ${short} does not stand here: ${wrong.message.replace(/\.$/, '')}`;
  const { layout } = completed;
  return overlayOn({ job, layout, program: compileProgram(job, layout) }, run);
}

/** The same for the toy under a layout of the lesson. */
export const overlayOfLesson = (key: LessonKey, sharding: 1 | 2 | 3, run: Written): RunOverlay | string =>
  overlayOn(lessonProgram(key, 'toy', sharding), run);

/** The last step of a run over the simulated step of the same program; text says why it cannot be. */
function overlayOn(compilation: Compilation, run: Written): RunOverlay | string {
  const { job, layout, program } = compilation;
  const timeline = timelineOfColumns(run['timeline']);
  if (!timeline) return 'it has no step whose operations are timed';
  const simulated = simulateProgram(program, pricesOf(program, createEvaluator(job).pricesOf(layout)));
  const short = formatLayout(layout);
  if (!haveSameOperations(simulated, timeline)) {
    return `its operations are not those of this scenario under ${short}: the model, its layers or the batch are others`;
  }
  const measured = measuredStep(simulated, timeline);
  return {
    layout: short,
    replay: replayOf(compilation, run),
    detail: overPredicted(program, simulated, measured),
    overlay: overlayOf(simulated, measured),
  };
}

/** Whether the ranks that were simulated did the same operations on the same lanes when they were measured. */
function haveSameOperations(simulated: SimulatedStep, measured: Timeline): boolean {
  const expected = timelineOf(simulated);
  const ranks = new Set(expected.rank);
  const keysOf = (timeline: Timeline): Set<string> => {
    const keys = new Set<string>();
    for (let index = 0; index < timeline.length; index++) {
      const rank = timeline.rank[index] ?? 0;
      const lane = timeline.lanes[timeline.lane[index] ?? 0];
      if (ranks.has(rank)) keys.add(`${rank} ${timeline.operation[index]} ${lane}`);
    }
    return keys;
  };
  const [wanted, found] = [keysOf(expected), keysOf(measured)];
  return wanted.size === found.size && [...wanted].every((key) => found.has(key));
}

/** The measured step; each of its slices knows when it was predicted. */
function overPredicted(program: Program, simulated: SimulatedStep, measured: SimulatedStep): TimelineDetail {
  const lists = program.lists.map((list) => expandList(program, list));
  const detail = stepDetail(program, lists, measured, 'measured');
  const [found, wanted] = [timelineOf(simulated), timelineOf(measured)];
  const keyOf = ({ rank, operation }: Timeline, index: number): string => `${rank[index]} ${operation[index]}`;
  const places = new Map(Array.from(found.rank, (_, index) => [keyOf(found, index), index]));
  const times = (column: Float64Array): Float64Array =>
    Float64Array.from(wanted.start, (_, index) => column[places.get(keyOf(wanted, index)) ?? -1] ?? 0);
  return {
    ...detail,
    predicted: { seconds: simulated.seconds, start: times(found.start), end: times(found.end) },
  };
}
