/** @file The simulated step of a layout in typed arrays, with what can be asked about each slice. */
import type { LayoutRequest } from '@meshwright/core/layout';
import { createEvaluator } from '@meshwright/core/plan';
import { type ExpandedList, expandList, type Program } from '@meshwright/core/program';
import {
  criticalPathOf,
  type IdlePart,
  pricesOf,
  type SimulatedStep,
  simulateProgram,
  timelineOf,
  visitIdle,
} from '@meshwright/core/sim';
import type { Timeline } from '@meshwright/core/timeline';
import { StepTimeline, svgText, whyOf } from '@meshwright/figures';
import type { Scenario } from '../scenario/scenario.ts';
import { compiled } from './detail.ts';

/** A timeline in typed arrays, with what can be asked about each slice. */
export interface TimelineDetail {
  readonly seconds: number;
  readonly lanes: readonly string[];
  readonly ranks: readonly number[];
  /** Ranks that run alike with each of `ranks`. */
  readonly alike: number;
  readonly rank: Uint32Array;
  readonly lane: Uint8Array;
  readonly start: Float64Array;
  readonly end: Float64Array;
  /** Index into `kinds`, for the colour. */
  readonly kind: Uint8Array;
  readonly kinds: readonly TimelineKind[];
  /** Index into `whys`. */
  readonly why: Uint32Array;
  readonly whys: readonly string[];
  /** Slices of the critical path, in order of time. */
  readonly critical: Uint32Array;
  /** Slice that the slice meets (its exchange in another list); -1 for none. */
  readonly partner: Int32Array;
  readonly idle: readonly { readonly part: IdlePart; readonly seconds: number }[];
  readonly note: string;
  /** Of a measured step: when each slice was predicted, in nanoseconds, and the whole. */
  readonly predicted?: { readonly seconds: number; readonly start: Float64Array; readonly end: Float64Array };
}

/** What slices are coloured by. */
export const timelineKinds: readonly ['forward', 'backward', 'optimizer', 'collective', 'send', 'host'] = [
  'forward',
  'backward',
  'optimizer',
  'collective',
  'send',
  'host',
];
export type TimelineKind = (typeof timelineKinds)[number];

/** The simulated step of a layout. */
export function timelineDetail(scenario: Scenario, request: LayoutRequest): TimelineDetail {
  const { job, layout, program, shown, all } = compiled(scenario, request, (each) => 2 * each.pipeline + 2);
  const lists = program.lists.map((list) => expandList(program, list));
  const step = simulateProgram(program, pricesOf(program, createEvaluator(job).pricesOf(layout)), lists);
  return {
    ...stepDetail(program, lists, step, 'simulated'),
    alike: layout.tensor * layout.context * layout.data,
    note: shown < all ? `${shown} of ${all} micro-batches.` : '',
  };
}

/** A step with why each slice is there; each rank stands for itself. What was measured has no critical path: its operations do
 * not begin the moment that others end. */
export function stepDetail(
  program: Program,
  lists: readonly ExpandedList[],
  step: SimulatedStep,
  source: Timeline['source'],
): TimelineDetail {
  const timeline = timelineOf(step);
  const { rank, lane, operation, start, end, length } = timeline;
  const ranks = [...new Set(rank)].sort((a, b) => a - b);
  const sliceAt = new Map<number, number>();
  const listOfRank = new Map(ranks.map((each, index) => [each, index]));
  const whys: string[] = [];
  const known = new Map<string, number>();
  const kind = new Uint8Array(length);
  const why = new Uint32Array(length);
  const backward = new Set(
    program.templates.filter(({ direction }) => direction === 'backward').map(({ name }) => name),
  );
  const templates = lists.map(
    ({ list }) =>
      new Map(list.items.flatMap((item) => (item.kind === 'call' ? [[item.id, item.template] as const] : []))),
  );
  for (let index = 0; index < length; index++) {
    const list = listOfRank.get(rank[index] ?? 0) ?? 0;
    const expanded = lists[list]?.operations[operation[index] ?? 0];
    if (!expanded) continue;
    sliceAt.set((step.graph.base[list] ?? 0) + expanded.index, index);
    kind[index] = timelineKinds.indexOf(kindOf(expanded.operation.kind, templates[list]?.get(expanded.item), backward));
    const words = whyOf(lists[list] as ExpandedList, expanded.index, program.layers);
    const at = known.get(words) ?? whys.push(words) - 1;
    known.set(words, at);
    why[index] = at;
  }
  return {
    seconds: step.seconds,
    lanes: timeline.lanes,
    ranks,
    alike: 1,
    rank,
    lane,
    start,
    end,
    kind,
    kinds: timelineKinds,
    why,
    whys,
    critical: source === 'measured' ? new Uint32Array(0) : criticalOf(step, sliceAt),
    partner: partnersOf(step, sliceAt, length),
    idle: source === 'measured' ? [] : idleOf(step),
    note: '',
  };
}

/** The figure of the same step, as the command writes it. */
export function timelineFigure(scenario: Scenario, request: LayoutRequest): string {
  const { job, layout, program } = compiled(scenario, request, (each) => 2 * each.pipeline + 2);
  const step = simulateProgram(program, pricesOf(program, createEvaluator(job).pricesOf(layout)));
  return svgText(StepTimeline({ step, schedule: layout.schedule, window: [0, step.seconds] }));
}

function kindOf(kind: string, template: string | undefined, backward: ReadonlySet<string>): TimelineKind {
  if (kind === 'collective') return 'collective';
  if (kind === 'send' || kind === 'recv') return 'send';
  if (kind !== 'compute') return 'host';
  return template === undefined ? 'optimizer' : backward.has(template) ? 'backward' : 'forward';
}

const criticalOf = (step: SimulatedStep, sliceAt: ReadonlyMap<number, number>): Uint32Array =>
  Uint32Array.from(
    criticalPathOf(step)
      .map(({ list, operation }) => sliceAt.get((step.graph.base[list] ?? 0) + operation) ?? 0)
      .reverse(),
  );

function partnersOf({ graph }: SimulatedStep, sliceAt: ReadonlyMap<number, number>, length: number): Int32Array {
  const partner = new Int32Array(length).fill(-1);
  for (const [at, slice] of sliceAt) {
    const next = graph.next[at];
    if (next !== undefined && next !== at) partner[slice] = sliceAt.get(next) ?? -1;
  }
  return partner;
}

function idleOf(step: SimulatedStep): TimelineDetail['idle'] {
  const sums = new Map<IdlePart, number>();
  visitIdle(step, step.last, step.seconds, ({ part, seconds }) => void sums.set(part, (sums.get(part) ?? 0) + seconds));
  return [...sums].map(([part, seconds]) => ({ part, seconds })).sort((a, b) => b.seconds - a.seconds);
}
