/** @file One period of a program in time, operation by operation.
 *
 * The host of a list issues its operations in list order and never waits but for a wait. An operation starts when it is
 * issued, its lane is free, and what it reads, writes and names is done; an exchange between lists starts when all its
 * members could. Everything starts at time 0; exchanges inside of one list have all their members in it.
 */
import { type ExpandedList, expandList, type Program } from '../program/index.ts';
import { stepGraph } from './graph.ts';
import { matchExchanges, operationBases } from './match.ts';
import { type Placed, placeOperations } from './place.ts';
import type { StepGraph } from './step-graph.ts';
import { placeTurns } from './turns/place.ts';
import type { OperationPrices, SimulatedList, SimulatedStep } from './types.ts';

/** Times of all operations of one period, each as long as it takes alone. `lists` may be given where they are expanded already.
 *
 * Every operation is placed at once; their times are written out, in a second pass to the same bit, when somebody asks for them.
 * Exact and deterministic for given durations. Throws an InputError (EXCHANGE_UNMATCHED, COLLECTIVE_ORDER_DIFFERS, DEADLOCK) for a program
 * that cannot run. */
export function simulateProgram(
  program: Program,
  pricing: OperationPrices,
  lists: readonly ExpandedList[] = program.lists.map((list) => expandList(program, list)),
): SimulatedStep {
  const meetings = matchExchanges(program, lists);
  const base = operationBases(meetings);
  const graphOf = remembering(() => stepGraph(program, lists, pricing));
  const placedOf = remembering(() => {
    const count = base[lists.length] as number;
    const placed = { start: new Float64Array(count), end: new Float64Array(count) };
    // What waits in a circle is found on the graph, which says so.
    return placeTurns(lists, meetings, pricing, placed) ? placed : placeOperations(graphOf(), pricing);
  });
  // Prices of single operations are asked for once only.
  const ends = pricing.byShape === true ? placeTurns(lists, meetings, pricing) : undefined;
  return timedStep(program, { lists, base }, ends ?? endsOf(base, placedOf().end), placedOf, graphOf);
}

/** The step of a graph whose operations are placed. */
export const stepOf = (program: Program, graph: StepGraph, placed: Placed): SimulatedStep =>
  timedStep(
    program,
    graph,
    endsOf(graph.base, placed.end),
    () => placed,
    () => graph,
  );

/** What waits for what, and when, is worked out when somebody asks: for the time of the step alone nobody does. */
export function timedStep(
  program: Program,
  { lists, base }: Pick<StepGraph, 'lists' | 'base'>,
  ends: Float64Array,
  placedOf: () => Placed,
  graphOf: () => StepGraph,
): SimulatedStep {
  const seconds = Math.max(0, ...ends);
  return {
    program,
    seconds,
    lists: lists.map((expanded, index) =>
      timedList(expanded, base[index] as number, base[index + 1] as number, placedOf),
    ),
    last: Math.max(0, ends.indexOf(seconds)),
    get graph(): StepGraph {
      return graphOf();
    },
    get start(): Float64Array {
      return placedOf().start;
    },
    get end(): Float64Array {
      return placedOf().end;
    },
  };
}

function timedList(expanded: ExpandedList, from: number, to: number, placedOf: () => Placed): SimulatedList {
  const rows = remembering(() => {
    const { start, end } = placedOf();
    return { start: start.subarray(from, to), end: end.subarray(from, to) };
  });
  return {
    expanded,
    get start(): Float64Array {
      return rows().start;
    },
    get end(): Float64Array {
      return rows().end;
    },
  };
}

export function remembering<Value>(make: () => Value): () => Value {
  let made: Value | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

/** The last end of each list. */
const endsOf = (base: Uint32Array, end: Float64Array): Float64Array =>
  Float64Array.from({ length: base.length - 1 }, (_, list) => {
    let last = 0;
    for (let at = base[list] as number; at < (base[list + 1] as number); at++) {
      if ((end[at] as number) > last) last = end[at] as number;
    }
    return last;
  });
