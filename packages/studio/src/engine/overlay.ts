/** @file A measured step over the simulated one: the run of `meshwright run --json`, laid over the step that this scenario
 * takes under the layout of the run. Where the run is of something else it says so.
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
import type { Scenario } from '../scenario/scenario.ts';
import { isError } from './is-error.ts';
import { jobOf } from './job-of.ts';
import { stepDetail, type TimelineDetail } from './timeline.ts';

/** Both steps on one scale, and what differs. */
export interface RunOverlay {
  readonly layout: string;
  /** Lanes of the simulated step, each with the measured one below it. */
  readonly detail: TimelineDetail;
  readonly overlay: Overlay;
}

/** The run over the simulated step of `scenario`; text says why it cannot be. */
export function overlayOfRun(scenario: Scenario, run: Readonly<Record<string, unknown>>): RunOverlay | string {
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
  const program = compileProgram(job, layout);
  const simulated = simulateProgram(program, pricesOf(program, createEvaluator(job).pricesOf(layout)));
  if (!haveSameOperations(simulated, timeline)) {
    return `its operations are not those of this scenario under ${short}: the model, its layers or the batch are others`;
  }
  const measured = measuredStep(simulated, timeline);
  return {
    layout: formatLayout(layout),
    detail: bothOn(program, simulated, measured),
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

/** Two details as one: for each lane of the simulated step one more with what was measured. */
function bothOn(program: Program, simulated: SimulatedStep, measured: SimulatedStep): TimelineDetail {
  const lists = program.lists.map((list) => expandList(program, list));
  const [one, other] = [
    stepDetail(program, lists, simulated, 'simulated'),
    stepDetail(program, lists, measured, 'measured'),
  ];
  const count = one.rank.length;
  const numbers = <Column extends Uint32Array | Float64Array | Uint8Array>(
    column: Column,
    before: Column,
    after: Column,
  ): Column => {
    column.set(before);
    column.set(after, count);
    return column;
  };
  const length = count + other.rank.length;
  return {
    ...one,
    seconds: Math.max(one.seconds, other.seconds),
    lanes: one.lanes.flatMap((lane) => [lane, `${lane}, measured`]),
    rank: numbers(new Uint32Array(length), one.rank, other.rank),
    lane: numbers(
      new Uint8Array(length),
      one.lane.map((lane) => 2 * lane),
      other.lane.map((lane) => 2 * lane + 1),
    ),
    start: numbers(new Float64Array(length), one.start, other.start),
    end: numbers(new Float64Array(length), one.end, other.end),
    kind: numbers(new Uint8Array(length), one.kind, other.kind),
    why: numbers(
      new Uint32Array(length),
      one.why,
      other.why.map((why) => why + one.whys.length),
    ),
    whys: [...one.whys, ...other.whys.map((why) => `measured, ${why}`)],
    partner: new Int32Array(length).fill(-1),
    idle: [],
  };
}
