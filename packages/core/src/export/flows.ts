/** @file Which receive belongs to which send: the k-th send of a buffer from one stage to another and the k-th receive. */
import type { ExpandedList, ExpandedOperation } from '../program/index.ts';

/** Pairs of a send and its receive, numbered from 0. */
export interface Flows {
  readonly count: number;
  /** By index of list and of operation, the number of its pair; -1 for what neither sends nor receives. */
  readonly of: readonly Int32Array[];
}

/** Pairs all sends with their receives; a send without a receive, or the other way round, has a number of its own. */
export function flowsOf(lists: readonly ExpandedList[]): Flows {
  const of = lists.map(({ operations }) => new Int32Array(operations.length).fill(-1));
  const known = new Map<string, number[]>();
  const turns = new Map<string, number>();
  let count = 0;
  for (const [index, { list, operations }] of lists.entries()) {
    for (const expanded of operations) {
      const key = pairKey(expanded, list.pipeline);
      if (key === undefined) continue;
      const side = `${key} ${expanded.operation.kind}`;
      const turn = turns.get(side) ?? 0;
      turns.set(side, turn + 1);
      const numbers = known.get(key) ?? [];
      known.set(key, numbers);
      const number = numbers[turn] ?? count++;
      numbers[turn] = number;
      (of[index] as Int32Array)[expanded.index] = number;
    }
  }
  return { count, of };
}

function pairKey({ operation, reads, writes }: ExpandedOperation, pipeline: number): string | undefined {
  if (operation.kind === 'send') return `${reads[0]?.instance.name} ${pipeline} ${operation.peer}`;
  if (operation.kind === 'recv') return `${writes[0]?.operand.instance.name} ${operation.peer} ${pipeline}`;
  return undefined;
}
