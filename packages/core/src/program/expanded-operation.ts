/** @file Operations of a list written out one by one: what a line, or a line of a template in one block, does to which buffers. */
import type { Instance, NameScope, Operand } from './names.ts';
import type { Call, Operation, RankList } from './types.ts';

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

/** All operations of a list, in the order of issue. */
export interface WrittenList {
  readonly list: RankList;
  readonly operations: readonly ExpandedOperation[];
  readonly instances: ReadonlyMap<string, Instance>;
}

/** Fills in the names of one operation: by the block and micro-batch of a call, or as its line writes them. */
export function expandOperation(
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
