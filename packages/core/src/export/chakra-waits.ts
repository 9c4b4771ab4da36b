/** @file What operations of a list wait for, as edges of a graph that knows neither lanes nor hosts. */
import { dependenciesOf, type ExpandedList, holdsHost, type Operation, queueOf } from '../program/index.ts';
import { takesNoTime } from './traced.ts';

/** What each operation waits for: data, and by control the one before in its queue and what the host waited for. */
export interface Waits {
  readonly data: readonly (readonly number[])[];
  readonly control: readonly (readonly number[])[];
}

/** Marks and lifetimes are left out; what waits for one waits for what that waits for. */
export function waitsOf(list: ExpandedList): Waits {
  const { starts, targets } = dependenciesOf(list);
  const data: number[][] = [];
  const control: number[][] = [];
  const last = new Map<string, number>();
  let anchor: number | undefined;
  for (const { index, operation } of list.operations) {
    const found = new Set<number>();
    for (let at = starts[index] as number; at < (starts[index + 1] as number); at++) {
      const of = targets[at] as number;
      const silent = takesNoTime(list.operations[of]?.operation as Operation);
      for (const each of silent ? (data[of] ?? []) : [of]) found.add(each);
    }
    data[index] = [...found];
    if (takesNoTime(operation)) continue;
    const queue = queueOf(operation);
    const before = last.get(queue);
    control[index] = [...new Set([before, anchor])].filter(
      (each) => each !== undefined && !found.has(each),
    ) as number[];
    last.set(queue, index);
    if (holdsHost(operation)) anchor = index;
  }
  return { data, control };
}
