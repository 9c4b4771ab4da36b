/** @file One period of a program in time where operations share links and slow each other down: the third tier.
 *
 * Every operation takes as long as alone, or longer. Starts follow from ends by the rules of the other tiers, so no step is
 * shorter than `simulateProgram` says, nor than its evaluation at block level: both are lower bounds of this one.
 */
import type { FaultyNetwork, Prices } from '../../cost/index.ts';
import { type ExpandedList, expandList, type Program } from '../../program/index.ts';
import { contentionOf } from '../contention.ts';
import { stepGraph } from '../graph.ts';
import { pricesOf } from '../prices.ts';
import { rankClasses } from '../ranks.ts';
import { stepOf } from '../simulate.ts';
import type { SimulatedStep } from '../types.ts';
import { disturbedPrices, type Jitter, type SlowDevice, slowColours } from './disturb.ts';
import type { SlowDown } from './lanes.ts';
import { type LinkUse, linkUses } from './link-use.ts';
import { placeShared } from './place.ts';

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
  { prices, network, slowDown = { compute: 1, exchange: 1 }, slowDevices = [], jitter }: SharedSetting,
  lists: readonly ExpandedList[] = program.lists.map((list) => expandList(program, list)),
  alone?: Pick<SimulatedStep, 'graph'>,
): SharedStep {
  const colours = new Map(slowColours(program, slowDevices));
  for (const [rank, colour] of network.colours) colours.set(rank, `${colours.get(rank) ?? ''} ${colour}`);
  const ranks = rankClasses(program, colours);
  const pricing = disturbedPrices(program, pricesOf(program, prices), ranks, slowDevices, jitter);
  const isKnown = alone !== undefined && ranks.of.length === 0;
  const graph = isKnown ? alone.graph : stepGraph(program, lists, pricing, ranks);
  const contention = contentionOf(program, graph, ranks, prices, network.network);
  const placed = placeShared(graph, pricing, contention, slowDown);
  const step = stepOf(program, graph, placed);
  return {
    ...step,
    links: linkUses(network.network.topology, contention, placed.busySeconds, step.seconds),
    flowEvents: placed.flowEvents,
  };
}
