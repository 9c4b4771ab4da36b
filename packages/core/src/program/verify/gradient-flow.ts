/** @file Forward of a block, value by value: which uses each value has, and so what its gradient is the sum of. */
import type { Compute, Operation } from '../types.ts';
import { gradientRules, isMove, passesOf } from './gradient-rules.ts';
import type { IsTrained } from './trained.ts';

/** A value of forward: copies, gathered or cut anew, are the same value. */
export type Value = number;

/** Terms of a gradient, each a use: `3:0` is the first operand of call 3, `dy` what comes from behind the block. */
export type Terms = readonly string[];

export interface ForwardCall {
  readonly operation: Compute;
  readonly reads: readonly (Value | undefined)[];
  readonly writes: readonly Value[];
}

/** Forward of one block, value by value. */
export interface Flow {
  readonly calls: readonly ForwardCall[];
  /** What names hold when forward has ended. */
  readonly held: ReadonlyMap<string, Value>;
  readonly valueOf: (name: string) => Value;
  /** All terms of the gradient of a value. */
  readonly gradientOf: (value: Value) => Terms;
  /** Whether the value is trained, or made of something that is: only then it is owed a gradient. */
  readonly isOwed: (value: Value) => boolean;
}

/** Follows the forward of a block; `isTrained` is asked of what it reads from outside. */
export function followForward(operations: readonly Operation[], isTrained: IsTrained): Flow {
  const held = new Map<string, Value>();
  const outside = new Map<string, Value>();
  const uses = new Map<Value, ({ readonly into: Value } | { readonly term: string })[]>();
  const calls: ForwardCall[] = [];
  let last = 0;
  const owed = new Set<Value>();
  const create = (isOwed: boolean): Value => {
    last += 1;
    uses.set(last, []);
    if (isOwed) owed.add(last);
    return last;
  };
  const valueOf = (name: string): Value => {
    const known = held.get(name) ?? outside.get(name) ?? create(isTrained(name));
    if (!held.has(name)) outside.set(name, known);
    return known;
  };
  const write = ({ writes }: Operation, index: number, value: Value): void => {
    const { buffer = '', accumulate } = writes[index] ?? {};
    const before = accumulate ? held.get(buffer) : undefined;
    const whole = before === undefined ? value : create(owed.has(before) || owed.has(value));
    if (before !== undefined) for (const part of [before, value]) uses.get(part)?.push({ into: whole });
    held.set(buffer, whole);
  };
  for (const operation of operations) {
    const reads = operation.reads.map((name) => (name === 'none' ? undefined : valueOf(name)));
    const kept = copied(operation, reads);
    const leads = reads.some((value) => value !== undefined && owed.has(value));
    const writes = operation.writes.map((_, index) => kept[index] ?? create(leads));
    if (operation.kind === 'compute' && !isMove(operation.kernel)) {
      const call = calls.push({ operation, reads, writes }) - 1;
      for (const index of new Set(gradientRules(operation.kernel).flatMap((rule) => rule.writes))) {
        uses.get(reads[index] ?? 0)?.push({ term: `${call}:${index}` });
      }
      for (const index of passesOf(operation.kernel)) {
        uses.get(reads[index] ?? 0)?.push({ into: writes[0] ?? 0 });
      }
    }
    for (const [index, value] of writes.entries()) write(operation, index, value);
  }
  const output = held.get('y');
  if (output !== undefined) uses.get(output)?.push({ term: 'dy' });
  const gradientOf = (value: Value): Terms =>
    (uses.get(value) ?? []).flatMap((use) => ('term' in use ? [use.term] : gradientOf(use.into))).sort();
  return { calls, held, valueOf, gradientOf, isOwed: (value) => owed.has(value) };
}

/** Written values that are those that are read: of exchanges and moves the first one; of a block of attention what it is
 * merged into. */
export function copied(operation: Operation, reads: readonly (Value | undefined)[]): readonly (Value | undefined)[] {
  if (operation.kind !== 'compute') return reads.slice(0, 1);
  if (operation.kernel === 'attention.block') return reads.slice(2, 4);
  return isMove(operation.kernel) ? reads.slice(0, 1) : [];
}
