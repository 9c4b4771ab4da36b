/** @file Which lane of a list has links to itself, and up to which turn. As in `settled.ts`, but what else uses them (its guests)
 * is not followed over all that it waits for: whether what came before is over by then is seen when it begins.
 */

import type { Turns } from '../../program/index.ts';
import type { Demand } from '../contention.ts';
import { laneNames } from '../lanes.ts';
import type { Meetings } from '../match.ts';
import { listOf, visitMembers } from '../step-graph.ts';
import { NOBODY } from './settled.ts';

/** What one sample of a list asks, or its meetings with others: those have no sample. */
export interface Asked {
  readonly demand: number;
  readonly times: number;
  /** The lane of the list on which such exchanges follow one another; NOBODY where they may overlap. */
  readonly queue: number;
  readonly list: number;
  readonly sample: number;
  /** The last turn in which it stands among others; NOBODY where it never does. */
  readonly lastAmong: number;
}

/** A lane that has its links to itself until guests come: it has to be free when the first of them begins. Turns are numbered
 * through all lists. */
export interface Guard {
  readonly list: number;
  readonly lane: number;
  /** Its turns below this have the links to themselves. */
  limit: number;
  /** When they are over, and when the first guest began. */
  over: number;
  since: number;
}

export interface TurnHosts {
  /** The turn of its list from which on an exchange is an event; Infinity where it has its links to itself throughout. */
  limitOf(asked: Asked): number;
  readonly guards: readonly Guard[];
  guardsOf(list: number): readonly Guard[];
  /** The guards that an exchange has to find over. */
  guestOf(leader: number): readonly Guard[];
}

/** `demandOf`: by turn, of meetings. */
export function hostsOf(
  asked: readonly Asked[],
  demands: readonly Demand[],
  links: number,
  meetings: Meetings,
  demandOf: Int32Array,
): TurnHosts {
  const host = mainQueues(asked, demands, links);
  const guests = createGuests(host, meetings);
  const guestLinks = (demand: number, queue: number): readonly number[] =>
    [...(demands[demand] as Demand).classes].filter((link) => host[link] !== NOBODY && host[link] !== queue);
  const meetLinks = new Map<number, readonly number[]>();
  for (const { demand, queue, list, sample } of asked) {
    const used = guestLinks(demand, queue);
    if (sample === NOBODY) meetLinks.set(demand, used);
    else if (used.length > 0) for (const turn of turnsOfSample(meetings, list, sample)) guests.add(used, [turn]);
  }
  for (let at = 0; at < demandOf.length; at++) {
    const used = meetLinks.get(demandOf[at] as number) ?? [];
    if (used.length === 0) continue;
    const members: number[] = [];
    visitMembers(meetings, at, (member) => members.push(member));
    guests.add(used, members);
  }
  const guards = guests.finish();
  const byList = meetings.turns.map((_, list) => guards.filter((guard) => guard.list === list));
  return {
    guards,
    guardsOf: (list) => byList[list] ?? [],
    guestOf: (leader) => guests.byLeader.get(leader) ?? [],
    limitOf: ({ demand, queue }) => {
      let last = queue === NOBODY ? -1 : Number.POSITIVE_INFINITY;
      for (const link of (demands[demand] as Demand).classes) {
        last = Math.min(last, host[link] === queue ? (guests.limit[link] as number) : -1);
      }
      return last;
    },
  };
}

/** By class of links: the queue that uses it most often. */
function mainQueues(asked: readonly Asked[], demands: readonly Demand[], links: number): Int32Array {
  const host = new Int32Array(links).fill(NOBODY);
  const most = new Float64Array(links);
  for (const { demand, queue, times } of asked) {
    if (queue === NOBODY) continue;
    for (const link of (demands[demand] as Demand).classes) {
      if (times <= (most[link] as number)) continue;
      most[link] = times;
      host[link] = queue;
    }
  }
  return host;
}

/** Exchanges that use links of which another queue is host. */
function createGuests(host: Int32Array, { base }: Meetings) {
  /** By link: the turn, in its list, from which on the host is not alone. */
  const limit = new Float64Array(host.length).fill(Number.POSITIVE_INFINITY);
  const byLeader = new Map<number, Guard[]>();
  const guards = new Map<number, Guard>();
  const guardOf = (main: number): Guard => {
    const list = Math.floor(main / laneNames.length);
    const made = { list, lane: main % laneNames.length, limit: 0, over: 0, since: Number.POSITIVE_INFINITY };
    const guard = guards.get(main) ?? made;
    guards.set(main, guard);
    return guard;
  };
  return {
    limit,
    byLeader,
    /** The members of one exchange, its leader first: the one in the list of the host says where the host is no longer alone. */
    add: (links: readonly number[], members: readonly number[]): void => {
      const leader = members[0] as number;
      const row = byLeader.get(leader) ?? [];
      byLeader.set(leader, row);
      for (const link of links) {
        const guard = guardOf(host[link] as number);
        const own = members.find((member) => listOf({ base }, member) === guard.list);
        limit[link] = Math.min(limit[link] as number, own === undefined ? -1 : own - (base[guard.list] as number));
        if (!row.includes(guard)) row.push(guard);
      }
    },
    /** All guards, with the latest turn up to which any of their links is theirs alone. */
    finish: (): readonly Guard[] => {
      host.forEach((main, link) => {
        const guard = guards.get(main);
        const last = limit[link] as number;
        if (guard !== undefined && last >= 0 && last < Infinity) {
          guard.limit = Math.max(guard.limit, last + (base[guard.list] as number));
        }
      });
      return [...guards.values()];
    },
  };
}

/** The turns of one operation that are like a sample; one that stands among others is no event anyway. */
function turnsOfSample({ turns, base }: Meetings, list: number, sample: number): readonly number[] {
  const { rows, rowOf, formOf, length } = turns[list] as Turns;
  const found: number[] = [];
  for (let turn = 0; turn < length; turn++) {
    if (formOf[turn] === 0 && rows.sampleOf[rowOf[turn] as number] === sample)
      found.push((base[list] as number) + turn);
  }
  return found;
}
