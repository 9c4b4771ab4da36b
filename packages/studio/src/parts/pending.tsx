/** @file What stands where an answer will stand: a skeleton of about its size, or what went wrong. */
import type { ComponentChildren, VNode } from 'preact';
import type { Known } from './answer.tsx';

interface PendingProps<Value> {
  readonly known: Known<Value>;
  readonly words: string;
  readonly height: number;
  readonly children: (value: Value) => ComponentChildren;
}

/** Shows an answer, dimmed while a newer one is computed. */
export function Pending<Value>({ known, words, height, children }: PendingProps<Value>): VNode {
  if (known.problem !== undefined)
    return (
      <p class="problem" role="alert">
        {known.problem}
      </p>
    );
  if (known.value === undefined) {
    return (
      <div class="skeleton" style={{ height: `${height}px` }}>
        <p role="status">{words}</p>
      </div>
    );
  }
  return <div class={known.stale ? 'stale' : undefined}>{children(known.value)}</div>;
}
