/** @file What the operations of a turn wait for, known beforehand: which clock from outside each of them goes back to, and by
 * way of whom. While the clocks stand so that each goes back to the same one, a start is the end of one or two others, to the
 * same bit as if all needs were looked at.
 */
import { clockOf, HOST, type Need, type TurnPlan } from './plan.ts';

/** What holds while every operation goes back to the same clock as it did once. */
export interface Pattern {
  readonly roots: readonly Root[];
  /** What each operation waits for, from `first` of it on: several where they end about together. */
  readonly needs: Int32Array;
  readonly first: Uint32Array;
}

/** A clock that operations go back to. */
interface Root {
  readonly clock: number;
  /** By clock: how much later than this one it may be without being felt by those operations. */
  readonly slack: Float64Array;
  /** By clock: 1 for those that are just about felt. */
  readonly ties: Uint8Array;
}

/** The patterns of a turn as they come. */
export interface Patterns {
  /** The one that holds for these clocks, by number; undefined where the clocks are too late to tell, or always other ones. */
  of(values: Float64Array): Pattern | undefined;
}

/** Sums in another order part clocks that are closer than this share of their time, or join them. */
const TIE = 2 ** -42;

/** The share of a turn in which ends count as together. */
const TOGETHER = 1e-5;

/** Patterns of one turn; who has so many has no pattern. */
const MOST_PATTERNS = 16;

export function patternsOf(plan: TurnPlan): Patterns {
  const known: Pattern[] = [];
  const together = TOGETHER * (sum(plan.seconds) + sum(plan.launch));
  let last: Pattern | undefined;
  return {
    of: (values) => {
      const margin = TIE * latestOf(values);
      // Late in a long step numbers are too coarse for a short turn.
      if (4 * margin > together) return undefined;
      if (last !== undefined && holds(last, values, margin)) return last;
      let found = known.find((pattern) => holds(pattern, values, margin));
      if (found === undefined) {
        if (known.length === MOST_PATTERNS) return undefined;
        found = createPattern(plan, values, margin, together);
        known.push(found);
      }
      last = found;
      return found;
    },
  };
}

const sum = (values: Float64Array): number => values.reduce((total, each) => total + each, 0);

function latestOf(values: Float64Array): number {
  let latest = 0;
  for (let clock = 0; clock < values.length; clock++)
    if ((values[clock] as number) > latest) latest = values[clock] as number;
  return latest;
}

function holds({ roots }: Pattern, values: Float64Array, margin: number): boolean {
  for (const { clock, slack, ties } of roots) {
    const base = values[clock] as number;
    if (base === Number.NEGATIVE_INFINITY) return false;
    for (let other = 0; other < ties.length; other++) {
      const felt = (values[other] as number) - base - (slack[other] as number);
      if (other !== clock && (felt > margin || felt >= -margin !== (ties[other] === 1))) return false;
    }
  }
  return true;
}

/** The pattern of the clocks at hand. */
function createPattern(plan: TurnPlan, values: Float64Array, margin: number, together: number): Pattern {
  const { needs, after } = plan;
  const clocks = values.length;
  const rootOf = needs.map((_, at) => rootOfOperation(after.subarray(at * clocks, (at + 1) * clocks), values));
  const roots = new Map<number, Root>();
  for (const clock of new Set(rootOf)) roots.set(clock, createRoot(plan, values, margin, clock, rootOf));
  const first = new Uint32Array(needs.length + 1);
  const kept: Need[] = [];
  let issued = 0;
  for (const [at, row] of needs.entries()) {
    issued += plan.launch[at] as number;
    const own = rootOf[at] as number;
    const start = after[at * clocks + own] as number;
    const { ties } = roots.get(own) as Root;
    for (const need of row) {
      const root = need < 0 ? clockOf(need) : (rootOf[need] as number);
      const direct = root === HOST ? issued : 0;
      const end = need < 0 ? direct : (after[need * clocks + root] as number) + (plan.seconds[need] as number);
      if (root === own ? end >= start - together : ties[root] === 1) kept.push(need);
    }
    first[at + 1] = kept.length;
  }
  return { roots: [...roots.values()], needs: Int32Array.from(kept), first };
}

/** The clock that an operation goes back to. */
function rootOfOperation(after: Float64Array, values: Float64Array): number {
  let root = HOST;
  let latest = Number.NEGATIVE_INFINITY;
  for (let clock = 0; clock < values.length; clock++) {
    const start = (values[clock] as number) + (after[clock] as number);
    if (start <= latest) continue;
    latest = start;
    root = clock;
  }
  return root;
}

function createRoot(
  { after }: TurnPlan,
  values: Float64Array,
  margin: number,
  clock: number,
  rootOf: readonly number[],
): Root {
  const clocks = values.length;
  const slack = new Float64Array(clocks).fill(Number.POSITIVE_INFINITY);
  for (const [at, root] of rootOf.entries()) {
    if (root !== clock) continue;
    for (let other = 0; other < clocks; other++) {
      const room = (after[at * clocks + clock] as number) - (after[at * clocks + other] as number);
      if (room < (slack[other] as number)) slack[other] = room;
    }
  }
  const ties = Uint8Array.from(slack, (room, other) =>
    (values[other] as number) - (values[clock] as number) - room >= -margin ? 1 : 0,
  );
  return { clock, slack, ties };
}
