/** @file Which operations of different lists are one exchange: a send and its receive, and collectives whose members lie
 * along the pipeline. The k-th of a list with one tag meets the k-th of the others.
 */
import { InputError, type Issue, issue } from '../errors/index.ts';
import {
  type Collective,
  type ExpandedList,
  type ExpandedOperation,
  type Operand,
  type Program,
  type Replay,
  type Turns,
  tagOfInstance,
  turnsOf,
} from '../program/index.ts';

/** Members of exchanges as rings, and the first of each, by number of turn through all lists. */
export interface Meetings {
  /** By list. */
  readonly turns: readonly Turns[];
  /** Number of the first turn of each list; one more entry at the end. */
  readonly base: Uint32Array;
  readonly next: Uint32Array;
  readonly leader: Uint32Array;
}

/** Exchanges of one kind, between the same lists, of one buffer in all its micro-batches. */
interface Family {
  readonly nameOf: (buffer: string) => string;
  readonly bufferOf: (number: number) => string;
  /** Pipeline coordinates that must take part. */
  readonly members: readonly number[];
  /** By pipeline coordinate: what that list does, in order. */
  readonly rows: Map<number, Row>;
}

/** Numbers of buffers, and the turns that move them. */
interface Row {
  readonly numbers: number[];
  readonly turns: number[];
}

/** By pipeline coordinate: the turns of that list with the tag, in order. */
type Tag = Map<number, number[]>;

/** Throws an InputError that names every exchange that a list has and its partners have not. */
export function matchExchanges(program: Program, lists: readonly ExpandedList[]): Meetings {
  const turns = lists.map(turnsOf);
  const base = summed(turns.map(({ length }) => length));
  const families = new Map<string, Family>();
  for (const [index, list] of lists.entries()) {
    addTags(program, list, turns[index] as Turns, base[index] as number, families);
  }
  const count = base[lists.length] as number;
  const next = numbered(count);
  const leader = next.slice();
  const problems: { readonly first: number; readonly issue: Issue }[] = [];
  for (const family of families.values()) {
    const rows = alignedRows(family);
    if (rows) {
      join(rows, next, leader);
      continue;
    }
    for (const [number, tag] of tagsOf(family)) {
      const problem = unmatched(family, number, tag, lists);
      if (problem) problems.push({ first: Math.min(...[...tag.values()].flat()), issue: problem });
      else
        join(
          family.members.map((member) => tag.get(member) as readonly number[]),
          next,
          leader,
        );
    }
  }
  if (problems.length > 0) {
    throw new InputError(problems.sort((one, other) => one.first - other.first).map((each) => each.issue));
  }
  return { turns, base, next, leader };
}

/** Numbers of the first operations of lists; one more entry at the end. */
export const operationBases = ({ turns }: Pick<Meetings, 'turns'>): Uint32Array =>
  summed(turns.map(({ first, length }) => first[length] as number));

/** Sums of all that came before; one more entry at the end. */
export function summed(counts: readonly number[]): Uint32Array {
  const sums = new Uint32Array(counts.length + 1);
  for (const [index, count] of counts.entries()) sums[index + 1] = (sums[index] as number) + count;
  return sums;
}

function numbered(count: number): Uint32Array {
  const numbers = new Uint32Array(count);
  for (let at = 0; at < count; at++) numbers[at] = at;
  return numbers;
}

/** How operations of one sample are tagged: by what they move of their buffer, from the memory that they touch. */
interface SampleTag {
  readonly family: Family;
  /** The number in the name of the buffer less the number of its memory; undefined where names do not follow from it. */
  readonly shift: number | undefined;
}

function addTags(
  program: Program,
  expanded: ExpandedList,
  turns: Turns,
  base: number,
  families: Map<string, Family>,
): void {
  const { rows, stepOf, rowOf, shiftOf, first } = turns;
  const pipeline = expanded.list.pipeline;
  const known: (SampleTag | null | undefined)[] = [];
  for (const turn of movingTurns(turns)) {
    const at = rowOf[turn] as number;
    const sample = rows.sampleOf[at] as number;
    let tag = known[sample];
    if (tag === undefined) {
      tag = sampleTag(program, rows, at, pipeline, families) ?? null;
      known[sample] = tag;
    }
    if (tag === null) continue;
    let { family } = tag;
    let number = 0;
    if (tag.shift !== undefined) {
      const operand = rows.operandFirst[at] as number;
      const further = stepOf[operand] === 0 ? 0 : (shiftOf[turn] as number);
      number = (rows.operands[operand] as number) + further + tag.shift;
    } else {
      const own = familyOf(
        program,
        expanded.operations[first[turn] as number] as ExpandedOperation,
        pipeline,
        families,
      );
      if (own === undefined) continue;
      family = own.family;
      number = own.number;
    }
    let row = family.rows.get(pipeline);
    if (row === undefined) {
      row = { numbers: [], turns: [] };
      family.rows.set(pipeline, row);
    }
    row.numbers.push(number);
    row.turns.push(base + turn);
  }
}

/** Sends, receives and collectives of a list that are turns by themselves, in order: no others meet other lists. */
function movingTurns({ rows: { samples, sampleOf }, rowOf, first, length }: Turns): Uint32Array {
  const moves = Uint8Array.from(samples, ({ operation: { kind } }) =>
    kind === 'send' || kind === 'recv' || kind === 'collective' ? 1 : 0,
  );
  const found = new Uint32Array(length);
  let count = 0;
  for (let turn = 0; turn < length; turn++) {
    if ((first[turn + 1] as number) - (first[turn] as number) > 1) continue;
    if (moves[sampleOf[rowOf[turn] as number] as number] === 1) found[count++] = turn;
  }
  return found.subarray(0, count);
}

/** The turns of all members where each moves the same buffers in the same order, as schedules do: then the k-th of one
 * meets the k-th of the others. */
function alignedRows({ members, rows }: Family): readonly (readonly number[])[] | undefined {
  if (rows.size !== members.length) return undefined;
  const [first, ...others] = members.map((member) => rows.get(member));
  if (first === undefined) return undefined;
  const { numbers } = first;
  const alike = (row: Row | undefined): row is Row => row !== undefined && areEqual(row.numbers, numbers);
  return others.every(alike) ? [first, ...others].map((row) => row.turns) : undefined;
}

function areEqual(one: readonly number[], other: readonly number[]): boolean {
  if (one.length !== other.length) return false;
  for (let at = 0; at < one.length; at++) if (one[at] !== other[at]) return false;
  return true;
}

/** By number of the buffer: its tag. */
function tagsOf({ rows }: Family): ReadonlyMap<number, Tag> {
  const tags = new Map<number, Tag>();
  for (const [pipeline, { numbers, turns }] of rows) {
    numbers.forEach((number, at) => {
      const tag = tags.get(number) ?? new Map<number, number[]>();
      tags.set(number, tag);
      const mine = tag.get(pipeline) ?? [];
      mine.push(turns[at] as number);
      tag.set(pipeline, mine);
    });
  }
  return tags;
}

function sampleTag(
  program: Program,
  replay: Replay,
  index: number,
  pipeline: number,
  families: Map<string, Family>,
): SampleTag | undefined {
  const found = familyOf(
    program,
    replay.samples[replay.sampleOf[index] as number] as ExpandedOperation,
    pipeline,
    families,
  );
  if (found === undefined) return undefined;
  const memory = replay.operands[replay.operandFirst[index] as number] ?? 0;
  return { family: found.family, shift: found.each === 'copy' ? undefined : found.number - memory };
}

interface Found {
  readonly family: Family;
  readonly number: number;
  readonly each: 'micro-batch' | 'copy' | 'period';
}

/** Undefined where all members run the same list, and for what is no exchange. */
function familyOf(
  program: Program,
  { operation, reads, writes }: ExpandedOperation,
  pipeline: number,
  families: Map<string, Family>,
): Found | undefined {
  switch (operation.kind) {
    case 'send':
      return pointToPoint(pipeline, operation.peer, reads[0], families);
    case 'recv':
      return pointToPoint(operation.peer, pipeline, writes[0]?.operand, families);
    case 'collective':
      return collectiveFamily(program, operation, reads[0], families);
    default:
      return undefined;
  }
}

const pointToPoint = (from: number, to: number, operand: Operand | undefined, families: Map<string, Family>): Found =>
  found(families, 'send', operand, [from, to], (buffer) => `send of ${buffer} from stage ${from} to stage ${to}`);

function collectiveFamily(
  program: Program,
  { axis, collective }: Collective,
  read: Operand | undefined,
  families: Map<string, Family>,
): Found | undefined {
  const group = program.groups.find((each) => each.name === axis);
  if ((group?.along ?? axis) !== 'pipeline') return undefined;
  const slice = read?.slice === undefined ? '' : `.${read.slice}`;
  const members = group?.coordinates ?? program.lists.map((list) => list.pipeline);
  return found(families, collective, read, members, (buffer) => `${collective} of ${buffer}${slice} over ${axis}`);
}

function found(
  families: Map<string, Family>,
  kind: string,
  operand: Operand | undefined,
  members: readonly number[],
  nameOf: Family['nameOf'],
): Found {
  const { text, number, each } = tagOfInstance(operand?.instance.name ?? 'nothing');
  const key = `${kind} ${nameOf(text)}`;
  let family = families.get(key);
  if (family === undefined) {
    const bufferOf = (own: number): string =>
      each === 'period' ? text : `${text}${own}${each === 'micro-batch' ? ']' : ''}`;
    family = { nameOf, bufferOf, members, rows: new Map() };
    families.set(key, family);
  }
  return { family, number, each };
}

function unmatched(
  { nameOf, bufferOf, members }: Family,
  number: number,
  tag: Tag,
  lists: readonly ExpandedList[],
): Issue | undefined {
  const first = tag.get(members[0] as number)?.length ?? 0;
  if (tag.size === members.length && members.every((member) => tag.get(member)?.length === first)) return undefined;
  const strangers = [...tag.keys()].filter((pipeline) => !members.includes(pipeline));
  const counts = members.map((member) => tag.get(member)?.length ?? 0);
  if (strangers.length === 0 && counts.every((count) => count === first)) return undefined;
  const listName = (pipeline: number): string =>
    lists.find(({ list }) => list.pipeline === pipeline)?.list.name ?? `stage ${pipeline}`;
  const has = [...members, ...strangers].map(
    (pipeline) => `${listName(pipeline)} has it ${times(tag.get(pipeline)?.length ?? 0)}`,
  );
  const name = nameOf(bufferOf(number));
  return issue(
    name.startsWith('send') ? 'EXCHANGE_UNMATCHED' : 'COLLECTIVE_ORDER_DIFFERS',
    '',
    `an exchange does not find its partner: the ${name}, where ${has.join(', ')}.`,
    'Give every member of the exchange the same number of them.',
  );
}

const times = (count: number): string => (count === 1 ? 'once' : `${count} times`);

/** Ring and leader of each occurrence; a row for each member. */
function join(rows: readonly (readonly number[])[], next: Uint32Array, leader: Uint32Array): void {
  for (let turn = 0; turn < (rows[0]?.length ?? 0); turn++) {
    let first = Number.POSITIVE_INFINITY;
    for (const row of rows) first = Math.min(first, row[turn] as number);
    for (let at = 0; at < rows.length; at++) {
      const member = rows[at]?.[turn] as number;
      next[member] = rows[(at + 1) % rows.length]?.[turn] as number;
      leader[member] = first;
    }
  }
}
