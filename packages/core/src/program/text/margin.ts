/** @file What stands in the margin of a line, after `#`: bytes that an exchange moves, and why it is there. */
import type { Degrees } from '../../tensor/index.ts';
import { sentBytes } from '../bytes.ts';
import { degreesOf, type ExpandedOperation } from '../expand.ts';
import { boundaryName, declaredName, isSlice, type Operand, withoutSlice } from '../names.ts';
import { bufferBytes, touchedBytes } from '../shapes.ts';
import type { BufferDeclaration, Item, Operation, Program, RankList } from '../types.ts';
import { renderReason } from '../why.ts';

/** Looks up what the margin needs to know of buffers; without a list, of a template's. */
export interface Margin {
  readonly ofOperation: (operation: Operation) => string;
  readonly ofItem: (item: Item) => string;
  /** Bytes of a buffer on one rank. */
  readonly ofBuffer: (declaration: BufferDeclaration) => string;
}

export function createMargin(program: Program, list?: RankList): Margin {
  const degrees = degreesOf(program);
  const operand = list === undefined ? templateOperands(program) : listOperands(program, list);
  const ofOperation = (operation: Operation): string => {
    const reason = operation.why.rule === 'model' ? '' : renderReason(operation.why, { operation });
    return [movedText(operation, operand, degrees), reason].filter((part) => part !== '').join(': ');
  };
  return {
    ofOperation,
    ofItem: (item) => {
      if (item.kind === 'operation') return ofOperation(item.operation);
      return item.again ? renderReason({ rule: 'recompute' }) : '';
    },
    ofBuffer: (declaration) =>
      declaration.shardOf === undefined
        ? bytesText(bufferBytes(operandOf(declaration.name, declaration), degrees))
        : 'in place',
  };
}

/** A number of bytes with thousands marked. */
const bytesText = (bytes: number): string => `${String(bytes).replace(/\B(?=(\d{3})+$)/g, ',')} B`;

type FindOperand = (name: string) => Operand | undefined;

const operandOf = (name: string, declaration: BufferDeclaration): Operand => ({
  instance: { name, declaration },
  dims: declaration.dims,
});

function templateOperands({ buffers }: Program): FindOperand {
  const declarations = new Map(buffers.map((buffer) => [buffer.name, buffer]));
  return (name) => {
    const declaration = declarations.get(boundaryName(name));
    return declaration && operandOf(name, declaration);
  };
}

function listOperands(program: Program, list: RankList): FindOperand {
  const declarations = new Map([...program.buffers, ...list.buffers].map((buffer) => [buffer.name, buffer]));
  const summed = new Map(list.buckets.map((bucket) => [bucket.name, bucket.summed]));
  return (name) => {
    const sliced = isSlice(name);
    const declaration = declarations.get(declaredName(withoutSlice(name)));
    if (declaration === undefined) return undefined;
    const [flat] = declaration.dims;
    if (!sliced || flat === undefined) return operandOf(name, declaration);
    const size = summed.get(declaration.bucket ?? '') ?? 0;
    const dims = [{ label: flat.label, size, ...(flat.cut && { cut: flat.cut }) }];
    return { instance: { name, declaration }, slice: 'summed', dims };
  };
}

/** "sends 32 B", "receives 32 B"; nothing for what is no exchange. */
function movedText(operation: Operation, operand: FindOperand, degrees: Degrees): string {
  const reads = operation.reads.flatMap((name) => operand(name) ?? []);
  const writes = operation.writes.flatMap(({ buffer }) => operand(buffer) ?? []);
  const [read] = reads;
  const [write] = writes;
  if (operation.kind === 'recv') return write ? `receives ${bytesText(touchedBytes(write, degrees))}` : '';
  const exchange = operation.kind === 'collective' ? read && write : operation.kind === 'send' && read;
  if (!exchange) return '';
  const alone: ExpandedOperation = {
    index: 0,
    item: 0,
    operation,
    reads,
    writes: writes.map((each) => ({ operand: each, accumulate: false })),
    needs: [],
    block: undefined,
    microBatch: undefined,
    again: false,
  };
  return `sends ${bytesText(sentBytes(alone, degrees))}`;
}
