/** @file The graph of lists, written out for classes of ranks: each class has a copy of its list, and an exchange joins the
 * copies of all classes that its groups have members of.
 */
import { coordinateOf, rankOf } from '../mesh/index.ts';
import { type ExpandedOperation, membersOf, type Program, replayOf } from '../program/index.ts';
import type { RankClasses } from './ranks.ts';
import { listOf, type StepGraph } from './step-graph.ts';

/** The graph of classes, from that of lists. */
export function quotientGraph(lists: StepGraph, program: Program, ranks: RankClasses): StepGraph {
  const { classes } = ranks;
  const base = new Uint32Array(classes.length + 1);
  for (const [index, { list }] of classes.entries()) {
    base[index + 1] = (base[index] as number) + lengthOf(lists, list);
  }
  const count = base[classes.length] as number;
  const next = Uint32Array.from({ length: count }, (_, at) => at);
  const leader = next.slice();
  joinLists(lists, program, ranks, base, next, leader);
  joinClasses(lists, program, ranks, base, next, leader);
  return { ...copied(lists, classes, base, count), base, next, leader, classes, classOf: ranks.of };
}

const lengthOf = ({ base }: StepGraph, list: number): number => (base[list + 1] as number) - (base[list] as number);

function copied(
  lists: StepGraph,
  classes: RankClasses['classes'],
  base: Uint32Array,
  count: number,
): Pick<StepGraph, 'lists' | 'needFirst' | 'needOf' | 'needCause' | 'lane' | 'hostAnchor' | 'hostOffset'> {
  const needs = classes.reduce((sum, { list }) => {
    const [from, to] = [lists.base[list] as number, lists.base[list + 1] as number];
    return sum + (lists.needFirst[to] as number) - (lists.needFirst[from] as number);
  }, 0);
  const needFirst = new Uint32Array(count + 1);
  const needOf = new Uint32Array(needs);
  const needCause = new Uint8Array(needs);
  const lane = new Uint8Array(count);
  const hostAnchor = new Int32Array(count);
  const hostOffset = new Float64Array(count);
  let need = 0;
  classes.forEach(({ list }, index) => {
    const from = lists.base[list] as number;
    const shift = (base[index] as number) - from;
    for (let at = from; at < (lists.base[list + 1] as number); at++) {
      const to = at + shift;
      lane[to] = lists.lane[at] as number;
      const anchor = lists.hostAnchor[at] as number;
      hostAnchor[to] = anchor < 0 ? anchor : anchor + shift;
      hostOffset[to] = lists.hostOffset[at] as number;
      for (let each = lists.needFirst[at] as number; each < (lists.needFirst[at + 1] as number); each++) {
        needOf[need] = (lists.needOf[each] as number) + shift;
        needCause[need] = lists.needCause[each] as number;
        need += 1;
      }
      needFirst[to + 1] = need;
    }
  });
  const expanded = classes.map(({ list }) => lists.lists[list] as StepGraph['lists'][number]);
  return { lists: expanded, needFirst, needOf, needCause, lane, hostAnchor, hostOffset };
}

/** Exchanges between lists: for each class of the first one, the classes at the same coordinates in the others. */
function joinLists(
  lists: StepGraph,
  program: Program,
  { classes, of }: RankClasses,
  base: Uint32Array,
  next: Uint32Array,
  leader: Uint32Array,
): void {
  classes.forEach(({ list, first }, index) => {
    const coordinate = coordinateOf(program.mesh, first);
    const classIn = lists.lists.map(
      ({ list: { pipeline } }) => of[rankOf(program.mesh, { ...coordinate, pipeline })] as number,
    );
    for (let at = lists.base[list] as number; at < (lists.base[list + 1] as number); at++) {
      if (lists.leader[at] !== at || lists.next[at] === at) continue;
      const members = [at + (base[index] as number) - (lists.base[list] as number)];
      for (let member = lists.next[at] as number; member !== at; member = lists.next[member] as number) {
        const other = listOf(lists, member);
        members.push(member - (lists.base[other] as number) + (base[classIn[other] as number] as number));
      }
      join(members, next, leader);
    }
  });
}

/** Exchanges inside of one list: the classes that meet in its groups. */
function joinClasses(
  lists: StepGraph,
  program: Program,
  { classes, of }: RankClasses,
  base: Uint32Array,
  next: Uint32Array,
  leader: Uint32Array,
): void {
  const meet = new Map<string, readonly number[]>();
  const meeting = (index: number, axis: string): readonly number[] => {
    const key = `${index} ${axis}`;
    const known = meet.get(key);
    if (known !== undefined) return known;
    const first = classes[index]?.first ?? 0;
    const found = [...new Set(membersOf(program, first, axis).map((rank) => of[rank] as number))].sort(
      (one, other) => one - other,
    );
    meet.set(key, found);
    return found;
  };
  classes.forEach(({ list }, index) => {
    const { samples, sampleOf } = replayOf(lists.lists[list] as StepGraph['lists'][number]);
    for (let at = 0; at < sampleOf.length; at++) {
      const from = (lists.base[list] as number) + at;
      const { operation } = samples[sampleOf[at] as number] as ExpandedOperation;
      if (operation.kind !== 'collective' || lists.next[from] !== from) continue;
      const members = meeting(index, operation.axis);
      if (members.length > 1 && members[0] === index) {
        join(
          members.map((member) => (base[member] as number) + at),
          next,
          leader,
        );
      }
    }
  });
}

/** Makes operations one exchange. */
function join(members: readonly number[], next: Uint32Array, leader: Uint32Array): void {
  const first = Math.min(...members);
  for (const [index, member] of members.entries()) {
    next[member] = members[(index + 1) % members.length] as number;
    leader[member] = first;
  }
}
