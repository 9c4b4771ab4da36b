/** @file Which operations of different lists are one exchange: a send and its receive, and collectives whose members lie
 * along the pipeline. The k-th of a list with one tag meets the k-th of the others.
 */
import { InputError, type Issue, issue } from '../errors/index.ts';
import type { Collective, ExpandedList, ExpandedOperation, Operand, Program } from '../program/index.ts';

/** Members of exchanges as rings, and the first of each. */
export interface Meetings {
  readonly next: Uint32Array;
  readonly leader: Uint32Array;
}

/** One kind of exchange: for each list that takes part, the numbers of its operations. */
interface Tag {
  readonly name: string;
  /** Pipeline coordinates that must take part. */
  readonly members: readonly number[];
  readonly operations: Map<number, number[]>;
}

/** Throws an InputError that names every exchange that a list has and its partners have not. */
export function matchExchanges(program: Program, lists: readonly ExpandedList[], base: Uint32Array): Meetings {
  const tags = new Map<string, Tag>();
  for (const [index, list] of lists.entries()) {
    for (const expanded of list.operations) {
      const found = tagOf(program, expanded, list.list.pipeline);
      if (found === undefined) continue;
      const tag = tags.get(found.name) ?? { ...found, operations: new Map<number, number[]>() };
      tags.set(found.name, tag);
      const known = tag.operations.get(list.list.pipeline);
      const at = (base[index] as number) + expanded.index;
      if (known) known.push(at);
      else tag.operations.set(list.list.pipeline, [at]);
    }
  }
  const count = base[lists.length] as number;
  const next = Uint32Array.from({ length: count }, (_, at) => at);
  const leader = next.slice();
  const issues: Issue[] = [];
  for (const tag of tags.values()) {
    const problem = unmatched(tag, lists);
    if (problem) issues.push(problem);
    else join(tag, next, leader);
  }
  if (issues.length > 0) throw new InputError(issues);
  return { next, leader };
}

function tagOf(
  program: Program,
  expanded: ExpandedOperation,
  pipeline: number,
): Pick<Tag, 'name' | 'members'> | undefined {
  const { operation } = expanded;
  switch (operation.kind) {
    case 'send':
      return pointToPoint(pipeline, operation.peer, expanded.reads[0]);
    case 'recv':
      return pointToPoint(operation.peer, pipeline, expanded.writes[0]?.operand);
    case 'collective':
      return collectiveTag(program, operation, expanded);
    default:
      return undefined;
  }
}

const pointToPoint = (from: number, to: number, operand: Operand | undefined): Pick<Tag, 'name' | 'members'> => ({
  name: `send of ${operand?.instance.name ?? 'nothing'} from stage ${from} to stage ${to}`,
  members: [from, to],
});

/** Undefined where all members run the same list. */
function collectiveTag(
  program: Program,
  { axis, collective }: Collective,
  { reads }: ExpandedOperation,
): Pick<Tag, 'name' | 'members'> | undefined {
  const group = program.groups.find((each) => each.name === axis);
  if ((group?.along ?? axis) !== 'pipeline') return undefined;
  const [read] = reads;
  const slice = read?.slice === undefined ? '' : `.${read.slice}`;
  return {
    name: `${collective} of ${read?.instance.name ?? 'nothing'}${slice} over ${axis}`,
    members: group?.coordinates ?? program.lists.map((list) => list.pipeline),
  };
}

function unmatched(tag: Tag, lists: readonly ExpandedList[]): Issue | undefined {
  const counts = tag.members.map((member) => tag.operations.get(member)?.length ?? 0);
  const strangers = [...tag.operations.keys()].filter((pipeline) => !tag.members.includes(pipeline));
  const [first = 0] = counts;
  if (strangers.length === 0 && counts.every((count) => count === first)) return undefined;
  const nameOf = (pipeline: number): string =>
    lists.find(({ list }) => list.pipeline === pipeline)?.list.name ?? `stage ${pipeline}`;
  const has = [...tag.members, ...strangers].map(
    (pipeline) => `${nameOf(pipeline)} has it ${times(tag.operations.get(pipeline)?.length ?? 0)}`,
  );
  return issue(
    tag.name.startsWith('send') ? 'EXCHANGE_UNMATCHED' : 'COLLECTIVE_ORDER_DIFFERS',
    '',
    `an exchange does not find its partner: the ${tag.name}, where ${has.join(', ')}.`,
    'Give every member of the exchange the same number of them.',
  );
}

const times = (count: number): string => (count === 1 ? 'once' : `${count} times`);

/** Ring and leader of each occurrence. */
function join(tag: Tag, next: Uint32Array, leader: Uint32Array): void {
  const rows = tag.members.map((member) => tag.operations.get(member) ?? []);
  for (let turn = 0; turn < (rows[0]?.length ?? 0); turn++) {
    const members = rows.map((row) => row[turn] as number);
    const first = Math.min(...members);
    for (const [index, member] of members.entries()) {
      next[member] = members[(index + 1) % members.length] as number;
      leader[member] = first;
    }
  }
}
