/** @file What an operation waited for last: the one of its needs that set its start. */
import { NEEDS_DATA, NEEDS_HOST, NEEDS_LANE } from './needs.ts';
import type { SimulatedStep } from './types.ts';

/** `start`: nothing, it is the start of the period. `host`: its own issue. `line`: a line that it names in `needs`. */
export type Cause = 'start' | 'host' | 'lane' | 'data' | 'line';

/** What set the start of an operation. */
export interface Binding {
  readonly cause: Cause;
  /** The member of its exchange whose need it was; the operation itself unless it waited for a partner. */
  readonly member: number;
  /** The operation that was waited for; for `host` the one that the host waited for before; -1 where there is none. */
  readonly of: number;
}

/** What operation `at` waited for. Of needs that end together: its own before a partner's, data and lines before the
 * lane, these before the host. */
export function bindingOf({ graph, start, end }: SimulatedStep, at: number): Binding {
  const { next, needFirst, needOf, needCause, hostAnchor, hostOffset } = graph;
  const from = start[at] as number;
  let member = at;
  do {
    let lane = -1;
    for (let each = needFirst[member] as number; each < (needFirst[member + 1] as number); each++) {
      const of = needOf[each] as number;
      const cause = needCause[each] as number;
      if (cause === NEEDS_HOST || end[of] !== from) continue;
      if (cause === NEEDS_LANE) lane = of;
      else return { cause: cause === NEEDS_DATA ? 'data' : 'line', member, of };
    }
    if (lane >= 0) return { cause: 'lane', member, of: lane };
    const anchor = hostAnchor[member] as number;
    const offset = hostOffset[member] as number;
    if ((anchor < 0 ? 0 : (end[anchor] as number)) + offset === from) {
      return { cause: anchor < 0 && offset === 0 ? 'start' : 'host', member, of: anchor };
    }
    member = next[member] as number;
  } while (member !== at);
  throw new Error(`internal: operation ${at} waited for nothing.`);
}
