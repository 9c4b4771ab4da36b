/** @file Collectives on flat buckets: gathers of weights, sums and scatters of gradients.
 *
 * The law: a gather over an axis takes weights that this axis cuts and makes them whole. A sum or scatter of gradients
 * takes parameters that are all written and all partial over the axis: what is not partial would be counted once for
 * each rank. `G.b.summed` covers the leading parameters only. What was scattered is used up.
 */
import { type ExpandedOperation, type ExpandedWrite, type Operand, partOf, spanOf } from '../expand.ts';
import type { Collective, PartialState, View } from '../types.ts';
import { cutWords, equal, type PartialSet, partialOver, sameAxes, union, without, wordsOf } from './partial.ts';
import type { Finding } from './report.ts';
import { type BucketState, coveredViews, declaredCut, groupViews, viewWords } from './state.ts';
import type { Walk } from './walk.ts';

export function applyBucketCollective(
  walk: Walk,
  expanded: ExpandedOperation,
  operation: Collective,
  read: Operand,
  write: ExpandedWrite,
): void {
  if (operation.collective === 'all-gather') gatherWeights(walk, expanded, operation, read, write);
  else reduceGradients(walk, expanded, operation, read, write);
}

function gatherWeights(
  walk: Walk,
  expanded: ExpandedOperation,
  { axis }: Collective,
  { instance }: Operand,
  { operand }: ExpandedWrite,
): void {
  const cut = walk.states.buckets.get(instance.name)?.cut ?? [];
  if (cut.at(-1) !== axis) {
    walk.find(expanded, {
      code: 'GATHER_NOT_CUT',
      message: `${instance.name} is gathered over ${axis}: it is ${cutWords(cut)}.`,
      hint: 'Gather a bucket once after it was cut.',
    });
  }
  const left = cut.filter((each) => each !== axis);
  const declared = declaredCut(operand.instance, walk.degrees);
  if (!sameAxes(left, declared)) walk.find(expanded, cutFinding(operand, left, declared));
  walk.states.buckets.set(operand.instance.name, { kind: 'bucket', cut: left, views: new Map() });
}

function reduceGradients(
  walk: Walk,
  expanded: ExpandedOperation,
  operation: Collective,
  read: Operand,
  { operand, accumulate }: ExpandedWrite,
): void {
  const bucket = walk.states.bucketOf(read.instance);
  const state = walk.states.buckets.get(read.instance.name) ?? { kind: 'bucket', cut: [], views: new Map() };
  if (bucket === undefined) return;
  walk.unread.delete(read.instance.name);
  walk.unread.set(operand.instance.name, expanded);
  const covered = coveredViews(bucket, read);
  const groups = groupViews(covered, (view) => {
    const partial = state.views.get(view);
    return partial === undefined ? 'missing' : wordsOf(partial);
  });
  for (const views of groups.values()) checkReduced(walk, expanded, operation, read, views, state);
  const reduced = new Map(
    covered.map((view) => [view, reducedOver(walk, operation.axis, state.views.get(view) ?? [])]),
  );
  if (operation.collective === 'all-reduce') {
    for (const [view, partial] of reduced) state.views.set(view, partial);
    walk.states.buckets.set(operand.instance.name, state);
    return;
  }
  const after: BucketState = { kind: 'bucket', cut: [...state.cut, operation.axis], views: reduced };
  const declared = declaredCut(operand.instance, walk.degrees);
  if (!sameAxes(after.cut, declared)) walk.find(expanded, cutFinding(operand, after.cut, declared));
  const there = accumulate ? walk.states.buckets.get(operand.instance.name) : undefined;
  if (there) compareAdded(walk, expanded, operand, there, after);
  walk.states.buckets.set(operand.instance.name, after);
  walk.states.buckets.set(read.instance.name, { kind: 'bucket', cut: state.cut, views: new Map() });
}

/** A group of several axes reduces over each of them; the sum over a part of an axis leaves the one over its other part. */
const reducedOver = (walk: Walk, over: string, partial: PartialSet): PartialSet =>
  spanOf(walk.program, over).reduce((left, each) => {
    const found = stateOver(walk, each, left);
    const part = partOf(walk.program, each);
    const rest = without(left, found?.over ?? each);
    if (found === undefined || part?.other === undefined || found.over !== part.axis) return rest;
    return union(rest, [partialOver(part.other, found.reduce)]);
  }, partial);

/** What must be reduced over an axis or group: it is partial over that, or over the axis of which that is a part. */
const stateOver = ({ program }: Walk, over: string, partial: PartialSet): PartialState | undefined =>
  partial.find((each) => each.over === over) ?? partial.find((each) => each.over === partOf(program, over)?.axis);

/** Whether parameters of one state may be reduced so. */
function checkReduced(
  walk: Walk,
  expanded: ExpandedOperation,
  { axis, reduce = 'sum' }: Collective,
  { instance }: Operand,
  views: readonly View[],
  state: BucketState,
): void {
  const [view] = views;
  const before = view && state.views.get(view);
  const span = spanOf(walk.program, axis);
  const states = span.map((each) => before && stateOver(walk, each, before));
  const part = states.find((each) => each !== undefined);
  const missing = span.find((_, index) => states[index] === undefined);
  const name = viewWords(views, instance);
  if (before === undefined) {
    walk.find(expanded, {
      code: 'GRADIENT_MISSING',
      message: `${name} is reduced over ${axis}: nothing wrote it in this period.`,
      hint: 'Write the gradients of all parameters of the bucket first.',
    });
  } else if (part === undefined || missing !== undefined) {
    walk.find(expanded, {
      code: 'SUMMED_TWICE',
      message: `${name} is reduced over ${axis}: it is ${wordsOf(before)} and would count ${walk.degrees(missing ?? axis)} times.`,
      hint: `Leave it out of the reduction over ${axis}.`,
    });
  } else if (part.reduce !== reduce) {
    walk.find(expanded, {
      code: 'REDUCTION_DIFFERS',
      message: `${name} is reduced by ${reduce}: it is ${wordsOf([part])}.`,
      hint: `Reduce it by ${part.reduce}.`,
    });
  }
}

function compareAdded(
  walk: Walk,
  expanded: ExpandedOperation,
  { instance }: Operand,
  there: BucketState,
  added: BucketState,
): void {
  for (const [view, partial] of added.views) {
    const old = there.views.get(view);
    if (old === undefined || equal(old, partial)) continue;
    walk.find(expanded, {
      code: 'PARTIAL_STATES_DIFFER',
      message: `${view.name} in ${instance.name} is ${wordsOf(old)}: what is added to it is ${wordsOf(partial)}.`,
      hint: 'Reduce all micro-batches alike.',
    });
  }
}

const cutFinding = ({ instance }: Operand, left: readonly string[], declared: readonly string[]): Finding => ({
  code: 'CUTS_DISAGREE',
  message: `${instance.name} is declared ${cutWords(declared)}: the collective leaves it ${cutWords(left)}.`,
  hint: 'Declare the cut that the collective leaves.',
});
