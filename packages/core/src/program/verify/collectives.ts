/** @file Collectives on plain buffers and scalars; those on buckets are in bucket-collectives.ts.
 *
 * The law: a reduction takes a value that is partial over its axis, by the operation that the state names, and removes
 * that state; a reduce-scatter cuts the dim besides, innermost. A gather takes a dim that its axis cuts innermost and
 * makes it whole. Every reduction is a plain sum: the seed of the loss is 1 / tokens of the global batch, so a mean
 * anywhere would divide once too often.
 */
import { assertUnreachable } from '../../errors/index.ts';
import type { Dim } from '../../tensor/index.ts';
import type { ExpandedOperation, ExpandedWrite, Operand } from '../expand.ts';
import type { Collective } from '../types.ts';
import { checkMoved } from './all-to-all.ts';
import { applyBucketCollective } from './bucket-collectives.ts';
import { cutOf, cutWords, type PartialSet, sameAxes, without, wordsOf } from './partial.ts';
import { isBucket, plainState } from './state.ts';
import { readComplete, readPlain, type Walk, writePlain } from './walk.ts';

/** Types one collective. */
export function applyCollective(walk: Walk, expanded: ExpandedOperation, operation: Collective): void {
  const [read] = expanded.reads;
  const [write] = expanded.writes;
  if (read === undefined || write === undefined) return;
  refuseMean(walk, expanded, operation);
  if (isBucket(read.instance)) {
    applyBucketCollective(walk, expanded, operation, read, write);
    return;
  }
  const before = readPlain(walk, expanded, read);
  readTable(walk, expanded, read);
  checkDims(walk, expanded, operation, read, write);
  writePlain(walk, expanded, write, stateAfter(walk, expanded, operation, read, before));
}

/** Law: rows are exchanged by a complete table of their counts, and nothing else has one. */
function readTable(walk: Walk, expanded: ExpandedOperation, { dims, instance }: Operand): void {
  const table = expanded.reads[1];
  if (table) readComplete(walk, expanded, table);
  const routed = dims.some((dim) => dim.routed !== undefined);
  if (routed === (table !== undefined)) return;
  walk.find(expanded, {
    code: 'PROGRAM_OPERANDS_WRONG',
    message: routed
      ? `${instance.name} has rows whose number depends on data: the exchange reads no counts of them.`
      : `${instance.name} has pieces of one size: the exchange reads counts.`,
    hint: routed ? 'Name the table of counts as the second operand.' : 'Leave the second operand out.',
  });
}

function refuseMean(walk: Walk, expanded: ExpandedOperation, { factor }: Collective): void {
  if (factor === 1) return;
  walk.find(expanded, {
    code: 'MEAN_NOT_ALLOWED',
    message: `The result is multiplied by ${factor}: reductions are sums, the loss is seeded with 1 / tokens of the global batch.`,
    hint: 'Set the factor to 1.',
  });
}

function stateAfter(
  walk: Walk,
  expanded: ExpandedOperation,
  operation: Collective,
  { instance }: Operand,
  before: PartialSet,
): PartialSet {
  const { collective, axis } = operation;
  if (collective !== 'all-reduce' && collective !== 'reduce-scatter') return before;
  const part = before.find(({ over }) => over === axis);
  const reduce = operation.reduce ?? 'sum';
  if (part === undefined) {
    walk.find(expanded, {
      code: walk.norms.has(instance.name) ? 'NORM_COUNTED_TWICE' : 'SUMMED_TWICE',
      message: `${instance.name} is reduced over ${axis}: it is ${wordsOf(before)} and would count ${walk.degrees(axis)} times.`,
      hint: `Leave the reduction over ${axis} out.`,
    });
  } else if (part.reduce !== reduce) {
    walk.find(expanded, {
      code: 'REDUCTION_DIFFERS',
      message: `${instance.name} is reduced by ${reduce}: it is ${wordsOf([part])}.`,
      hint: `Reduce it by ${part.reduce}.`,
    });
  }
  if (part) walk.states.plain.set(instance.name, plainState(before));
  return without(before, axis);
}

/** Cuts of the dims before and after agree with what the collective does. */
function checkDims(
  walk: Walk,
  expanded: ExpandedOperation,
  operation: Collective,
  read: Operand,
  { operand }: ExpandedWrite,
): void {
  const name = `${read.instance.name} -> ${operand.instance.name}`;
  if (read.dims.length !== operand.dims.length || read.dims.some((dim, at) => dim.size !== operand.dims[at]?.size)) {
    walk.find(expanded, {
      code: 'SHAPES_DISAGREE',
      message: `${name}: both sides of a ${operation.collective} have one global shape, here they differ.`,
      hint: 'Declare both with the same sizes.',
    });
    return;
  }
  if (operation.collective === 'all-to-all') return checkMoved(walk, expanded, operation, read, operand);
  read.dims.forEach((dim, at) => {
    const before = cutOf(dim, walk.degrees);
    const after = cutOf(operand.dims[at] ?? dim, walk.degrees);
    const expected = cutAfter(walk, expanded, operation, dim, before, read.instance.name);
    if (!sameAxes(after, expected)) {
      walk.find(expanded, {
        code: 'CUTS_DISAGREE',
        message: `${name}: the ${operation.collective} over ${operation.axis} leaves ${dim.label} ${cutWords(expected)}, ${operand.instance.name} has it ${cutWords(after)}.`,
        hint: 'Declare the cut that the collective leaves.',
      });
    }
  });
}

function cutAfter(
  walk: Walk,
  expanded: ExpandedOperation,
  operation: Collective,
  dim: Dim,
  before: readonly string[],
  name: string,
): readonly string[] {
  const { collective, axis } = operation;
  if (dim.label !== operation.dim || walk.degrees(axis) === 1) return before;
  switch (collective) {
    case 'all-reduce':
    case 'broadcast':
    case 'all-to-all':
    case 'shift':
      return before;
    case 'reduce-scatter':
      return [...before, axis];
    case 'all-gather':
      if (before.at(-1) === axis) return before.slice(0, -1);
      walk.find(expanded, {
        code: 'GATHER_NOT_CUT',
        message: `${name} is gathered along ${dim.label} over ${axis}: that dim is ${cutWords(before)}.`,
        hint: 'Gather the axis that cuts the dim innermost.',
      });
      return before;
    default:
      return assertUnreachable(collective);
  }
}
