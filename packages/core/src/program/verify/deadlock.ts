/** @file No deadlock on in-order lanes.
 *
 * The law: an operation starts when the one before it on its lane has ended, what it reads is written and what it
 * overwrites is read, and what it needs has ended; a collective, a send and a receive start together with their other
 * members; behind a wait and behind work of the host nothing starts before it has ended. If some order of starts runs
 * all operations, every order does (lanes and matches are fixed), so durations do not matter: nothing may wait for
 * itself in a circle. Ranks of one list are alike, so one of them stands for all.
 */
import { dependenciesOf, holdsHost, queueOf } from '../dependencies.ts';
import type { ExpandedList, ExpandedOperation } from '../expand.ts';
import type { Meeting } from './exchanges.ts';
import { labelOf, type Report } from './report.ts';

/** Operations of all lists as numbers; those that start together share one. */
interface Graph {
  readonly size: number;
  /** One operation that a number stands for, and its list. */
  readonly speakers: readonly { readonly list: string; readonly operation: ExpandedOperation }[];
  readonly numberOf: Uint32Array;
  readonly before: readonly (readonly number[])[];
}

/** Reports one circle of operations that wait for each other, if there is one. */
export function verifyDeadlock(lists: readonly ExpandedList[], meetings: readonly Meeting[], report: Report): void {
  const graph = buildGraph(lists, meetings);
  const ended = run(graph);
  const stuck = ended.indexOf(0);
  if (stuck < 0) return;
  const circle = circleFrom(graph, stuck, ended);
  const [head] = circle;
  const speaker = head === undefined ? undefined : graph.speakers[head];
  if (speaker === undefined) return;
  const words = circle.map((number) => lineWords(lists, graph, number));
  const lines = words.filter((line, index) => index === 0 || line !== words[index - 1]);
  report.at(speaker.list, speaker.operation, {
    code: 'DEADLOCK',
    message: `${lines.length} lines wait in a circle: ${[...lines, lines[0]].join(' waits for ')}.`,
    hint: 'Move what is waited for in front of what waits on its lane.',
  });
}

/** The line that an operation belongs to: `P0:9 send x1[1]`, `P1:10 F.layer`. */
function lineWords(lists: readonly ExpandedList[], graph: Graph, number: number): string {
  const speaker = graph.speakers[number];
  if (speaker === undefined) return '';
  const { list, operation } = speaker;
  const line = lists.find((each) => each.list.name === list)?.list.items[operation.item - 1];
  return `${list}:${operation.item} ${line?.kind === 'call' ? line.template : labelOf(operation.operation)}`;
}

function buildGraph(lists: readonly ExpandedList[], meetings: readonly Meeting[]): Graph {
  const offsets: number[] = [];
  let size = 0;
  for (const { operations } of lists) {
    offsets.push(size);
    size += operations.length;
  }
  const numberOf = Uint32Array.from({ length: size }, (_, index) => index);
  for (const { members } of meetings) {
    const [first] = members.map(({ list, index }) => (offsets[list] ?? 0) + index);
    for (const { list, index } of members) numberOf[(offsets[list] ?? 0) + index] = first ?? 0;
  }
  const before: number[][] = Array.from({ length: size }, () => []);
  lists.forEach((list, position) => {
    addEdges(list, offsets[position] ?? 0, numberOf, before);
  });
  const speakers = lists.flatMap(({ list, operations }) =>
    operations.map((operation) => ({ list: list.name, operation })),
  );
  return { size, speakers, numberOf, before };
}

function addEdges(list: ExpandedList, offset: number, numberOf: Uint32Array, before: number[][]): void {
  const { starts, targets } = dependenciesOf(list);
  const ends = new Map<string, number>();
  let anchor: number | undefined;
  for (const { index, operation } of list.operations) {
    const own = before[numberOf[offset + index] ?? 0];
    const add = (earlier: number | undefined): void => {
      if (earlier !== undefined) own?.push(numberOf[offset + earlier] ?? 0);
    };
    for (let at = starts[index] ?? 0; at < (starts[index + 1] ?? 0); at++) add(targets[at]);
    const queue = queueOf(operation);
    add(ends.get(queue));
    add(anchor);
    ends.set(queue, index);
    if (holdsHost(operation)) anchor = index;
  }
}

/** Runs everything that can run; 1 where an operation ended. */
function run({ size, numberOf, before }: Graph): Uint8Array {
  const after: number[][] = Array.from({ length: size }, () => []);
  const missing = new Uint32Array(size);
  before.forEach((earlier, number) => {
    missing[number] = earlier.length;
    for (const each of earlier) after[each]?.push(number);
  });
  const ended = new Uint8Array(size);
  const ready: number[] = [];
  numberOf.forEach((number, index) => {
    if (number !== index) ended[index] = 1;
    else if (missing[index] === 0) ready.push(index);
  });
  for (let number = ready.pop(); number !== undefined; number = ready.pop()) {
    ended[number] = 1;
    for (const each of after[number] ?? []) {
      missing[each] = (missing[each] ?? 0) - 1;
      if (missing[each] === 0) ready.push(each);
    }
  }
  return ended;
}

/** Follows what waits for what until it comes round. */
function circleFrom({ before }: Graph, stuck: number, ended: Uint8Array): readonly number[] {
  const path: number[] = [];
  const seen = new Map<number, number>();
  let number: number | undefined = stuck;
  while (number !== undefined && !seen.has(number)) {
    seen.set(number, path.length);
    path.push(number);
    number = before[number]?.find((each) => ended[each] === 0);
  }
  return number === undefined ? path : path.slice(seen.get(number));
}
