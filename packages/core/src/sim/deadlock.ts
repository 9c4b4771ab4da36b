/** @file What to say when operations wait for each other in a circle. */
import { InputError, issue } from '../errors/index.ts';
import { operationName } from './names.ts';
import { NEEDS_DATA, NEEDS_HOST, NEEDS_LANE } from './needs.ts';
import type { StepGraph } from './step-graph.ts';

/** One step of a circle: `at` waits for `of`, either itself or as the partner of `meets`. */
interface Waiting {
  readonly meets: number;
  readonly at: number;
  readonly of: number;
  readonly cause: number;
}

/** `waiting`: by leader, how many needs are not done; 0 where the operation has been placed. */
export function throwDeadlock(graph: StepGraph, waiting: Uint32Array): never {
  const circle = circleOf(graph, waiting);
  const words = circle.map((each) => describe(graph, each));
  throw new InputError([
    issue(
      'DEADLOCK',
      '',
      `operations wait for each other in a circle of ${circle.length}: ${words.join('; ')}.`,
      'Issue one of them earlier, or put it on a lane of its own.',
      { circle: circle.map(({ at }) => operationName(graph, at)) },
    ),
  ]);
}

function circleOf(graph: StepGraph, waiting: Uint32Array): readonly Waiting[] {
  const path: Waiting[] = [];
  const seen = new Map<number, number>();
  let at = waiting.findIndex((left) => left > 0);
  for (let exchange = at; !seen.has(exchange); exchange = graph.leader[at] as number) {
    seen.set(exchange, path.length);
    const step = firstUndone(graph, at, waiting);
    path.push(step);
    at = step.of;
  }
  return path.slice(seen.get(graph.leader[at] as number));
}

/** A need, of an operation or of a partner of its exchange, that has not been placed. */
function firstUndone(
  { next, leader, needFirst, needOf, needCause }: StepGraph,
  meets: number,
  waiting: Uint32Array,
): Waiting {
  let at = meets;
  do {
    for (let each = needFirst[at] as number; each < (needFirst[at + 1] as number); each++) {
      const of = needOf[each] as number;
      if (waiting[leader[of] as number]) return { meets, at, of, cause: needCause[each] as number };
    }
    at = next[at] as number;
  } while (at !== meets);
  throw new Error('internal: a deadlock without a circle.');
}

function describe(graph: StepGraph, { meets, at, of, cause }: Waiting): string {
  const own = operationName(graph, meets);
  const who = meets === at ? own : `${own} meets ${operationName(graph, at)}, which`;
  return `${who} waits for ${operationName(graph, of)} (${reasons(cause)})`;
}

function reasons(cause: number): string {
  if (cause === NEEDS_LANE) return 'before it on its lane';
  if (cause === NEEDS_DATA) return 'for its data';
  return cause === NEEDS_HOST ? 'the host waits for it' : 'its line names it';
}
