/** @file Asking a worker from a view: the answer as a signal, kept while a newer one is on its way. */

import { type ReadonlySignal, useSignal } from '@preact/signals';
import { useLayoutEffect } from 'preact/hooks';

/** What is known of an answer. `stale`: a newer one has been asked for. */
export interface Known<Value> {
  readonly value: Value | undefined;
  readonly stale: boolean;
  readonly problem: string | undefined;
}

/** Asks again whenever `key` changes; an empty key asks nothing. Before the page is painted: the answer of another key is never
 * seen as that of this one. */
export function useAnswer<Value>(key: string, ask: () => Promise<Value>): ReadonlySignal<Known<Value>> {
  const known = useSignal<Known<Value>>({ value: undefined, stale: true, problem: undefined });
  useLayoutEffect(() => {
    if (key === '') return undefined;
    let wanted = true;
    known.value = { ...known.value, stale: true, problem: undefined };
    ask().then(
      (value) => {
        if (wanted) known.value = { value, stale: false, problem: undefined };
      },
      (error: unknown) => {
        if (!wanted) return;
        const problem = error instanceof Error ? error.message : String(error);
        known.value = { value: undefined, stale: false, problem };
      },
    );
    return () => void (wanted = false);
  }, [key]);
  return known;
}
