/** @file Kernels: what they read must be there, complete and whole; what they write takes its partial state from the
 * row of the kernel, from sums over cut dims, and, for linear operands, from the inputs.
 */
import type { ExpandedOperation, ExpandedWrite, Operand } from '../expand.ts';
import { type KernelRow, kernels } from '../kernels/index.ts';
import type { Compute } from '../types.ts';
import { complete, equal, type PartialSet, partialOver, union, wordsOf } from './partial.ts';
import { isBucket } from './state.ts';
import { checkDeclared, readPlain, refusePartial, type Walk, writePiece, writePlain } from './walk.ts';

/** Types one call of a kernel whose row has a fixed number of operands. */
export function applyKernel(walk: Walk, expanded: ExpandedOperation, operation: Compute): void {
  const row: KernelRow = kernels[operation.kernel];
  const typing = walk.typeKernel(expanded, operation);
  for (const finding of typing.findings) walk.find(expanded, finding);
  let inherited = complete;
  expanded.reads.forEach((operand, index) => {
    if (operand === undefined) return;
    const linear = row.signature.reads[index]?.linear ?? false;
    inherited = union(inherited, readOperand(walk, expanded, operand, linear));
  });
  expanded.writes.forEach((write, index) => {
    const contracted = typing.contracted[index] ?? complete;
    refuseEarlyBias(walk, expanded, operation, contracted);
    const linear = row.signature.writes[index]?.linear ?? false;
    const before = write && walk.states.plain.get(write.operand.instance.name);
    writeOperand(walk, expanded, write, linear ? union(contracted, inherited) : contracted);
    if (operation.kernel === 'place') {
      const { piece, pieces } = operation.attributes ?? {};
      writePiece(walk, expanded, write, { piece: Number(piece), of: Number(pieces), before });
    }
  });
}

/** The partial state that a linear operand hands on; an operand that must be complete hands on nothing. */
function readOperand(walk: Walk, expanded: ExpandedOperation, operand: Operand, linear: boolean): PartialSet {
  if (isBucket(operand.instance)) {
    readWeights(walk, expanded, operand);
    return complete;
  }
  const partial = readPlain(walk, expanded, operand);
  if (partial.length === 0) return complete;
  if (linear && partial.every(({ reduce }) => reduce === 'sum')) return partial;
  refusePartial(walk, expanded, operand, partial);
  return complete;
}

/** Law: weights are whole over data when a kernel reads them. The optimizer leaves each rank its own updated part (or a
 * unit starts as a shard), and until a gather has spread the parts the rest is stale.
 */
function readWeights(walk: Walk, expanded: ExpandedOperation, { instance, view }: Operand): void {
  const state = walk.states.buckets.get(instance.name);
  if (state && (state.cut.length === 0 || state.reported)) return;
  const name = view === undefined ? instance.name : `${view.name} in ${instance.name}`;
  const what = state ? `a rank has its own part over ${state.cut.join(', ')}` : 'nothing has gathered it';
  walk.find(expanded, {
    code: 'WEIGHTS_NOT_GATHERED',
    message: `${name} is read as whole: ${what}.`,
    hint: `Gather ${instance.name} over ${state?.cut.join(' and ') ?? 'data'} before its first use.`,
  });
  walk.states.buckets.set(instance.name, { kind: 'bucket', cut: state?.cut ?? [], views: new Map(), reported: true });
}

/** Law: a bias is added once. Where the product is a part of a sum, each rank would add it. */
function refuseEarlyBias(walk: Walk, expanded: ExpandedOperation, { kernel }: Compute, contracted: PartialSet): void {
  if (contracted.length === 0) return;
  const index = kernels[kernel].signature.reads.findIndex(({ name }) => name === 'bias');
  const bias = expanded.reads[index];
  if (bias === undefined) return;
  const axes = contracted.map(({ over }) => over).join(' and ');
  walk.find(expanded, {
    code: 'BIAS_BEFORE_SUM',
    message: `${bias.view?.name ?? bias.instance.name} is added to a product that is ${wordsOf(contracted)}: each rank adds it.`,
    hint: `Add it after the reduction over ${axes}.`,
  });
}

function writeOperand(walk: Walk, expanded: ExpandedOperation, write: ExpandedWrite, partial: PartialSet): void {
  if (isBucket(write.operand.instance)) return writeGradient(walk, expanded, write, partial);
  if (!write.accumulate) checkDeclared(walk, expanded, write.operand, partial);
  writePlain(walk, expanded, write, union(partial, ofOtherCopies(walk, write)));
}

/** Law: where another list holds the same buckets as this one, it takes the other micro-batches; what all micro-batches add
 * up to is partial over both lists. A shared matrix alone does not make two lists copies.
 */
function ofOtherCopies({ list, degrees }: Walk, { accumulate, operand }: ExpandedWrite): PartialSet {
  const trained = list.buckets.filter(({ frozen }) => !frozen);
  const copies = trained[0]?.copies;
  const sums = accumulate && operand.instance.declaration.scope === 'period' && copies !== undefined;
  if (!sums || degrees(copies) === 1 || trained.some((bucket) => bucket.copies !== copies)) return complete;
  return [partialOver(copies)];
}

/** Law: each list that holds a copy of a parameter contributes to its gradient once, so the gradient is also partial
 * over the group of the copies; and all micro-batches add up the same kind of part.
 */
function writeGradient(walk: Walk, expanded: ExpandedOperation, write: ExpandedWrite, partial: PartialSet): void {
  const { instance, view } = write.operand;
  const bucket = walk.states.bucketOf(instance);
  const copies = bucket?.copies;
  const made = copies !== undefined && walk.degrees(copies) > 1 ? union(partial, [partialOver(copies)]) : partial;
  const state = walk.states.buckets.get(instance.name) ?? { kind: 'bucket', cut: [], views: new Map() };
  walk.states.buckets.set(instance.name, state);
  walk.unread.set(instance.name, expanded);
  if (view === undefined) return;
  const there = write.accumulate ? state.views.get(view) : undefined;
  if (there && !equal(there, made)) {
    walk.find(expanded, {
      code: 'PARTIAL_STATES_DIFFER',
      message: `${view.name} in ${instance.name} is ${wordsOf(there)}: what is added to it is ${wordsOf(made)}.`,
      hint: 'Add all micro-batches before reducing.',
    });
  }
  state.views.set(view, made);
}
