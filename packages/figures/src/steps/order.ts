/** @file In which order a step is told. The program runs through the simulator with unit prices: the first operation of
 * each piece of computing takes 1, exchanges take next to nothing. So pieces fall into whole slots, exchanges stand
 * between them, and stages that compute at the same time share a slot. Nothing here knows a cluster.
 */
import type { ExpandedList, ExpandedOperation, Program } from '@meshwright/core/program';
import { type SimulatedStep, simulateProgram } from '@meshwright/core/sim';

/** A power of two, so that sums are exact; far below 1 over the exchanges of any program that is drawn. */
const MOMENT = 2 ** -24;

/** What one list does in one step: operations by index, in order. */
export interface Part {
  readonly list: number;
  readonly operations: readonly number[];
}

/** One step of the figure: computing side by side, or one exchange. */
export interface OrderedStep {
  readonly slot: number;
  /** `compute`, or kind and rule of the exchange. */
  readonly key: string;
  readonly parts: readonly Part[];
}

/** All steps in order. Every operation that computes or exchanges is in exactly one; a receive is in that of its send. */
export function orderSteps(program: Program, lists: readonly ExpandedList[]): readonly OrderedStep[] {
  const pieces = lists.map((list) => piecesOf(list, program.lists.length > 1));
  const step = simulateProgram(program, unitPrices(lists, pieces), lists);
  return group(happeningsOf(step, lists, pieces));
}

const unitPrices = (lists: readonly ExpandedList[], pieces: readonly Int32Array[]) => ({
  duration: ({ index, operation }: ExpandedOperation, list: ExpandedList['list']): number => {
    if (operation.kind !== 'compute') return operation.kind === 'wait' || operation.kind === 'host' ? 0 : MOMENT;
    const own = pieces[lists.findIndex((each) => each.list === list)];
    return own?.[index] === index ? 1 : 0;
  },
  launchCompute: 0,
  launchExchange: 0,
});

/** For each operation the first one of its piece; -1 for what is none. A piece ends where the block, the direction or the
 * micro-batch changes, and at a collective inside of a block; stages of a pipeline compute a micro-batch in one piece. */
function piecesOf({ operations }: ExpandedList, pipelined: boolean): Int32Array {
  const pieces = new Int32Array(operations.length).fill(-1);
  let first = -1;
  let open = '';
  for (const { index, operation, block, microBatch, again } of operations) {
    if (operation.kind === 'collective' && operation.lane !== 'data.gather' && operation.lane !== 'data.reduce')
      open = '';
    if (operation.kind !== 'compute') continue;
    const key = `${directionOf(operation.why.rule, block)} ${again} ${microBatch} ${pipelined ? '' : block}`;
    if (key !== open) first = index;
    open = key;
    pieces[index] = first;
  }
  return pieces;
}

const directionOf = (rule: string, block: number | undefined): string => (block === undefined ? rule : 'model');

interface Happening {
  readonly slot: number;
  readonly start: number;
  readonly key: string;
  readonly parts: readonly Part[];
}

function happeningsOf(
  step: SimulatedStep,
  lists: readonly ExpandedList[],
  pieces: readonly Int32Array[],
): readonly Happening[] {
  const { graph } = step;
  const happenings: Happening[] = [];
  const place = (at: number): Part => {
    let list = 0;
    while (at >= (graph.base[list + 1] as number)) list += 1;
    return { list, operations: [at - (graph.base[list] as number)] };
  };
  lists.forEach((expanded, list) => {
    const own = pieces[list] as Int32Array;
    const base = graph.base[list] as number;
    const members = membersOf(own);
    for (const { index, operation } of expanded.operations) {
      const start = step.start[base + index] as number;
      const slot = Math.floor(start);
      if (operation.kind === 'compute') {
        if (own[index] !== index) continue;
        happenings.push({ slot, start, key: 'compute', parts: [{ list, operations: members.get(index) ?? [] }] });
      } else if (operation.kind === 'collective' || operation.kind === 'send') {
        if (operation.kind === 'collective' && graph.leader[base + index] !== base + index) continue;
        const parts: Part[] = [place(base + index)];
        for (let at = graph.next[base + index] as number; at !== base + index; at = graph.next[at] as number)
          parts.push(place(at));
        const kind = operation.kind === 'send' ? 'send' : operation.collective;
        happenings.push({ slot, start, key: `${kind} ${operation.why.rule}`, parts });
      }
    }
  });
  return happenings;
}

/** Operations of each piece, by its first. */
function membersOf(pieces: Int32Array): ReadonlyMap<number, readonly number[]> {
  const members = new Map<number, number[]>();
  pieces.forEach((first, index) => {
    if (first < 0) return;
    const known = members.get(first);
    if (known) known.push(index);
    else members.set(first, [index]);
  });
  return members;
}

/** Within a slot exchanges come first, and those of one kind in different lists are one step. */
function group(happenings: readonly Happening[]): readonly OrderedStep[] {
  const late = ({ key }: Happening): number => (key === 'compute' ? 1 : 0);
  const sorted = [...happenings].sort(
    (a, b) =>
      a.slot - b.slot ||
      late(a) - late(b) ||
      a.start - b.start ||
      (a.parts[0]?.list ?? 0) - (b.parts[0]?.list ?? 0) ||
      (a.parts[0]?.operations[0] ?? 0) - (b.parts[0]?.operations[0] ?? 0),
  );
  const steps: { slot: number; key: string; parts: Part[] }[] = [];
  const lastOf = new Map<number, number>();
  let slotStart = 0;
  for (const { slot, key, parts } of sorted) {
    if (steps.at(-1)?.slot !== slot) slotStart = steps.length;
    // What a stage sends and what it receives may pass each other; else a list does one thing after the other.
    const next = (list: number): number => {
      const last = lastOf.get(list) ?? -1;
      return key.startsWith('send') && steps[last]?.key === key ? last : last + 1;
    };
    let at = Math.max(slotStart, ...parts.map(({ list }) => next(list)));
    while (at < steps.length && steps[at]?.key !== key) at += 1;
    const joined = steps[at];
    if (joined) joined.parts.push(...parts);
    else steps.push({ slot, key, parts: [...parts] });
    for (const { list } of parts) lastOf.set(list, at);
  }
  return steps.map((each) => ({ ...each, parts: [...each.parts].sort((a, b) => a.list - b.list) }));
}
