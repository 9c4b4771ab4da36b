/** @file What traces are written from: a program, its timeline, and the ranks to show.
 *
 * Ranks of one list run alike, so a simulated timeline has one rank for each list. A trace may show just these, or every
 * rank: the slices of a list are then repeated while they are written, never held.
 */
import { coordinateOf, rankOf, worldSize } from '../mesh/index.ts';
import type { ExpandedList, Operation, Program } from '../program/index.ts';
import type { Timeline } from '../timeline/index.ts';

/** A rank that a trace shows. */
export interface TracedRank {
  readonly rank: number;
  /** The node that it runs on. */
  readonly host: number;
  /** Index of its list. */
  readonly list: number;
  /** The rank of the timeline whose times it has. */
  readonly timedAs: number;
}

/** One step to be written as a trace. */
export interface TracedStep {
  readonly program: Program;
  /** The lists of the program, expanded, in its order. */
  readonly lists: readonly ExpandedList[];
  readonly timeline: Timeline;
  readonly ranks: readonly TracedRank[];
  /** Names of links by axis, for labels. */
  readonly links?: Readonly<Record<string, string>>;
}

/** Ranks that have the same times: what a simulation with slow devices or links tells apart. */
export interface TimedClasses {
  readonly classes: readonly { readonly list: number; readonly first: number }[];
  /** Class of each rank; empty where every list is one class. */
  readonly classOf: Uint32Array;
}

/** Which ranks of a simulated step to show: every one, or the first of each list (of each class of ranks). */
export function tracedRanks(
  program: Program,
  which: 'all' | 'one-per-list',
  ranksPerHost: number,
  timed?: TimedClasses,
): TracedRank[] {
  const { mesh, lists } = program;
  const classes = timed?.classes ?? lists.map(({ pipeline }, list) => ({ list, first: rankOf(mesh, { pipeline }) }));
  const traced = (rank: number, index: number): TracedRank => ({
    rank,
    host: Math.floor(rank / ranksPerHost),
    list: classes[index]?.list ?? 0,
    timedAs: classes[index]?.first ?? rank,
  });
  if (which === 'one-per-list') return classes.map(({ first }, index) => traced(first, index));
  const listOf = new Map(lists.map(({ pipeline }, list) => [pipeline, list]));
  return Array.from({ length: worldSize(mesh) }, (_, rank) =>
    traced(rank, timed?.classOf[rank] ?? listOf.get(coordinateOf(mesh, rank).pipeline) ?? 0),
  );
}

/** Slices of one rank that follow each other, as indices into the timeline. */
export interface Track {
  readonly lane: string;
  /** A lane whose slices overlap (one queue for each peer) takes several tracks. */
  readonly number: number;
  readonly slices: readonly number[];
}

/** The tracks of each rank of the timeline, lanes in the timeline's order. Marks and lifetimes are left out. */
export function tracksOf({ timeline, lists, ranks }: TracedStep): ReadonlyMap<number, readonly Track[]> {
  const listOf = new Map(ranks.map(({ timedAs, list }) => [timedAs, lists[list]]));
  const lanes = new Map<number, number[][][]>();
  for (const rank of listOf.keys()) lanes.set(rank, []);
  for (let index = 0; index < timeline.length; index++) {
    const rank = timeline.rank[index] as number;
    const operation = listOf.get(rank)?.operations[timeline.operation[index] as number]?.operation;
    if (operation === undefined || takesNoTime(operation)) continue;
    const tracks = lanes.get(rank) as number[][][];
    const lane = timeline.lane[index] as number;
    tracks[lane] ??= [];
    freeTrack(tracks[lane], timeline, index).push(index);
  }
  const named = (tracks: number[][][]): Track[] =>
    tracks.flatMap((found, lane) =>
      found.map((slices, number): Track => ({ lane: timeline.lanes[lane] ?? '', number: number + 1, slices })),
    );
  return new Map([...lanes].map(([rank, tracks]) => [rank, named(tracks)]));
}

/** The first track on which nothing runs any more. */
function freeTrack(tracks: number[][], timeline: Timeline, index: number): number[] {
  const start = timeline.start[index] as number;
  for (const track of tracks) if ((timeline.end[track.at(-1) as number] as number) <= start) return track;
  const added: number[] = [];
  tracks.push(added);
  return added;
}

/** Marks and lifetimes stand where the host passes them. */
export const takesNoTime = ({ kind }: Operation): boolean => kind === 'mark' || kind === 'alloc' || kind === 'free';

/** Nanoseconds by index of operation, for one rank of the timeline. */
export interface OperationTimes {
  readonly start: Float64Array;
  readonly end: Float64Array;
}

/** Times of the operations of each rank that is timed. */
export function timesOf({ timeline, lists, ranks }: TracedStep): ReadonlyMap<number, OperationTimes> {
  const times = new Map<number, OperationTimes>();
  for (const { timedAs, list } of ranks) {
    const length = lists[list]?.operations.length ?? 0;
    if (!times.has(timedAs)) times.set(timedAs, { start: new Float64Array(length), end: new Float64Array(length) });
  }
  for (let index = 0; index < timeline.length; index++) {
    const found = times.get(timeline.rank[index] as number);
    if (found === undefined) continue;
    const operation = timeline.operation[index] as number;
    found.start[operation] = timeline.start[index] as number;
    found.end[operation] = timeline.end[index] as number;
  }
  return times;
}

/** The rank that stands where `rank` stands, but on another stage. */
export const rankOnStage = ({ mesh }: Program, rank: number, pipeline: number): number =>
  rankOf(mesh, { ...coordinateOf(mesh, rank), pipeline });

/** A number for a send and its receive, the same on both ranks and on no others: the pair and the place in the stage. */
export const flowNumber = (program: Program, { rank }: TracedRank, pair: number): number =>
  pair * worldSize(program.mesh) + rankOnStage(program, rank, 0) + 1;
