/** @file The norm and the optimizer: rows over buckets of any number.
 *
 * The law of the norm: over all ranks whose parts are summed, each element of each gradient counts exactly once. An axis
 * splits a gradient when it cuts it (tensor, the data shards), or when each of its ranks holds other parameters
 * (pipeline): then the norm must be summed over it. A parameter that is whole on such an axis is counted on one
 * coordinate; a shared one on one stage. Where nothing is split, nothing is summed. Where sets of shards repeat each other,
 * the norm is that of one set: it is summed within the set, and the set holds every element once. A parameter that lies over the expert
 * grid is split or counted along each of its axes; the sums over the dense grid's axes pass every rank of a stage.
 *
 * The law of the optimizer: it reads gradients that nobody must reduce any more, cut like the state that it updates,
 * and updates every bucket once. Weights that are whole are afterwards cut like the gradient: a rank has updated its
 * own part.
 */
import { type AxisName, gridOf } from '../../mesh/index.ts';
import { type ExpandedOperation, membersOf, type Operand, partOf, spanOf } from '../expand.ts';
import type { Bucket, Compute, View } from '../types.ts';
import { complete, cutOf, cutWords, type PartialSet, partialOver, sameAxes, sorted, wordsOf } from './partial.ts';
import type { Finding } from './report.ts';
import { type BucketState, declaredCut, groupViews, isBucket, viewWords } from './state.ts';
import { readComplete, type Walk, writePlain } from './walk.ts';

/** Types a kernel of the norm or the optimizer. */
export function applyVariadic(walk: Walk, expanded: ExpandedOperation, operation: Compute): void {
  switch (operation.kernel) {
    case 'square-sum':
      return squareSum(walk, expanded);
    case 'clip':
      for (const read of expanded.reads) if (read) readComplete(walk, expanded, read);
      for (const write of expanded.writes) writePlain(walk, expanded, write, complete);
      checkAllCounted(walk, expanded);
      return;
    default:
      return update(walk, expanded);
  }
}

function squareSum(walk: Walk, expanded: ExpandedOperation): void {
  const summedOver = new Map<string, string>();
  const repeated = new Map<string, string>();
  const ofSet = setAxes(walk);
  const ranksOfSet = new Set([...ofSet.values()].reduce((ranks, over) => reached(walk, ranks, over), [0]));
  for (const operand of expanded.reads) {
    const bucket = operand && walk.states.bucketOf(operand.instance);
    if (operand === undefined || bucket === undefined) continue;
    const state = readGradient(walk, expanded, operand, bucket);
    if (walk.counted.has(bucket.name)) {
      walk.find(expanded, countedTwice(bucket.name, 'it has been counted before', 'Count each bucket once.'));
    }
    walk.counted.add(bucket.name);
    for (const view of bucket.views) {
      const name = `${view.name} in ${operand.instance.name}`;
      const apart = isOverExperts(walk, view, state);
      for (const { name: axis, degree } of (apart ? walk.program.mesh.experts : walk.program.mesh.axes) ?? []) {
        if (degree === 1) continue;
        const { share, pieces } = shareOf(walk, bucket, view, state, axis);
        if (share === 'missed') walk.find(expanded, missed(view, operand, axis));
        if (!apart || axis === 'pipeline') {
          const over = axis === 'pipeline' ? axis : ofSet.get(axis);
          if (over !== undefined) (share === 'whole' ? repeated : summedOver).set(over, name);
          continue;
        }
        const here = membersOf(walk.program, 0, axis).filter((rank) => ranksOfSet.has(rank)).length;
        if (here > pieces) {
          walk.find(
            expanded,
            countedTwice(name, `every rank along ${axis} counts it`, `Count it on one of ${axis} only.`),
          );
        } else if (here < pieces) walk.find(expanded, missed(view, operand, axis));
      }
      // Its parts lie all over the ranks of a set, which the axes of the dense grid sum.
      if (apart) for (const over of ofSet.values()) summedOver.set(over, name);
    }
  }
  for (const [axis, view] of repeated) {
    if (!summedOver.has(axis)) continue;
    const hint = `Count it on one coordinate of ${axis} only.`;
    walk.find(expanded, countedTwice(view, `every rank along ${axis} counts it, others are split over ${axis}`, hint));
  }
  const partial: PartialSet = sorted([...summedOver.keys()].map((axis) => partialOver(axis)));
  for (const write of expanded.writes) {
    walk.norms.add(write.operand.instance.name);
    writePlain(walk, expanded, write, partial);
  }
}

/** Over what the ranks of a set of shards lie, by axis of the dense grid: whole axes, or a part of one where sets repeat. */
function setAxes({ program, list, degrees }: Walk): ReadonlyMap<string, string> {
  const cuts = new Set(list.buffers.flatMap(({ dims }) => dims.flatMap((dim) => cutOf(dim, degrees))));
  const over = new Map<string, string>();
  for (const { name, degree } of program.mesh.axes) {
    if (degree === 1 || name === 'pipeline') continue;
    const part = program.groups.find((each) => each.repeats && each.along === name && cuts.has(each.name));
    if (part === undefined) over.set(name, name);
    else if (part.coordinates.length > 1) over.set(name, spanOf(program, part.name)[0] ?? name);
  }
  return over;
}

/** All ranks of the groups of some ranks over an axis or named group. */
const reached = ({ program }: Walk, ranks: readonly number[], over: string): number[] =>
  ranks.flatMap((rank) => membersOf(program, rank, over));

/** The parameter lies over the expert grid: an axis of it cuts or repeats what the rank counts. */
function isOverExperts({ program, degrees }: Walk, view: View, state: BucketState): boolean {
  if (program.mesh.experts === undefined) return false;
  const axes = [
    ...state.cut,
    ...view.dims.flatMap((dim) => cutOf(dim, degrees)),
    ...view.counted.map(({ axis }) => axis),
  ];
  const along = axes.map((axis) => partOf(program, axis)?.axis ?? axis);
  return along.some((axis) => gridOf(program.mesh, axis as AxisName) === program.mesh.experts);
}

/** How the ranks along an axis share the elements of a gradient in the norm. */
type Share = 'split' | 'counted' | 'whole' | 'missed';

function shareOf(
  walk: Walk,
  bucket: Bucket,
  view: View,
  state: BucketState,
  axis: string,
): { readonly share: Share; readonly pieces: number } {
  const counted = view.counted.find((each) => each.axis === axis);
  const group = walk.program.groups.find(({ name }) => name === bucket.copies);
  const cuts = [...state.cut, ...view.dims.flatMap((dim) => cutOf(dim, walk.degrees))];
  const cut = cuts.flatMap((each) => spanOf(walk.program, each));
  if (axis === group?.along) {
    const share =
      counted === undefined ? 'whole' : group.coordinates.includes(counted.coordinate) ? 'counted' : 'missed';
    return { share, pieces: 1 };
  }
  // Which cut is along the axis: the axis itself, or one of the two groups that make it up.
  const along = cut.find((each) => each === axis || partOf(walk.program, each)?.axis === axis);
  const split = along !== undefined || axis === 'pipeline';
  const pieces = along !== undefined ? walk.degrees(along) : counted === undefined ? 1 : walk.degrees(axis);
  if (counted === undefined) return { share: split ? 'split' : 'whole', pieces };
  return { share: split ? 'missed' : 'counted', pieces };
}

const missed = (view: View, { instance }: Operand, axis: string): Finding => ({
  code: 'NORM_MISSED',
  message: `${view.name} in ${instance.name} is counted on one coordinate of ${axis}: the others hold parts that are left out.`,
  hint: 'Count it on every coordinate that holds a part.',
});

const countedTwice = (what: string, why: string, hint: string): Finding => ({
  code: 'NORM_COUNTED_TWICE',
  message: `The norm counts ${what} more than once: ${why}.`,
  hint,
});

function checkAllCounted(walk: Walk, expanded: ExpandedOperation): void {
  for (const { name, frozen } of walk.list.buckets) {
    if (frozen || walk.counted.has(name)) continue;
    walk.find(expanded, {
      code: 'NORM_MISSED',
      message: `Bucket ${name} of ${walk.list.name} is not in the norm that limits the step: 0 of its gradients are counted.`,
      hint: 'Give its gradient to square-sum.',
    });
  }
}

/** The state of a gradient that must be complete; what is reported is repaired. */
export function readGradient(
  walk: Walk,
  expanded: ExpandedOperation,
  { instance }: Operand,
  bucket: Bucket,
): BucketState {
  const state: BucketState = walk.states.buckets.get(instance.name) ?? {
    kind: 'bucket',
    cut: declaredCut(instance, walk.degrees),
    views: new Map(),
  };
  walk.states.buckets.set(instance.name, state);
  walk.unread.delete(instance.name);
  const declared = declaredCut(instance, walk.degrees);
  if (!sameAxes(state.cut, declared)) {
    walk.find(expanded, {
      code: 'CUTS_DISAGREE',
      message: `${instance.name} is read ${cutWords(declared)}: it is ${cutWords(state.cut)}.`,
      hint: 'Read the shard that the reduction leaves.',
    });
    walk.states.buckets.set(instance.name, { ...state, cut: declared });
  }
  const wrong = groupViews(bucket.views, (view) => {
    const partial = state.views.get(view);
    return partial?.length === 0 ? undefined : partial === undefined ? 'missing' : wordsOf(partial);
  });
  for (const views of wrong.values()) {
    const [view] = views;
    const partial = view && state.views.get(view);
    const name = viewWords(views, instance);
    walk.find(expanded, partial === undefined ? missing(name) : notSummed(name, bucket, partial));
    for (const each of views) state.views.set(each, complete);
  }
  return state;
}

const missing = (name: string): Finding => ({
  code: 'GRADIENT_MISSING',
  message: `${name} is read: nothing wrote it in this period.`,
  hint: 'Write and reduce the gradient first.',
});

function notSummed(name: string, bucket: Bucket, partial: PartialSet): Finding {
  const tied = partial.some(({ over }) => over === bucket.copies);
  return {
    code: tied ? 'TIED_NOT_SUMMED' : 'GRADIENT_NOT_SUMMED',
    message: `${name} is read as the whole gradient: it is ${wordsOf(partial)}.`,
    hint: `Sum it over ${partial.map(({ over }) => over).join(' and ')} first.`,
  };
}

function update(walk: Walk, expanded: ExpandedOperation): void {
  const gradients = new Map<string, readonly string[]>();
  for (const operand of expanded.reads) {
    if (operand === undefined) continue;
    const bucket = walk.states.bucketOf(operand.instance);
    if (bucket === undefined) readComplete(walk, expanded, operand);
    else gradients.set(bucket.name, readGradient(walk, expanded, operand, bucket).cut);
  }
  const roles = new Map<string, Set<string>>();
  for (const { operand } of expanded.writes) {
    if (!isBucket(operand.instance)) continue;
    const { bucket = '', role } = operand.instance.declaration;
    roles.set(bucket, (roles.get(bucket) ?? new Set()).add(role));
    writeUpdated(walk, expanded, operand, gradients.get(bucket));
    if (role === 'weight' && operand.instance.declaration.place === 'host') walk.awaited.add(bucket);
  }
  for (const bucket of new Set([...gradients.keys(), ...roles.keys()])) {
    const lacks = lacking(gradients.has(bucket), roles.get(bucket));
    if (lacks) walk.find(expanded, incomplete(bucket, `the update lacks its ${lacks}`));
    if (walk.updated.has(bucket)) walk.find(expanded, incomplete(bucket, 'it is updated twice'));
    walk.updated.add(bucket);
  }
}

function lacking(gradient: boolean, roles: ReadonlySet<string> | undefined): string | undefined {
  if (!gradient) return 'gradient';
  if (!roles?.has('weight')) return 'weights';
  return roles.has('optimizer') ? undefined : 'state';
}

/** A bucket that the optimizer leaves out, or takes in part. */
export const incomplete = (bucket: string, what: string): Finding => ({
  code: 'OPTIMIZER_INCOMPLETE',
  message: `Bucket ${bucket} must be updated exactly once with gradient, weights and state: ${what}.`,
  hint: 'Give the optimizer all of them, once.',
});

/** State and weight shards are cut like the gradient; whole weights are cut like it from now on. */
export function writeUpdated(
  walk: Walk,
  expanded: ExpandedOperation,
  { instance }: Operand,
  gradient: readonly string[] | undefined,
): void {
  if (gradient === undefined) return;
  const { role } = instance.declaration;
  const declared = declaredCut(instance, walk.degrees);
  const free = role === 'weight' && declared.length === 0;
  if (!free && !sameAxes(declared, gradient)) {
    walk.find(expanded, {
      code: 'CUTS_DISAGREE',
      message: `${instance.name} is ${cutWords(declared)}: the gradient that updates it is ${cutWords(gradient)}.`,
      hint: 'Cut the state and the gradient alike.',
    });
  }
  walk.states.buckets.set(instance.name, { kind: 'bucket', cut: gradient, views: new Map() });
}
