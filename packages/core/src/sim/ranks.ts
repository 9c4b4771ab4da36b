/** @file Ranks that run alike, by colour refinement.
 *
 * Ranks begin with the colour of their list; what disturbs a rank (a slow device, a broken link) gives it a colour of its
 * own. Then every rank learns the colours of the groups that it exchanges with, until nothing changes: ranks of one colour
 * have the same times, and one of them stands for all.
 */
import { allAxes, degreeOf, rankOf, strideOf, worldSize } from '../mesh/index.ts';
import { membersOf, type Program } from '../program/index.ts';

/** Ranks with the same times. */
export interface RankClass {
  /** Index of their list. */
  readonly list: number;
  /** The lowest of them. */
  readonly first: number;
  readonly ranks: number;
}

/** All classes of a program, in order of list, then of first rank. */
export interface RankClasses {
  readonly classes: readonly RankClass[];
  /** By rank; empty where every list is one class. */
  readonly of: Uint32Array;
}

/** Every list is one class. */
export function classPerList(program: Program): RankClasses {
  const { mesh, lists } = program;
  const ranks = worldSize(mesh) / lists.length;
  return {
    classes: lists.map(({ pipeline }, list) => ({ list, first: rankOf(mesh, { pipeline }), ranks })),
    of: new Uint32Array(0),
  };
}

/** The classes where `colours` says of some ranks, by rank, that they are unlike the others of their list. */
export function rankClasses(program: Program, colours: ReadonlyMap<number, string>): RankClasses {
  if (colours.size === 0) return classPerList(program);
  const { mesh } = program;
  const listOf = listsOf(program);
  const ranks = worldSize(mesh);
  let colour = numbered(ranks, (rank) => `${listOf(rank)} ${colours.get(rank) ?? ''}`);
  const overs = [
    ...allAxes(mesh).flatMap(({ name, degree }) => (degree > 1 ? [name] : [])),
    ...program.groups.flatMap(({ name, along }) => (along === 'pipeline' ? [] : [name])),
  ];
  for (let before = 0; before < colour.count; ) {
    before = colour.count;
    for (const over of overs) colour = refined(program, over, colour.of);
  }
  const order = Array.from({ length: colour.count }, (_, at) => ({ at, list: -1, first: -1, ranks: 0 }));
  for (let rank = 0; rank < ranks; rank++) {
    const row = order[colour.of[rank] as number] as (typeof order)[number];
    if (row.ranks === 0) Object.assign(row, { list: listOf(rank), first: rank });
    row.ranks += 1;
  }
  order.sort((one, other) => one.list - other.list || one.first - other.first);
  const place = new Uint32Array(colour.count);
  order.forEach(({ at }, index) => {
    place[at] = index;
  });
  return {
    classes: order.map(({ list, first, ranks: size }) => ({ list, first, ranks: size })),
    of: colour.of.map((each) => place[each] as number),
  };
}

interface Colours {
  readonly of: Uint32Array;
  readonly count: number;
}

function numbered(ranks: number, keyOf: (rank: number) => string): Colours {
  const known = new Map<string, number>();
  const of = new Uint32Array(ranks);
  for (let rank = 0; rank < ranks; rank++) {
    const key = keyOf(rank);
    const found = known.get(key) ?? known.size;
    known.set(key, found);
    of[rank] = found;
  }
  return { of, count: known.size };
}

/** Colours split by those of the members of a rank's group over an axis or named group. Sorted: along the pipeline lists are
 * unlike anyway, elsewhere who stands where does not matter. */
function refined(program: Program, over: string, of: Uint32Array): Colours {
  const signature = new Array<string | undefined>(of.length);
  for (let rank = 0; rank < of.length; rank++) {
    if (signature[rank] !== undefined) continue;
    const members = membersOf(program, rank, over);
    const text = counted(members.map((member) => of[member] as number).sort((one, other) => one - other));
    for (const member of members) signature[member] = text;
  }
  return numbered(of.length, (rank) => `${of[rank]} ${signature[rank]}`);
}

/** A sorted row with how often each number stands in it. */
function counted(row: readonly number[]): string {
  let text = '';
  for (let from = 0; from < row.length; ) {
    let to = from;
    while (to < row.length && row[to] === row[from]) to += 1;
    text += `${row[from]}x${to - from} `;
    from = to;
  }
  return text;
}

/** Index of the list of a rank. */
export function listsOf({ mesh, lists }: Program): (rank: number) => number {
  const degree = degreeOf(mesh, 'pipeline');
  const stride = strideOf(mesh, 'pipeline');
  const byStage = new Int32Array(degree).fill(-1);
  lists.forEach(({ pipeline }, index) => {
    byStage[pipeline] = index;
  });
  return (rank) => byStage[Math.floor(rank / stride) % degree] as number;
}
