/** @file Which operations end a known time after they begin, whatever else runs: those never need the event queue.
 *
 * Where kernels and exchanges slow each other down all that takes time is known only as it runs. Otherwise kernels are known, and
 * so is an exchange that has its links to itself: one lane of a class of ranks uses each of them most, and what else uses
 * them (its guests) waits, directly or not, for this exchange.
 */
import type { Contention, Demand } from '../contention.ts';
import { COMPUTE_LANE, laneNames } from '../lanes.ts';
import { listOf, type StepGraph, visitMembers } from '../step-graph.ts';
import { rateAlone } from './fill.ts';
import type { SlowDown } from './lanes.ts';

/** What is known of each leader before anything runs. */
export interface Settled {
  /** 1: it runs `seconds` from its start. 0: it is an event. */
  readonly isSettled: Uint8Array;
  /** Seconds on the links alone; where it is an event, those of its price. */
  readonly seconds: Float64Array;
}

/** `duration`: by leader, seconds alone, as priced. */
export function settledOf(
  graph: StepGraph,
  duration: Float64Array,
  contention: Contention,
  slowDown: SlowDown,
): Settled {
  const { leader, lane } = graph;
  const { demandOf, demands } = contention;
  const slows = slowDown.compute !== 1 || slowDown.exchange !== 1;
  const hosts = slows ? undefined : hostsOf(graph, contention);
  const isSettled = new Uint8Array(leader.length);
  const seconds = duration.slice();
  const priced = new Float64Array(demands.length);
  const carried = new Float64Array(demands.length);
  for (let at = 0; at < leader.length; at++) {
    if (leader[at] !== at) continue;
    const alone = seconds[at] as number;
    const demand = demandOf[at] as number;
    if (alone === 0) isSettled[at] = 1;
    else if (demand < 0) isSettled[at] = slows && lane[at] === COMPUTE_LANE ? 0 : 1;
    else if (hosts?.hasLinksAlone(at, demand) === true) {
      isSettled[at] = 1;
      if (priced[demand] !== alone) {
        priced[demand] = alone;
        carried[demand] = alone / rateAlone(contention, demands[demand] as Demand, alone);
      }
      seconds[at] = carried[demand] as number;
    }
  }
  return { isSettled, seconds };
}

export const NOBODY = -1;
/** Lanes of messages have one queue for each peer: exchanges on them may overlap. */
const betweenStages: ReadonlySet<string> = new Set(['host', 'act.out', 'act.in', 'grad.out', 'grad.in', 'ends']);
export const isSerial: readonly boolean[] = laneNames.map((name) => !betweenStages.has(name));

/** Tells of an exchange whether it has its links to itself. */
interface Hosts {
  hasLinksAlone(at: number, demand: number): boolean;
}

function hostsOf(graph: StepGraph, contention: Contention): Hosts {
  const queue = queuesOf(graph, contention);
  const host = mainQueues(queue, contention);
  const until = guestLimits(graph, contention, queue, host);
  const { demands } = contention;
  /** The last exchange of a queue that has all links of a demand to itself. */
  const limitOf = (own: number, demand: number): number => {
    let last = Number.POSITIVE_INFINITY;
    for (const link of (demands[demand] as Demand).classes) {
      if (host[link] !== own) return NOBODY;
      last = Math.min(last, until[link] as number);
    }
    return last;
  };
  const asked = new Int32Array(demands.length).fill(NOBODY);
  const limit = new Float64Array(demands.length);
  return {
    hasLinksAlone(at, demand) {
      const own = queue[at] as number;
      if (own === NOBODY) return false;
      if (asked[demand] !== own) {
        asked[demand] = own;
        limit[demand] = limitOf(own, demand);
      }
      return at <= (limit[demand] as number);
    },
  };
}

/** By leader: a number for the lane of a class of ranks on which exchanges follow one another; NOBODY where they may overlap. */
function queuesOf(graph: StepGraph, { demandOf }: Contention): Int32Array {
  const queue = new Int32Array(demandOf.length).fill(NOBODY);
  for (let index = 0; index < graph.classes.length; index++) {
    const to = graph.base[index + 1] as number;
    for (let at = graph.base[index] as number; at < to; at++) {
      if ((demandOf[at] as number) < 0 || graph.next[at] !== at) continue;
      const lane = graph.lane[at] as number;
      if (isSerial[lane] === true) queue[at] = index * laneNames.length + lane;
    }
  }
  return queue;
}

/** By class of links: the queue that uses it most often. */
function mainQueues(queue: Int32Array, { demandOf, demands, links }: Contention): Int32Array {
  const uses = demands.map(() => new Map<number, number>());
  const last = new Int32Array(demands.length).fill(NOBODY);
  const times = new Uint32Array(demands.length);
  const note = (demand: number): void => {
    const row = uses[demand];
    const own = last[demand] as number;
    if (row !== undefined && own !== NOBODY) row.set(own, (row.get(own) ?? 0) + (times[demand] as number));
  };
  for (let at = 0; at < demandOf.length; at++) {
    const own = queue[at] as number;
    if (own === NOBODY) continue;
    const demand = demandOf[at] as number;
    if (last[demand] !== own) {
      note(demand);
      last[demand] = own;
      times[demand] = 0;
    }
    times[demand] = (times[demand] as number) + 1;
  }
  for (let demand = 0; demand < demands.length; demand++) note(demand);
  const host = new Int32Array(links.length).fill(NOBODY);
  const most = new Float64Array(links.length);
  demands.forEach(({ classes }, demand) => {
    for (const [own, times] of uses[demand] ?? []) {
      for (const link of classes) {
        if (times <= (most[link] as number)) continue;
        most[link] = times;
        host[link] = own;
      }
    }
  });
  return host;
}

/** By class of links: the last exchange of its host that every guest waits for. */
function guestLimits(graph: StepGraph, contention: Contention, queue: Int32Array, host: Int32Array): Float64Array {
  const { demandOf, demands, links } = contention;
  const until = new Float64Array(links.length).fill(Infinity);
  const before = new Map<number, Int32Array>();
  // The last queue of each demand that is no guest on any of its links.
  const owner = new Int32Array(demands.length).fill(NOBODY);
  for (let at = 0; at < demandOf.length; at++) {
    const demand = demandOf[at] as number;
    if (demand < 0 || (queue[at] !== NOBODY && owner[demand] === queue[at])) continue;
    let isGuest = false;
    for (const link of (demands[demand] as Demand).classes) {
      const main = host[link] as number;
      if (main === NOBODY || main === queue[at]) continue;
      isGuest = true;
      const of = Math.floor(main / laneNames.length);
      const latest = before.get(main) ?? latestBefore(graph, queue, main);
      before.set(main, latest);
      let last = NOBODY;
      visitMembers(graph, at, (member) => {
        if (listOf(graph, member) === of) last = latest[member - (graph.base[of] as number)] as number;
      });
      until[link] = Math.min(until[link] as number, last);
    }
    if (!isGuest) owner[demand] = queue[at] as number;
  }
  return until;
}

/** For each operation of the class of a queue, the latest one of the queue that it waits for, over any number of others. */
function latestBefore({ base, needFirst, needOf }: StepGraph, queue: Int32Array, main: number): Int32Array {
  const of = Math.floor(main / laneNames.length);
  const [from, to] = [base[of] as number, base[of + 1] as number];
  const latest = new Int32Array(to - from).fill(NOBODY);
  for (let at = from; at < to; at++) {
    let last = NOBODY;
    for (let each = needFirst[at] as number; each < (needFirst[at + 1] as number); each++) {
      const need = needOf[each] as number;
      const found = queue[need] === main ? need : (latest[need - from] as number);
      if (found > last) last = found;
    }
    latest[at - from] = last;
  }
  return latest;
}
