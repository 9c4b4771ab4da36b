/** @file What slices are called: few names for many slices, so that viewers can group them. */
import { type ExpandedOperation, type Program, renderWhy } from '../program/index.ts';

/** What is written beside a slice. The same object for slices that differ in micro-batch only. */
export interface SliceWords {
  /** `gemm qkv`, `all-reduce r`, `send x`. */
  readonly name: string;
  /** `compute`, `collective`, `send`, `recv`, `wait`, `host`. */
  readonly category: string;
  /** `layer 3`, `embedding`, `head`; absent outside of blocks. */
  readonly block?: string;
  readonly why: string;
}

/** The words of operations, worked out once for each operation of a template and each block. */
export function wordsOf(program: Program): (expanded: ExpandedOperation) => SliceWords {
  const known = new Map<object, (SliceWords | undefined)[]>();
  return (expanded) => {
    const { operation, block } = expanded;
    let words = known.get(operation);
    if (words === undefined) {
      words = [];
      known.set(operation, words);
    }
    const slot = block === undefined ? 0 : block + 2;
    const found = words[slot] ?? describe(program, expanded);
    words[slot] = found;
    return found;
  };
}

function describe({ layers }: Program, expanded: ExpandedOperation): SliceWords {
  const { operation, block } = expanded;
  const place = block === undefined ? undefined : block < 0 ? 'embedding' : block >= layers ? 'head' : `layer ${block}`;
  return {
    name: nameOf(expanded),
    category: operation.kind,
    ...(place !== undefined && { block: place }),
    why: renderWhy(operation.why, { operation, layers, ...(block !== undefined && { block }) }),
  };
}

function nameOf({ operation, reads, writes, again }: ExpandedOperation): string {
  const read = reads[0]?.instance.declaration.name;
  const write = writes[0]?.operand.instance.declaration.name;
  const suffix = again ? ' again' : '';
  switch (operation.kind) {
    case 'compute':
      return `${operation.kernel} ${write ?? ''}`.trimEnd() + suffix;
    case 'collective':
      return `${operation.collective} ${read ?? write ?? ''}`.trimEnd() + suffix;
    default:
      return `${operation.kind} ${read ?? write ?? ''}`.trimEnd() + suffix;
  }
}
