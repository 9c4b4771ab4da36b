/** @file Exchanges between lists.
 *
 * The law: every send has exactly one receive on its peer, of the same buffer (its instance name is the tag) and equal
 * bytes, and every receive one send. Between two stages, sends and receives of one kind are in one order. Members of a
 * group along the pipeline issue its collectives in one order; within a list all ranks are members alike.
 */
import type { Degrees } from '../../tensor/index.ts';
import { sentBytes } from '../bytes.ts';
import type { ExpandedList, ExpandedOperation } from '../expand.ts';
import { touchedBytes } from '../shapes.ts';
import type { Program } from '../types.ts';
import { labelOf, type Report } from './report.ts';

/** Two operations, or more, that can only run together: entries of `lists` and indices of operations. */
export interface Meeting {
  readonly members: readonly { readonly list: number; readonly index: number }[];
}

/** Reports exchanges that do not match; gives those that do. */
export function verifyExchanges(
  program: Program,
  lists: readonly ExpandedList[],
  degrees: Degrees,
  report: Report,
): readonly Meeting[] {
  return [...pairSends(lists, degrees, report), ...pairCollectives(program, lists, degrees, report)];
}

interface Side {
  readonly list: number;
  readonly operation: ExpandedOperation;
  readonly tag: string;
  readonly bytes: number;
}

/** Sends or receives of all lists, by direction, kind and both ends. */
function sidesOf(lists: readonly ExpandedList[], kind: 'send' | 'recv', degrees: Degrees): Map<string, Side[]> {
  const sides = new Map<string, Side[]>();
  for (const [list, { operations, list: rankList }] of lists.entries()) {
    for (const operation of operations) {
      const { operation: each } = operation;
      if (each.kind !== kind || (each.kind !== 'send' && each.kind !== 'recv')) continue;
      const operand = each.kind === 'send' ? operation.reads[0] : operation.writes[0]?.operand;
      if (operand === undefined) continue;
      const ends = each.kind === 'send' ? [rankList.pipeline, each.peer] : [each.peer, rankList.pipeline];
      const key = `${each.lane.split('.')[0]} ${ends.join(' ')}`;
      const side = { list, operation, tag: operand.instance.name, bytes: touchedBytes(operand, degrees) };
      sides.set(key, [...(sides.get(key) ?? []), side]);
    }
  }
  return sides;
}

function pairSends(lists: readonly ExpandedList[], degrees: Degrees, report: Report): readonly Meeting[] {
  const sends = sidesOf(lists, 'send', degrees);
  const receives = sidesOf(lists, 'recv', degrees);
  const meetings: Meeting[] = [];
  for (const key of new Set([...sends.keys(), ...receives.keys()])) {
    const out = byTag(sends.get(key) ?? []);
    const into = byTag(receives.get(key) ?? []);
    for (const tag of new Set([...out.keys(), ...into.keys()])) {
      const meeting = pairTag(lists, tag, out.get(tag) ?? [], into.get(tag) ?? [], report);
      if (meeting) meetings.push(meeting);
    }
    compareOrder(lists, sends.get(key) ?? [], receives.get(key) ?? [], report);
  }
  return meetings;
}

function byTag(sides: readonly Side[]): ReadonlyMap<string, Side[]> {
  const tags = new Map<string, Side[]>();
  for (const side of sides) tags.set(side.tag, [...(tags.get(side.tag) ?? []), side]);
  return tags;
}

function pairTag(
  lists: readonly ExpandedList[],
  tag: string,
  sends: readonly Side[],
  receives: readonly Side[],
  report: Report,
): Meeting | undefined {
  const [send] = sends;
  const [receive] = receives;
  const speaker = send ?? receive;
  if (speaker === undefined) return undefined;
  const list = nameOf(lists, speaker.list);
  if (send === undefined || receive === undefined || sends.length > 1 || receives.length > 1) {
    report.at(list, speaker.operation, {
      code: 'EXCHANGE_UNMATCHED',
      message: `${tag} is sent ${sends.length} times and received ${receives.length} times: both must be 1.`,
      hint: 'Give every send exactly one receive on its peer.',
    });
    return undefined;
  }
  if (send.bytes !== receive.bytes) {
    report.at(list, send.operation, {
      code: 'EXCHANGE_BYTES_DIFFER',
      message: `${tag} is sent with ${send.bytes} bytes: ${nameOf(lists, receive.list)} receives ${receive.bytes}.`,
      hint: 'Declare the buffer alike on both sides.',
    });
  }
  return { members: [send, receive].map((side) => ({ list: side.list, index: side.operation.index })) };
}

function compareOrder(
  lists: readonly ExpandedList[],
  sends: readonly Side[],
  receives: readonly Side[],
  report: Report,
): void {
  if (sends.length !== receives.length) return;
  const at = sends.findIndex(({ tag }, index) => tag !== receives[index]?.tag);
  const send = sends[at];
  const receive = receives[at];
  if (send === undefined || receive === undefined || !receives.some(({ tag }) => tag === send.tag)) return;
  report.at(nameOf(lists, send.list), send.operation, {
    code: 'EXCHANGE_ORDER_DIFFERS',
    message: `Exchange ${at + 1} on ${send.operation.operation.lane} sends ${send.tag}: ${nameOf(lists, receive.list)} receives ${receive.tag}.`,
    hint: 'Put the receives in the order of the sends.',
  });
}

/** Collectives whose members are in different lists: those over the pipeline and over groups along it. */
function pairCollectives(
  program: Program,
  lists: readonly ExpandedList[],
  degrees: Degrees,
  report: Report,
): readonly Meeting[] {
  const along = [
    { name: 'pipeline', coordinates: lists.map(({ list }) => list.pipeline) },
    ...program.groups.filter((group) => group.along === 'pipeline'),
  ];
  return along.flatMap(({ name, coordinates }) => {
    const members = [...lists.entries()].filter(([, { list }]) => coordinates.includes(list.pipeline));
    const issued = members.map(([list, { operations }]) => ({
      list,
      operations: operations.filter(({ operation }) => operation.kind === 'collective' && operation.axis === name),
    }));
    return pairMembers(lists, name, issued, degrees, report);
  });
}

interface Issued {
  readonly list: number;
  readonly operations: readonly ExpandedOperation[];
}

function pairMembers(
  lists: readonly ExpandedList[],
  axis: string,
  issued: readonly Issued[],
  degrees: Degrees,
  report: Report,
): readonly Meeting[] {
  const [leader, ...others] = issued;
  if (leader === undefined) return [];
  const signature = (operation: ExpandedOperation | undefined): string =>
    operation === undefined
      ? 'nothing'
      : `${labelOf(operation.operation)} of ${operation.reads[0]?.instance.name} (${sentBytes(operation, degrees)} bytes)`;
  for (const other of others) {
    const length = Math.max(leader.operations.length, other.operations.length);
    for (let at = 0; at < length; at++) {
      const mine = leader.operations[at];
      const theirs = other.operations[at];
      if (signature(mine) === signature(theirs)) continue;
      const [speaker, place] = mine ? [mine, leader.list] : [theirs, other.list];
      if (speaker === undefined) continue;
      report.at(nameOf(lists, place), speaker, {
        code: 'COLLECTIVE_ORDER_DIFFERS',
        message: `Collective ${at + 1} over ${axis} is ${signature(mine)} in ${nameOf(lists, leader.list)}: in ${nameOf(lists, other.list)} it is ${signature(theirs)}.`,
        hint: 'Let every member issue the same collectives in the same order.',
      });
      return [];
    }
  }
  return leader.operations.map((_, at) => ({
    members: issued.flatMap(({ list, operations }) => {
      const index = operations[at]?.index;
      return index === undefined ? [] : [{ list, index }];
    }),
  }));
}

const nameOf = (lists: readonly ExpandedList[], index: number): string => lists[index]?.list.name ?? '';
