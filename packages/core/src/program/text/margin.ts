/** @file What stands in the margin of a line, after `#`: bytes that an exchange works on, and why it is there. */
import type { Degrees } from '../../tensor/index.ts';
import { bytesOf, type Dim, localElements } from '../../tensor/index.ts';
import { boundaryOf, declaredName, degreesOf } from '../expand.ts';
import type { BufferDeclaration, Item, Operation, Program, RankList } from '../types.ts';
import { renderReason } from '../why.ts';

/** Looks up what the margin needs to know of buffers; without a list, of a template's. */
export interface Margin {
  readonly ofOperation: (operation: Operation) => string;
  readonly ofItem: (item: Item) => string;
  /** Bytes of a buffer on one rank, as text. */
  readonly ofBuffer: (declaration: BufferDeclaration) => string;
}

export function createMargin(program: Program, list?: RankList): Margin {
  const degrees = degreesOf(program);
  const buffers = [...program.buffers, ...(list?.buffers ?? [])];
  const declarations = new Map(buffers.map((buffer) => [buffer.name, buffer]));
  const summed = new Map((list?.buckets ?? []).map((bucket) => [bucket.name, bucket.summed]));
  const bytes = (name: string): number | undefined => {
    if (list === undefined) return bytesOfDeclared(declarations.get(boundaryOf(name, 0)?.base ?? name), degrees);
    const sliced = name.endsWith('.summed');
    const declaration = declarations.get(declaredName(sliced ? name.slice(0, -'.summed'.length) : name));
    if (!sliced || declaration === undefined) return bytesOfDeclared(declaration, degrees);
    const [flat] = declaration.dims;
    const size = summed.get(declaration.bucket ?? '') ?? 0;
    return flat && bytesOfDims([{ ...withoutParts(flat), size }], declaration, degrees);
  };
  const ofOperation = (operation: Operation): string => {
    const size = isExchange(operation) ? largest(operation, bytes) : undefined;
    const reason = operation.why.rule === 'model' ? '' : renderReason(operation.why, { operation });
    return [size === undefined ? '' : bytesText(size), reason].filter((part) => part !== '').join(': ');
  };
  return {
    ofOperation,
    ofItem: (item) => (item.kind === 'operation' ? ofOperation(item.operation) : ''),
    ofBuffer: (declaration) => bytesText(bytesOfDims(declaration.dims, declaration, degrees)),
  };
}

/** A whole number of bytes with thousands marked. */
export const bytesText = (bytes: number): string => `${String(bytes).replace(/\B(?=(\d{3})+$)/g, ',')} B`;

const isExchange = ({ kind }: Operation): boolean => kind === 'collective' || kind === 'send' || kind === 'recv';

/** What an exchange works on: the larger of what it reads and writes, which is the whole tensor, not the shard. */
function largest(operation: Operation, bytes: (name: string) => number | undefined): number | undefined {
  const names = [...operation.reads, ...operation.writes.map((write) => write.buffer)];
  const sizes = names.flatMap((name) => bytes(name) ?? []);
  return sizes.length === 0 ? undefined : Math.max(...sizes);
}

const withoutParts = ({ label, size, cut }: Dim): Dim => ({ label, size, ...(cut && { cut }) });

const bytesOfDeclared = (declaration: BufferDeclaration | undefined, degrees: Degrees): number | undefined =>
  declaration && bytesOfDims(declaration.dims, declaration, degrees);

const bytesOfDims = (dims: readonly Dim[], { dtype }: BufferDeclaration, degrees: Degrees): number =>
  localElements(dims, degrees) * bytesOf(dtype);
