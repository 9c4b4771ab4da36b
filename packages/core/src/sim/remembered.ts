/** @file Answers about operations, kept by operation and shape. */
import type { ExpandedOperation, Operand, Operation } from '../program/index.ts';
import type { Dim } from '../tensor/index.ts';

interface Remembered<Value> {
  readonly dims: readonly (readonly Dim[] | undefined)[];
  readonly value: Value;
}

/** Answers once for each operation of a template or list and each shape of its operands. */
export function remembered<Value>(ask: (expanded: ExpandedOperation) => Value): (expanded: ExpandedOperation) => Value {
  const known = new Map<Operation, Remembered<Value>[]>();
  return (expanded) => {
    const rows = known.get(expanded.operation);
    if (rows !== undefined) {
      for (const row of rows) if (hasDims(expanded, row.dims)) return row.value;
    }
    const value = ask(expanded);
    const row = { dims: [...expanded.reads, ...expanded.writes.map((write) => write.operand)].map(dimsOf), value };
    if (rows === undefined) known.set(expanded.operation, [row]);
    else rows.push(row);
    return value;
  };
}

const dimsOf = (operand: Operand | undefined): readonly Dim[] | undefined => operand?.dims;

function hasDims({ reads, writes }: ExpandedOperation, dims: Remembered<unknown>['dims']): boolean {
  for (let index = 0; index < reads.length; index++) if (!sameDims(reads[index]?.dims, dims[index])) return false;
  for (let index = 0; index < writes.length; index++) {
    if (!sameDims(writes[index]?.operand.dims, dims[reads.length + index])) return false;
  }
  return true;
}

function sameDims(left: readonly Dim[] | undefined, right: readonly Dim[] | undefined): boolean {
  if (left === right) return true;
  if (left === undefined || right === undefined || left.length !== right.length) return false;
  return left.every((dim, index) => {
    const other = right[index];
    if (other === undefined || dim.size !== other.size) return false;
    return sameList(dim.cut, other.cut) && sameList(dim.parts, other.parts);
  });
}

const sameList = (
  left: readonly (string | number)[] | undefined,
  right: readonly (string | number)[] | undefined,
): boolean =>
  left === right || (left?.length === right?.length && left?.every((each, index) => each === right?.[index]) === true);
