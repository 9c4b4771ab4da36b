/** @file What the rules of typestate share while they walk one list: reading and writing of states, with recovery. A
 * state that is reported is repaired, so that one fault is said once.
 */
import type { Degrees } from '../../tensor/index.ts';
import type { ExpandedOperation, ExpandedWrite, Operand } from '../expand.ts';
import type { Program, RankList } from '../types.ts';
import { complete, equal, type PartialSet, wordsOf } from './partial.ts';
import type { Finding } from './report.ts';
import { type PlainState, plainState, type States } from './state.ts';
import type { TypeKernel } from './typing.ts';

export interface Walk {
  readonly program: Program;
  readonly list: RankList;
  readonly degrees: Degrees;
  readonly states: States;
  readonly typeKernel: TypeKernel;
  readonly find: (operation: ExpandedOperation, finding: Finding) => void;
  /** Last writes that nothing has read yet, by instance. */
  readonly unread: Map<string, ExpandedOperation>;
  /** Buckets that the norm counts and that the optimizer updates, and the scalars that hold the norm. */
  readonly counted: Set<string>;
  readonly updated: Set<string>;
  /** Buckets that the host has updated, until their weights are back on the device. */
  readonly awaited: Set<string>;
  readonly norms: Set<string>;
}

/** The partial state of a plain buffer that is read. Law: written before read; inputs are there from the start. */
export function readPlain(walk: Walk, operation: ExpandedOperation, { instance }: Operand): PartialSet {
  walk.unread.delete(instance.name);
  const state = walk.states.plain.get(instance.name);
  if (state) {
    if (state.pieces && !isPlacing(operation)) refuseMissingPieces(walk, operation, instance.name, state);
    return state.partial;
  }
  if (instance.declaration.role !== 'input') {
    walk.find(operation, {
      code: 'READ_BEFORE_WRITE',
      message: `${instance.name} is read: no earlier operation of ${walk.list.name} writes it.`,
      hint: 'Write it first.',
    });
    walk.states.plain.set(instance.name, plainState());
  }
  return complete;
}

const isPlacing = ({ operation }: ExpandedOperation): boolean =>
  operation.kind === 'compute' && operation.kernel === 'place';

/** Law: what is written piece by piece is read when all pieces are there. */
function refuseMissingPieces(walk: Walk, operation: ExpandedOperation, name: string, state: PlainState): void {
  const { written = new Set(), of = 0 } = state.pieces ?? {};
  delete state.pieces;
  if (written.size === of) return;
  walk.find(operation, {
    code: 'READ_BEFORE_WRITE',
    message: `${name} is read: ${written.size} of its ${of} pieces are written.`,
    hint: 'Write the others first.',
  });
}

/** A piece more of a buffer that is written piece by piece. Law: each piece is written once. */
export function writePiece(
  walk: Walk,
  operation: ExpandedOperation,
  { operand }: ExpandedWrite,
  { piece, of, before }: { readonly piece: number; readonly of: number; readonly before: PlainState | undefined },
): void {
  const { name } = operand.instance;
  const written = before?.pieces?.written ?? new Set();
  if (written.has(piece)) {
    walk.find(operation, {
      code: 'WRITTEN_NEVER_READ',
      message: `piece ${piece + 1} of ${name} is written again: nothing has read the first one.`,
      hint: 'Write each piece once.',
    });
  }
  const state = walk.states.plain.get(name);
  if (state) state.pieces = { written: new Set([...written, piece]), of };
}

/** Law: an operation that is not linear reads complete values only. */
export function readComplete(walk: Walk, operation: ExpandedOperation, operand: Operand): void {
  const partial = readPlain(walk, operation, operand);
  if (partial.length > 0) refusePartial(walk, operation, operand, partial);
}

export function refusePartial(
  walk: Walk,
  operation: ExpandedOperation,
  { instance }: Operand,
  partial: PartialSet,
): void {
  const isNorm = walk.norms.has(instance.name);
  const axes = partial.map(({ over }) => over).join(' and ');
  walk.find(operation, {
    code: isNorm ? 'NORM_NOT_SUMMED' : 'PARTIAL_READ',
    message: `${instance.name} is read as complete: it is ${wordsOf(partial)}.`,
    hint: `Reduce it over ${axes} first.`,
  });
  walk.states.plain.set(instance.name, plainState());
}

/** Law: what is added into a buffer has the partial state of what is there; a declared state is the one that is made. */
export function writePlain(walk: Walk, operation: ExpandedOperation, write: ExpandedWrite, partial: PartialSet): void {
  const { instance } = write.operand;
  const there = write.accumulate ? walk.states.plain.get(instance.name) : undefined;
  walk.unread.set(instance.name, operation);
  if (there && !equal(there.partial, partial)) {
    walk.find(operation, {
      code: 'PARTIAL_STATES_DIFFER',
      message: `${instance.name} is ${wordsOf(there.partial)}: what is added to it is ${wordsOf(partial)}.`,
      hint: 'Reduce both or neither before adding.',
    });
  }
  walk.states.plain.set(instance.name, plainState(partial));
}

/** Law: the declared partial state is the one that the first write leaves. */
export function checkDeclared(
  walk: Walk,
  operation: ExpandedOperation,
  { instance }: Operand,
  partial: PartialSet,
): void {
  const declared = instance.declaration.partial?.filter(({ over }) => walk.degrees(over) > 1);
  if (declared === undefined || equal(declared, partial)) return;
  walk.find(operation, {
    code: 'PARTIAL_STATES_DIFFER',
    message: `${instance.name} is declared ${wordsOf(declared)}: ${operation.operation.kind === 'compute' ? operation.operation.kernel : 'the exchange'} leaves it ${wordsOf(partial)}.`,
    hint: 'Declare the state that the operation leaves, or reduce it.',
  });
}
