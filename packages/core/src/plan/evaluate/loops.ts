/** @file Short orders: a schedule written for a few micro-batches, with the rounds that stand for all the others. */
import {
  forwardCode,
  isBackward,
  isSplit,
  kindNumber,
  microBatchOf,
  placementOf,
  type ScheduleShape,
} from '../../schedules/index.ts';
import {
  type Cut,
  fullOrder,
  type Loop,
  type Visits,
  type WalkOrder,
  type WrittenOrder,
  walkOrder,
  writeOrder,
} from './order.ts';

/** Invocations that must follow a round as they follow all others: receives are posted for the next one, and units are
 * gathered a few uses ahead (see {@link lookahead}). */
export const LOOKAHEAD = 4;

/** How many invocations ahead of its own a stage gathers units, at most.
 *
 * In a chunk of several units each invocation begins a run. A chunk of one unit shares a run between its invocations in a
 * row, 2 * stages of them at most; with one chunk the whole list is one run, and nothing is ever gathered ahead.
 */
export function lookahead(prefetch: number, fewestUnits: number, stages: number, chunks: number): number {
  const perRun = fewestUnits > 1 || chunks === 1 ? 1 : 2 * stages;
  return Math.max(LOOKAHEAD, (prefetch + 2) * perRun);
}

/** Orders by shape and lookahead, each written once: short with loops, or in full where there are few micro-batches. */
export function orderBook(): (shape: ScheduleShape, ahead?: number) => WalkOrder {
  const short = new Map<string, WalkOrder | undefined>();
  const full = new Map<string, WalkOrder>();
  return (shape, ahead = LOOKAHEAD) => {
    const { schedule, stages, chunks, microBatches } = shape;
    // Micro-batches that enter from the other end are numbered from half of all on: no round is like the one before.
    if (microBatches > shortest(shape) && placementOf(schedule) !== 'mirror') {
      const name = `${schedule}:${stages}:${chunks}:${ahead}`;
      if (!short.has(name)) short.set(name, shortOrder(shape, ahead));
      const order = short.get(name);
      if (order !== undefined && microBatches > order.written) return repeated(order, microBatches);
    }
    const name = `${schedule}:${stages}:${chunks}:${microBatches}`;
    const known = full.get(name) ?? fullOrder(shape);
    full.set(name, known);
    return known;
  };
}

/** A short order with its loops run until there are `microBatches`. */
const repeated = (short: WalkOrder, microBatches: number): WalkOrder => ({
  written: short.written,
  stride: short.stride,
  extra: (microBatches - short.written) / short.stride,
  loops: short.loops,
  senders: short.senders,
  lists: short.lists,
  opensWithReceive: short.opensWithReceive,
  visits: short.visits,
});

/** The fewest micro-batches at which a steady round can show: the pipeline is full, and it goes on. */
function shortest({ schedule, stages, chunks }: Omit<ScheduleShape, 'microBatches'>): number {
  if (schedule === 'zero-bubble-h1') return 2 * stages + 1;
  if (isSplit(schedule)) return 4 * stages;
  if (chunks > 1) return 3 * stages;
  return schedule === '1f1b' ? stages + 2 : 3;
}

/** The shortest order of a schedule that has its steady rounds; undefined where none is found within reach. It does not
 * depend on the micro-batches of a step: {@link repeated} does.
 */
function shortOrder(shape: Omit<ScheduleShape, 'microBatches'>, ahead: number): WalkOrder | undefined {
  const stride = shape.schedule === 'interleaved-1f1b' ? shape.stages : 1;
  const first = shortest(shape);
  const wanted = shape.schedule === 'gpipe' ? 2 : 1;
  for (let written = first; written <= first + 4 * stride + ahead; written += stride) {
    const order = writeOrder({ ...shape, microBatches: written }, true);
    const loops = findLoops(order, stride, ahead);
    if (loops.length === wanted) return walkOrder(order, stride, loops);
  }
  return undefined;
}

/** GPipe has a steady state of forwards and one of backwards. */
function findLoops(order: WrittenOrder, stride: number, ahead: number): readonly Loop[] {
  const { schedule, stages, chunks } = order.shape;
  const turns = chunks * stride;
  // DualPipe's steady rounds take backward in one, zero-bubble's always in two parts.
  const parts = schedule.startsWith('zero-bubble') ? 3 : 2;
  const phases =
    schedule === 'gpipe'
      ? [
          { driver: stages - 1, round: 1, uses: 1, backwards: 0 },
          { driver: 0, round: 1, uses: 1, backwards: 1 },
        ]
      : [{ driver: stages - 1, round: parts * turns, uses: 2 * turns, backwards: turns }];
  return phases.flatMap((phase) => findLoop(order, stride, ahead, phase) ?? []);
}

interface Phase {
  readonly driver: number;
  /** Invocations of each stage in a round, how many of them use weights, and how many pass a gradient on. */
  readonly round: number;
  readonly uses: number;
  readonly backwards: number;
}

/** Two cuts one round apart between which every stage does a steady round. */
function findLoop(order: WrittenOrder, stride: number, ahead: number, phase: Phase): Loop | undefined {
  const { driver, round, uses } = phase;
  const cuts = order.cuts.filter((cut) => cut.driver === driver);
  for (let index = 0; index + round < cuts.length; index++) {
    const [first, second] = [cuts[index] as Cut, cuts[index + round] as Cut];
    const steady = order.codes.every((list, stage) => {
      const from = first.cursors[stage] as number;
      return second.cursors[stage] === from + round && isSteady(order.shape, list, from, stride, ahead, phase);
    });
    if (steady) return { from: first.at, to: second.at, round, uses, onTheWay: onTheWay(order.visits, second.at) };
  }
  return undefined;
}

/** Transfers that are sent before visit `at` and received from it on, in ascending order. */
function onTheWay({ from, to }: Visits, at: number): Int32Array {
  const received = new Set(from.subarray(0, at));
  return to
    .slice(0, at)
    .filter((transfer) => transfer >= 0 && !received.has(transfer))
    .sort();
}

/** The round from `from` on goes on as it began, and every invocation of it can stand for later ones: micro-batch 0 pays
 * for gathers in forward, the last one frees kept weights and pays for reductions in backward.
 */
function isSteady(
  { microBatches }: ScheduleShape,
  list: Int32Array,
  from: number,
  stride: number,
  ahead: number,
  { round, backwards }: Phase,
): boolean {
  const later = forwardCode(0, stride);
  for (let position = from; position < from + ahead; position++) {
    if (list[position + round] !== (list[position] as number) + later) return false;
  }
  let backward = 0;
  for (let position = from; position < from + round; position++) {
    const code = list[position] as number;
    const microBatch = microBatchOf(code);
    if (microBatch === microBatches - 1 || (microBatch === 0 && kindNumber(code) === 0)) return false;
    if (isBackward(code)) backward += 1;
  }
  return backward === backwards;
}
