/** @file The schedule of a pipeline as a grid: stages down, slots across, a micro-batch in each cell. Every invocation
 * (one micro-batch through one chunk in one direction) takes one slot and transfers take none, so idle cells are the
 * bubble of the schedule itself.
 */
import type { ExpandedList, ExpandedOperation, Program } from '@meshwright/core/program';
import { simulateProgram } from '@meshwright/core/sim';

/** One invocation in the grid. */
export interface ScheduleCell {
  readonly list: number;
  readonly slot: number;
  readonly direction: 'forward' | 'backward';
  readonly microBatch: number;
}

/** The grid, and its idle share. */
export interface Schedule {
  readonly stages: number;
  readonly slots: number;
  readonly cells: readonly ScheduleCell[];
  /** Idle cells over all cells. */
  readonly idleShare: number;
}

/** The grid of a program with several stages; undefined for one. */
export function scheduleOf(program: Program, lists: readonly ExpandedList[]): Schedule | undefined {
  if (lists.length < 2) return undefined;
  const firsts = lists.map((list) => invocationsOf(list, directionsOf(program, list)));
  const step = simulateProgram(
    program,
    {
      duration: ({ index }, list) => (firsts[lists.findIndex((each) => each.list === list)]?.has(index) ? 1 : 0),
      launchCompute: 0,
      launchExchange: 0,
    },
    lists,
  );
  const cells = firsts.flatMap((invocations, list) =>
    [...invocations].map(([index, { direction, microBatch }]): ScheduleCell => {
      const slot = Math.round(step.lists[list]?.start[index] ?? 0);
      return { list, slot, direction, microBatch };
    }),
  );
  const slots = Math.max(...cells.map(({ slot }) => slot)) + 1;
  return { stages: lists.length, slots, cells, idleShare: 1 - cells.length / (slots * lists.length) };
}

type Invocation = Pick<ScheduleCell, 'direction' | 'microBatch'>;

/** First operations of invocations. A block that is not next to the one before begins another chunk. */
function invocationsOf({ operations }: ExpandedList, directionOf: DirectionOf): ReadonlyMap<number, Invocation> {
  const found = new Map<number, Invocation>();
  let open: (Invocation & { readonly block: number }) | undefined;
  for (const operation of operations) {
    const { index, block, microBatch, again } = operation;
    const own = directionOf(operation);
    if (operation.operation.kind !== 'compute' || own === undefined) continue;
    if (block === undefined || microBatch === undefined) continue;
    const direction = again ? 'backward' : own;
    const continues =
      open?.direction === direction && open.microBatch === microBatch && Math.abs(open.block - block) <= 1;
    if (!continues) found.set(index, { direction, microBatch });
    open = { direction, microBatch, block };
  }
  return found;
}

/** The direction of the template that an operation comes from; undefined for lines of a list. */
export type DirectionOf = (operation: ExpandedOperation) => 'forward' | 'backward' | undefined;

/** How the calls of a list go. */
export function directionsOf(program: Program, { list }: ExpandedList): DirectionOf {
  const templates = new Map(program.templates.map(({ name, direction }) => [name, direction]));
  const calls = new Map(
    list.items.flatMap((item) => (item.kind === 'call' ? [[item.id, templates.get(item.template)] as const] : [])),
  );
  return ({ item }) => calls.get(item);
}
