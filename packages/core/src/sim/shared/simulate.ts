/** @file One period of a program in time where operations share links and slow each other down: the third tier.
 *
 * Every operation takes as long as alone, or longer. Starts follow from ends by the rules of the other tiers, so no step is
 * shorter than `simulateProgram` says, nor than its evaluation at block level: both are lower bounds of this one.
 */
import type { FaultyNetwork, Prices } from '../../cost/index.ts';
import { type ExpandedList, expandList, type Program } from '../../program/index.ts';
import { type Contention, contentionOf } from '../contention.ts';
import { stepGraph } from '../graph.ts';
import { matchExchanges, operationBases } from '../match.ts';
import { pricesOf } from '../prices.ts';
import { type RankClasses, rankClasses } from '../ranks.ts';
import { remembering, stepOf, timedStep } from '../simulate.ts';
import type { OperationPrices, SimulatedStep } from '../types.ts';
import { disturbedPrices, type Jitter, type SlowDevice, slowColours } from './disturb.ts';
import type { SlowDown } from './lanes.ts';
import { type LinkUse, linkUses } from './link-use.ts';
import { placeShared } from './place.ts';
import { placeSharedTurns } from './place-turns.ts';
import { turnDemands } from './turn-demands.ts';

/** What a step runs on. */
export interface SharedSetting {
  readonly prices: Prices;
  /** The links, of the cluster that the prices are of. */
  readonly network: FaultyNetwork;
  /** Mutual slow-down of kernels and exchanges; none where it is left out. */
  readonly slowDown?: SlowDown;
  readonly slowDevices?: readonly SlowDevice[];
  readonly jitter?: Jitter;
}

/** A step on shared links. */
export interface SharedStep extends SimulatedStep {
  /** Links by class, the busiest first: the share of the step in which their bytes fill them. */
  readonly links: readonly LinkUse[];
  /** Begins and ends of exchanges that cross links. */
  readonly flowEvents: number;
}

/** Times of all operations of one period on shared links. `alone` may be given where the same lists were simulated alone: what
 * waits for what is then known. Throws an InputError as `simulateProgram` does. */
export function simulateShared(
  program: Program,
  setting: SharedSetting,
  lists: readonly ExpandedList[] = program.lists.map((list) => expandList(program, list)),
  alone?: Pick<SimulatedStep, 'graph'>,
): SharedStep {
  const { prices, network, slowDown = NO_SLOW_DOWN, slowDevices = [], jitter } = setting;
  const colours = new Map(slowColours(program, slowDevices));
  for (const [rank, colour] of network.colours) colours.set(rank, `${colours.get(rank) ?? ''} ${colour}`);
  const ranks = rankClasses(program, colours);
  const pricing = disturbedPrices(program, pricesOf(program, prices), ranks, slowDevices, jitter);
  const isAlike = ranks.of.length === 0;
  const graphOf = remembering(() =>
    alone !== undefined && isAlike ? alone.graph : stepGraph(program, lists, pricing, ranks),
  );
  const placedOf = remembering(() => {
    const graph = graphOf();
    const contention = contentionOf(program, graph, ranks, prices, network.network);
    return { ...placeShared(graph, pricing, contention, slowDown), contention };
  });
  const asWhole = isAlike && pricing.byShape === true && slowDown.compute === 1 && slowDown.exchange === 1;
  const short = asWhole ? sharedTurns(program, lists, pricing, { ranks, prices, network }) : undefined;
  if (short !== undefined) {
    const { base, ends, busySeconds, flowEvents, demands } = short;
    const step = timedStep(program, { lists, base }, ends, placedOf, graphOf);
    const links = linkUses(network.network.topology, demands, demands.times, busySeconds, step.seconds);
    return withLinks(step, links, flowEvents);
  }
  const { contention, busySeconds, flowEvents, ...placed } = placedOf();
  const step = stepOf(program, graphOf(), placed);
  const times = timesOf(contention);
  return withLinks(step, linkUses(network.network.topology, contention, times, busySeconds, step.seconds), flowEvents);
}

const NO_SLOW_DOWN: SlowDown = { compute: 1, exchange: 1 };

/** The step in whole turns, where nothing that is slowed down stands among others; undefined where they have to be taken apart. */
function sharedTurns(
  program: Program,
  lists: readonly ExpandedList[],
  pricing: OperationPrices,
  { ranks, prices, network }: Pick<SharedSetting, 'prices' | 'network'> & { readonly ranks: RankClasses },
) {
  const meetings = matchExchanges(program, lists);
  const demands = turnDemands(program, lists, meetings, pricing, { ranks, prices, network: network.network });
  const placed = demands && placeSharedTurns(lists, meetings, pricing, demands);
  return placed && { ...placed, demands, base: operationBases(meetings) };
}

/** How often each demand comes. */
function timesOf({ demands, demandOf }: Contention): Uint32Array {
  const times = new Uint32Array(demands.length);
  for (const demand of demandOf) if (demand >= 0) times[demand] = (times[demand] as number) + 1;
  return times;
}

/** A step is not copied: its times are worked out when they are asked for. */
const withLinks = (step: SimulatedStep, links: SharedStep['links'], flowEvents: number): SharedStep =>
  Object.assign(step, { links, flowEvents });
