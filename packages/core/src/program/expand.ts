/** @file Writes the operations of one rank list out: calls become the operations of their templates, names of buffers
 * become instances. Order is the order of issue.
 */
import { assertInvariant } from '../errors/index.ts';
import { type Instance, type NameScope, nameScope, type Operand } from './names.ts';
import type { Call, Operation, Program, RankList } from './types.ts';

export interface ExpandedWrite {
  readonly operand: Operand;
  readonly accumulate: boolean;
}

export interface ExpandedOperation {
  readonly index: number;
  /** The line of the list that it comes from. */
  readonly item: number;
  readonly operation: Operation;
  readonly reads: readonly (Operand | undefined)[];
  readonly writes: readonly ExpandedWrite[];
  /** Indices of earlier operations whose end it needs, beside its data. */
  readonly needs: readonly number[];
  readonly block: number | undefined;
  readonly microBatch: number | undefined;
  readonly again: boolean;
}

export interface ExpandedList {
  readonly list: RankList;
  readonly operations: readonly ExpandedOperation[];
  readonly instances: ReadonlyMap<string, Instance>;
}

/** Throws an internal error when a name has no declaration: only our own passes can write such a program. */
export function expandList(program: Program, list: RankList): ExpandedList {
  const scope = nameScope(program, list);
  const templates = new Map(program.templates.map((template) => [template.name, template]));
  const operations: ExpandedOperation[] = [];
  const lastOf = new Map<number, number>();
  for (const item of list.items) {
    const needs = item.needs.map((id) => {
      const end = lastOf.get(id);
      assertInvariant(
        end !== undefined,
        () => `line ${item.id} of ${list.name} needs line ${id}, which is not earlier`,
      );
      return end;
    });
    if (item.kind === 'operation') {
      operations.push(expandOperation(item.operation, scope, operations.length, item.id, needs, undefined, undefined));
    } else {
      const template = templates.get(item.template);
      assertInvariant(template !== undefined, () => `no template ${item.template}`);
      for (const block of blocksOf(item)) {
        for (const operation of template.operations) {
          operations.push(expandOperation(operation, scope, operations.length, item.id, needs, block, item));
        }
      }
    }
    lastOf.set(item.id, operations.length - 1);
  }
  return { list, operations, instances: scope.instances };
}

/** Blocks of a call in the order of execution. */
export function blocksOf(call: Call): readonly number[] {
  const step = call.last < call.first ? -1 : 1;
  return Array.from({ length: Math.abs(call.last - call.first) + 1 }, (_, index) => call.first + step * index);
}

function expandOperation(
  operation: Operation,
  scope: NameScope,
  index: number,
  item: number,
  needs: readonly number[],
  block: number | undefined,
  call: Call | undefined,
): ExpandedOperation {
  const operand = (name: string): Operand =>
    call === undefined || block === undefined ? scope.byInstance(name) : scope.inCall(name, block, call);
  return {
    index,
    item,
    operation,
    reads: operation.reads.map((name) => (name === 'none' ? undefined : operand(name))),
    writes: operation.writes.map((write) => ({
      operand: operand(write.buffer),
      accumulate: write.accumulate ?? false,
    })),
    needs,
    block,
    microBatch: call?.microBatch,
    again: call?.again ?? false,
  };
}

export { bookedAxis, degreesOf, membersOf, spanOf } from './groups.ts';
export { boundaryName, boundaryOf, declaredName, type Instance, instanceName, type Operand } from './names.ts';
