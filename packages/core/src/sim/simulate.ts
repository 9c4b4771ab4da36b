/** @file One period of a program in time, operation by operation.
 *
 * The host of a list issues its operations in list order and never waits but for a wait. An operation starts when it is
 * issued, its lane is free, and what it reads, writes and names is done; an exchange between lists starts when all its
 * members could. Everything starts at time 0; exchanges inside of one list have all their members in it.
 */
import { type ExpandedList, expandList, type Program } from '../program/index.ts';
import { stepGraph } from './graph.ts';
import { type Placed, placeOperations } from './place.ts';
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
  const graph = stepGraph(program, lists, pricing);
  return stepOf(program, graph, placeOperations(graph, pricing));
}

/** The step of a graph whose operations are placed. */
export function stepOf(program: Program, graph: StepGraph, { start, end }: Placed): SimulatedStep {
  const simulated = graph.lists.map((expanded, index) => {
    const from = graph.base[index] as number;
    const to = graph.base[index + 1] as number;
    return { expanded, start: start.subarray(from, to), end: end.subarray(from, to) };
  });
  const ends = simulated.map((list) => latest(list.end));
  const seconds = Math.max(0, ...ends);
  return { program, seconds, lists: simulated, last: Math.max(0, ends.indexOf(seconds)), graph, start, end };
}

function latest(ends: Float64Array): number {
  let last = 0;
  for (const each of ends) if (each > last) last = each;
  return last;
}
