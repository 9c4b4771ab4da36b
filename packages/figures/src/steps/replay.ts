/** @file What a run did in one step, told in the steps of the figure: when each was done, who took how much from whom, and
 * what every shown rank held and had sent by then. All of it was recorded; nothing is computed from the program but which
 * operations belong together.
 */
import { coordinateOf, worldSize } from '@meshwright/core/mesh';
import type { ExpandedList, Program } from '@meshwright/core/program';
import type { Move, Recording } from '@meshwright/core/timeline';
import type { Link } from './links.ts';
import type { OrderedStep } from './order.ts';
import type { StageGpu } from './script.ts';

/** One shown GPU when a step was done. Seconds since the first operation; bytes since then. */
export interface MeasuredGpu {
  /** Undefined where it took no part. */
  readonly start: number | undefined;
  readonly end: number | undefined;
  readonly sent: number;
  readonly received: number;
  /** By the allocator, at the last operation that it had done. */
  readonly held: number;
  /** Seconds of computing so far. */
  readonly busy: number;
}

/** One step of a run. */
export interface MeasuredStep {
  /** Seconds: the first rank begins, the last one ends. */
  readonly start: number;
  readonly end: number;
  /** In the order of the GPUs of the script. */
  readonly gpus: readonly MeasuredGpu[];
  /** What really went over which link. */
  readonly links: readonly Link[];
}

/** The steps in the order in which the run ended them. */
export interface Measured {
  readonly order: readonly OrderedStep[];
  readonly steps: readonly MeasuredStep[];
}

/** Whether a recording can be one of this program: as many ranks, each with the operations of its list. */
export function isRecordingOf(program: Program, lists: readonly ExpandedList[], recording: Recording): boolean {
  const world = worldSize(program.mesh);
  if (recording.held.length !== world || recording.moves.some(({ from, to }) => Math.max(from, to) >= world)) {
    return false;
  }
  const { rank, operation } = recording.timeline;
  const lengths = recording.held.map((_, each) => lists[listAt(program, each)]?.operations.length ?? 0);
  return (
    recording.held.every((held, each) => held.length === lengths[each]) &&
    rank.every((each, index) => (operation[index] ?? 0) < (lengths[each] ?? 0))
  );
}

/** The list that a rank executes. */
const listAt = ({ lists, mesh }: Program, rank: number): number => {
  const { pipeline } = coordinateOf(mesh, rank);
  return lists.findIndex((each) => each.pipeline === pipeline);
};

/** Tells `ordered` as `recording` has it. */
export function measuredSteps(
  program: Program,
  lists: readonly ExpandedList[],
  ordered: readonly OrderedStep[],
  gpus: readonly StageGpu[],
  recording: Recording,
): Measured {
  const ranks = Array.from({ length: worldSize(program.mesh) }, (_, rank) => rank);
  const listOf = ranks.map((rank) => listAt(program, rank));
  const times = timesOf(recording, listOf, lists);
  const spans = ordered.map((step) => {
    const all = ranks.flatMap((rank) => spanOf(step, listOf[rank] ?? 0, times[rank]) ?? []);
    return {
      step,
      start: Math.min(...all.map(({ start }) => start)),
      end: Math.max(...all.map(({ end }) => end)),
    };
  });
  const sorted = spans.toSorted((one, other) => one.end - other.end);
  const movesAt = movesByOperation(recording.moves);
  const own = gpus.map(({ rank }) => ({ cursor: -1, sent: 0, received: 0, busy: 0, rank }));
  const steps = sorted.map(({ step, start, end }): MeasuredStep => {
    const moves = ranks.flatMap((rank) =>
      operationsOf(step, listOf[rank] ?? 0).flatMap((operation) => movesAt.get(`${rank} ${operation}`) ?? []),
    );
    return {
      start,
      end,
      gpus: own.map((gpu) => advance(gpu, step, { moves, lists, recording, listOf, times })),
      links: linksOfMoves(moves, gpus),
    };
  });
  return { order: sorted.map(({ step }) => step), steps };
}

/** By rank that took them and operation of its list. */
function movesByOperation(moves: readonly Move[]): ReadonlyMap<string, readonly Move[]> {
  const found = new Map<string, Move[]>();
  for (const move of moves) {
    const key = `${move.to} ${move.operation}`;
    const known = found.get(key);
    if (known) known.push(move);
    else found.set(key, [move]);
  }
  return found;
}

interface Times {
  readonly start: Float64Array;
  readonly end: Float64Array;
}

/** Seconds by rank and operation; not a number where the timeline has none. */
function timesOf({ timeline }: Recording, listOf: readonly number[], lists: readonly ExpandedList[]): readonly Times[] {
  const times = listOf.map((list): Times => {
    const length = lists[list]?.operations.length ?? 0;
    return { start: new Float64Array(length).fill(Number.NaN), end: new Float64Array(length).fill(Number.NaN) };
  });
  for (let index = 0; index < timeline.length; index++) {
    const own = times[timeline.rank[index] ?? 0];
    const operation = timeline.operation[index] ?? 0;
    if (!own) continue;
    own.start[operation] = (timeline.start[index] ?? 0) / 1e9;
    own.end[operation] = (timeline.end[index] ?? 0) / 1e9;
  }
  return times;
}

const operationsOf = ({ parts }: OrderedStep, list: number): readonly number[] =>
  parts.filter((part) => part.list === list).flatMap(({ operations }) => operations);

/** From the first to the last operation of a step on one rank. */
function spanOf(
  step: OrderedStep,
  list: number,
  times: Times | undefined,
): { readonly start: number; readonly end: number } | undefined {
  const known = operationsOf(step, list).filter((each) => !Number.isNaN(times?.end[each] ?? Number.NaN));
  if (!times || known.length === 0) return undefined;
  return {
    start: Math.min(...known.map((each) => times.start[each] ?? 0)),
    end: Math.max(...known.map((each) => times.end[each] ?? 0)),
  };
}

/** A shown GPU on its way through the steps. */
interface Walker {
  readonly rank: number;
  cursor: number;
  sent: number;
  received: number;
  busy: number;
}

interface Ground {
  readonly moves: readonly Move[];
  readonly lists: readonly ExpandedList[];
  readonly recording: Recording;
  readonly listOf: readonly number[];
  readonly times: readonly Times[];
}

/** Moves the walker over a step; answers where it is then. */
function advance(gpu: Walker, step: OrderedStep, { moves, lists, recording, listOf, times }: Ground): MeasuredGpu {
  const { rank } = gpu;
  const list = listOf[rank] ?? 0;
  const own = times[rank];
  const span = spanOf(step, list, own);
  for (const each of operationsOf(step, list)) {
    gpu.cursor = Math.max(gpu.cursor, each);
    if (lists[list]?.operations[each]?.operation.kind === 'compute')
      gpu.busy += (own?.end[each] ?? 0) - (own?.start[each] ?? 0);
  }
  for (const { from, to, bytes } of moves) {
    if (from === rank) gpu.sent += bytes;
    if (to === rank) gpu.received += bytes;
  }
  const { sent, received, busy } = gpu;
  const held = recording.held[rank]?.[Math.max(0, gpu.cursor)] ?? 0;
  return { start: span?.start, end: span?.end, sent, received, busy, held };
}

function linksOfMoves(moves: readonly Move[], gpus: readonly StageGpu[]): readonly Link[] {
  const nodes = new Map(gpus.map(({ rank, node }) => [rank, node]));
  const links = new Map<string, Link>();
  for (const { from, to, bytes } of moves) {
    if (!nodes.has(from) || !nodes.has(to)) continue;
    const key = `${from}-${to}`;
    const crosses = nodes.get(from) !== nodes.get(to);
    links.set(key, { from, to, crosses, elided: false, bytes: bytes + (links.get(key)?.bytes ?? 0) });
  }
  return [...links.values()];
}
