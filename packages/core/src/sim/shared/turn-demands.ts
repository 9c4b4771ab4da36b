/** @file What the exchanges of turns ask of the links, and which of them end a known time after they begin: by sample, for an
 * exchange inside of one list, and by turn where lists meet.
 */
import type { NetworkBuilder, Prices } from '../../cost/index.ts';
import type { ExpandedList, ExpandedOperation, Program, Turns } from '../../program/index.ts';
import { type Contention, createDemands, type Demand, type Demands, type Joins, NOTHING } from '../contention.ts';
import { laneCode, laneNames } from '../lanes.ts';
import type { Meetings } from '../match.ts';
import { secondsOfAll } from '../place.ts';
import type { RankClasses } from '../ranks.ts';
import { listOf } from '../step-graph.ts';
import type { OperationPrices } from '../types.ts';
import { rateAlone } from './fill.ts';
import { isSerial, NOBODY } from './settled.ts';
import { type Asked, hostsOf, type TurnHosts } from './turn-hosts.ts';

/** Of the exchanges of a step. */
export interface TurnDemands extends Pick<Contention, 'demands' | 'links'> {
  /** By turn: the demand of what runs as an event; -1 for all other turns, and for what crosses no link. */
  readonly demandOf: Int32Array;
  /** By list and sample: seconds, on links alone where it is no event. */
  readonly seconds: readonly Float64Array[];
  /** By demand: how often it comes in a step, and the seconds of those that are no events, all together. */
  readonly times: Uint32Array;
  readonly carried: Float64Array;
  /** Begins and ends of what crosses links and is no event. */
  readonly flowEvents: number;
  /** What has to hold for exchanges to have been alone on their links. */
  readonly hosts: TurnHosts;
}

/** Undefined where an exchange inside of a turn is an event: then turns cannot be placed as a whole. */
export function turnDemands(
  program: Program,
  lists: readonly ExpandedList[],
  meetings: Meetings,
  pricing: OperationPrices,
  setting: { readonly ranks: RankClasses; readonly prices: Prices; readonly network: NetworkBuilder },
): TurnDemands | undefined {
  const { ranks, prices, network } = setting;
  const graph: Joins = { lists, classes: ranks.classes, base: meetings.base, next: meetings.next };
  const asking = createDemands(program, graph, ranks, prices, network);
  const demandOf = new Int32Array(meetings.next.length).fill(NOTHING);
  const asked = meetings.turns.flatMap((turns, index) => askedBy(turns, index, meetings, asking.at, demandOf));
  const { demands, links } = asking.all();
  const hosts = hostsOf(asked, demands, links.length, meetings, demandOf);
  const seconds = lists.map(({ list }, index) =>
    secondsOfAll((meetings.turns[index] as Turns).rows.samples, list, index, pricing),
  );
  const times = new Uint32Array(demands.length);
  const carried = new Float64Array(demands.length);
  let flowEvents = 0;
  for (const each of asked) {
    const { demand, list, sample } = each;
    times[demand] = (times[demand] as number) + each.times;
    if (sample === NOBODY) continue;
    const own = seconds[list] as Float64Array;
    const alone = own[sample] as number;
    if (alone === 0) continue;
    const limit = hosts.limitOf(each);
    const taken = limit < 0 ? alone : alone / rateAlone({ links }, demands[demand] as Demand, alone);
    const events = asEvents(meetings.turns[list] as Turns, meetings.base[list] as number, each, limit, demandOf);
    if (events === undefined || (events > 0 && taken !== alone)) return undefined;
    own[sample] = taken;
    carried[demand] = (carried[demand] as number) + taken * (each.times - events);
    flowEvents += 2 * (each.times - events);
  }
  return { demands, links, demandOf, seconds, times, carried, flowEvents, hosts };
}

/** How often each sample comes that meets nobody, and each demand of meetings; these are written to `demandOf`. */
function askedBy(
  turns: Turns,
  index: number,
  meetings: Meetings,
  demandAt: Demands['at'],
  demandOf: Int32Array,
): readonly Asked[] {
  const { rows, length } = turns;
  const base = meetings.base[index] as number;
  const meets = new Map<number, number>();
  const demandOfMeeting = rememberedMeetings(meetings, rows, index, demandAt);
  for (let turn = 0; turn < length; turn++) {
    const at = base + turn;
    if (meetings.next[at] === at || meetings.leader[at] !== at) continue;
    const demand = demandOfMeeting(at, rows.sampleOf[turns.rowOf[turn] as number] as number);
    demandOf[at] = demand;
    if (demand >= 0) meets.set(demand, (meets.get(demand) ?? 0) + 1);
  }
  const own = { queue: NOBODY, list: index, sample: NOBODY, lastAmong: NOBODY };
  const asked: Asked[] = [...meets].map(([demand, times]) => ({ ...own, demand, times }));
  const { times, turnOf, lastAmong } = ownSamples(turns, base, meetings.next);
  for (const [sample, expanded] of rows.samples.entries()) {
    if (times[sample] === 0) continue;
    const demand = demandAt(index, turnOf[sample] as number, expanded);
    if (demand < 0) continue;
    const lane = laneCode(expanded.operation);
    const queue = isSerial[lane] === true ? index * laneNames.length + lane : NOBODY;
    const last = { lastAmong: lastAmong[sample] as number };
    asked.push({ demand, times: times[sample] as number, queue, list: index, sample, ...last });
  }
  return asked;
}

/** Whom a meeting of two joins follows from the sample and the other list. */
function rememberedMeetings(
  { base, next }: Meetings,
  { samples }: Turns['rows'],
  index: number,
  demandAt: Demands['at'],
): (at: number, sample: number) => number {
  const known = new Map<number, number>();
  return (at, sample) => {
    const expanded = samples[sample] as ExpandedOperation;
    const other = next[at] as number;
    if (next[other] !== at) return demandAt(index, at, expanded);
    const key = listOf({ base }, other) * samples.length + sample;
    const found = known.get(key) ?? demandAt(index, at, expanded);
    known.set(key, found);
    return found;
  };
}

/** By sample, of turns that meet nobody: how many operations are like it, and the last turn in which one stands among others; -1
 * where none does. */
function ownSamples({ rows, rowOf, first, formOf, length }: Turns, base: number, next: Uint32Array) {
  const rowTimes = new Uint32Array(rows.length);
  const rowTurn = new Uint32Array(rows.length);
  for (let turn = 0; turn < length; turn++) {
    if (next[base + turn] !== base + turn) continue;
    const row = rowOf[turn] as number;
    rowTimes[row] = (rowTimes[row] as number) + 1;
    rowTurn[row] = turn;
  }
  const times = new Uint32Array(rows.samples.length);
  const lastAmong = new Int32Array(rows.samples.length).fill(-1);
  const turnOf = new Uint32Array(rows.samples.length);
  for (let row = 0; row < rows.length; row++) {
    if (rowTimes[row] === 0) continue;
    const turn = rowTurn[row] as number;
    const size = (first[turn + 1] as number) - (first[turn] as number);
    for (let at = row; at < row + size; at++) {
      const sample = rows.sampleOf[at] as number;
      times[sample] = (times[sample] as number) + (rowTimes[row] as number);
      turnOf[sample] = base + turn;
      if (formOf[turn] !== 0) lastAmong[sample] = Math.max(lastAmong[sample] as number, turn);
    }
  }
  return { times, turnOf, lastAmong };
}

/** Writes the demand of an exchange to its turns from `limit` on, which are events, and counts them; undefined where one stands among
 * others in a turn. */
function asEvents(
  { rows, rowOf, formOf, length }: Turns,
  base: number,
  { sample, demand, lastAmong }: Asked,
  limit: number,
  demandOf: Int32Array,
): number | undefined {
  if (lastAmong >= Math.max(0, limit)) return undefined;
  let events = 0;
  for (let turn = Math.max(0, limit); turn < length; turn++) {
    if (formOf[turn] !== 0 || rows.sampleOf[rowOf[turn] as number] !== sample) continue;
    demandOf[base + turn] = demand;
    events += 1;
  }
  return events;
}
