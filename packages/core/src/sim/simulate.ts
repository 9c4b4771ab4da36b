/** @file One period of a program in time, operation by operation.
 *
 * The host of a list issues its operations in list order and never waits but for a wait. An operation starts when it is
 * issued, its lane is free, and what it reads, writes and names is done; an exchange between lists starts when all its
 * members could. Everything starts at time 0; exchanges inside of one list have all their members in it.
 */
import { type ExpandedList, expandList, type Program, replayOf } from '../program/index.ts';
import { basesOf, stepGraph } from './graph.ts';
import { matchExchanges } from './match.ts';
import { type Placed, placeOperations } from './place.ts';
import { placeLists } from './place-lists.ts';
import type { StepGraph } from './step-graph.ts';
import type { OperationPrices, SimulatedStep } from './types.ts';

/** Times of all operations of one period, each as long as it takes alone. `lists` may be given where they are expanded already.
 *
 * Exact and deterministic for given durations. Throws an InputError (EXCHANGE_UNMATCHED, COLLECTIVE_ORDER_DIFFERS, DEADLOCK) for a program
 * that cannot run. */
export function simulateProgram(
  program: Program,
  pricing: OperationPrices,
  lists: readonly ExpandedList[] = program.lists.map((list) => expandList(program, list)),
): SimulatedStep {
  const base = basesOf(lists.map(replayOf));
  const placed = placeLists(lists, base, matchExchanges(program, lists, base), pricing);
  let graph: StepGraph | undefined;
  const graphOf = (): StepGraph => {
    graph ??= stepGraph(program, lists, pricing);
    return graph;
  };
  // What waits in a circle is found on the graph, which says so.
  return timedStep(program, { lists, base }, placed ?? placeOperations(graphOf(), pricing), graphOf);
}

/** The step of a graph whose operations are placed. */
export const stepOf = (program: Program, graph: StepGraph, placed: Placed): SimulatedStep =>
  timedStep(program, graph, placed, () => graph);

/** What waits for what is worked out when somebody asks: for the times alone nobody does. */
function timedStep(
  program: Program,
  { lists, base }: Pick<StepGraph, 'lists' | 'base'>,
  { start, end }: Placed,
  graphOf: () => StepGraph,
): SimulatedStep {
  const simulated = lists.map((expanded, index) => {
    const from = base[index] as number;
    const to = base[index + 1] as number;
    return { expanded, start: start.subarray(from, to), end: end.subarray(from, to) };
  });
  const ends = simulated.map((list) => latest(list.end));
  const seconds = Math.max(0, ...ends);
  const last = Math.max(0, ends.indexOf(seconds));
  return {
    program,
    seconds,
    lists: simulated,
    last,
    get graph(): StepGraph {
      return graphOf();
    },
    start,
    end,
  };
}

function latest(ends: Float64Array): number {
  let last = 0;
  for (let at = 0; at < ends.length; at++) if ((ends[at] as number) > last) last = ends[at] as number;
  return last;
}
