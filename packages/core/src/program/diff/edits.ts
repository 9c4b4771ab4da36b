/** @file The shortest way from one row of lines to another (Myers 1986, "An O(ND) difference algorithm"). */

export interface Edit<Item> {
  readonly kind: 'same' | 'removed' | 'added';
  readonly before: Item | undefined;
  readonly after: Item | undefined;
}

/** Beyond this many changes a section is taken to be rewritten: everything removed, everything added. */
const MOST_CHANGES = 2_000;

/** Edits in order, removals before additions. Two items are the same when their keys are. */
export function editsBetween<Item>(
  before: readonly Item[],
  after: readonly Item[],
  keyOf: (item: Item, side: 'before' | 'after') => string,
): readonly Edit<Item>[] {
  const a = before.map((item) => keyOf(item, 'before'));
  const b = after.map((item) => keyOf(item, 'after'));
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start += 1;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end += 1;
  const matches = matchesOf(a.slice(start, a.length - end), b.slice(start, b.length - end));
  const pairs = [
    ...Array.from({ length: start }, (_, index) => [index, index] as const),
    ...matches.map(([i, j]) => [i + start, j + start] as const),
    ...Array.from({ length: end }, (_, index) => [a.length - end + index, b.length - end + index] as const),
  ];
  return editsOf(before, after, pairs);
}

function editsOf<Item>(
  before: readonly Item[],
  after: readonly Item[],
  pairs: readonly (readonly [number, number])[],
): readonly Edit<Item>[] {
  const edits: Edit<Item>[] = [];
  let i = 0;
  let j = 0;
  for (const [x, y] of [...pairs, [before.length, after.length] as const]) {
    for (; i < x; i++) edits.push({ kind: 'removed', before: before[i], after: undefined });
    for (; j < y; j++) edits.push({ kind: 'added', before: undefined, after: after[j] });
    if (i < before.length && j < after.length) edits.push({ kind: 'same', before: before[i], after: after[j] });
    i = x + 1;
    j = y + 1;
  }
  return edits;
}

/** Pairs of equal items on a shortest path, in order; none when the two differ too much.
 *
 * `reach[k]` is how far the best path on diagonal k (k = index in `a` - index in `b`) has come in `a`.
 */
function matchesOf(a: readonly string[], b: readonly string[]): readonly (readonly [number, number])[] {
  const most = Math.min(a.length + b.length, MOST_CHANGES);
  const reach = new Diagonals(most + 1);
  const history: Diagonals[] = [];
  for (let changes = 0; changes <= most; changes++) {
    history.push(reach.copy(changes + 1));
    for (let k = -changes; k <= changes; k += 2) {
      let x = fromAbove(reach, k, changes) ? reach.get(k + 1) : reach.get(k - 1) + 1;
      while (x < a.length && x - k < b.length && a[x] === b[x - k]) x += 1;
      reach.set(k, x);
      if (x >= a.length && x - k >= b.length) return walkBack(a.length, b.length, history);
    }
  }
  return [];
}

/** Numbers by diagonal, from -limit to limit; 0 at first. */
class Diagonals {
  readonly #limit: number;
  readonly #values: Int32Array;
  constructor(limit: number, values: Int32Array = new Int32Array(2 * limit + 1)) {
    this.#limit = limit;
    this.#values = values;
  }
  get(k: number): number {
    return this.#values[k + this.#limit] ?? 0;
  }
  set(k: number, value: number): void {
    this.#values[k + this.#limit] = value;
  }
  /** The diagonals from -limit to limit as they are now. */
  copy(limit: number): Diagonals {
    return new Diagonals(limit, this.#values.slice(this.#limit - limit, this.#limit + limit + 1));
  }
}

/** Whether the best path on diagonal k comes from k + 1, by an item of `b`, rather than from k - 1. */
const fromAbove = (reach: Diagonals, k: number, changes: number): boolean =>
  k === -changes || (k !== changes && reach.get(k - 1) < reach.get(k + 1));

function walkBack(
  lengthA: number,
  lengthB: number,
  history: readonly Diagonals[],
): readonly (readonly [number, number])[] {
  const pairs: (readonly [number, number])[] = [];
  let x = lengthA;
  let y = lengthB;
  for (const [changes, reach] of [...history.entries()].reverse()) {
    const k = x - y;
    const previous = fromAbove(reach, k, changes) ? k + 1 : k - 1;
    const previousX = reach.get(previous);
    while (x > previousX && y > previousX - previous) {
      x -= 1;
      y -= 1;
      pairs.push([x, y]);
    }
    x = previousX;
    y = previousX - previous;
  }
  return pairs.reverse();
}
