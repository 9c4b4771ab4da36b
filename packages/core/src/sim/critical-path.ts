/** @file The chain of waits that made the step as long as it is. */
import { bindingOf, type Cause } from './binding.ts';
import { listOf } from './step-graph.ts';
import type { SimulatedStep } from './types.ts';

/** One operation of a list. */
export interface OperationPlace {
  /** Index of the list. */
  readonly list: number;
  /** Index of the operation in the expanded list. */
  readonly operation: number;
}

/** One operation of the critical path. */
export interface CriticalOperation extends OperationPlace {
  /** Seconds. */
  readonly start: number;
  readonly end: number;
  /** What set its start. `host`: its own issue; the path then goes on with what the host waited for, if anything. */
  readonly waitedFor: Cause;
  /** The member of its exchange, in another list, whose wait it was. */
  readonly partner?: OperationPlace;
}

/** From the operation that ends last back to time 0; each waited for the next one. */
export function criticalPathOf(step: SimulatedStep): readonly CriticalOperation[] {
  const { graph, start, end } = step;
  const place = (at: number): OperationPlace => {
    const list = listOf(graph, at);
    return { list, operation: at - (graph.base[list] as number) };
  };
  const path: CriticalOperation[] = [];
  let at = lastOperation(step, step.last);
  while (at >= 0) {
    const { cause, member, of } = bindingOf(step, at);
    path.push({
      ...place(at),
      start: start[at] as number,
      end: end[at] as number,
      waitedFor: cause,
      ...(member !== at && { partner: place(member) }),
    });
    at = cause === 'start' ? -1 : of;
  }
  return path;
}

/** The number of the operation of a list that ends last, the first of several; -1 in an empty list. */
export function lastOperation({ graph, end }: SimulatedStep, list: number): number {
  const from = graph.base[list] ?? 0;
  const to = graph.base[list + 1] ?? from;
  let last = from < to ? from : -1;
  for (let at = from + 1; at < to; at++) if ((end[at] as number) > (end[last] as number)) last = at;
  return last;
}
