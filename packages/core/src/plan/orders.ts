/** @file Orders of the axes: every one of a layout evaluated, and whether the best is the usual one.
 *
 * Usual is tensor innermost, where its many exchanges find the fastest links, and data or pipeline outermost, which
 * exchange least often. Where the best order is another one, the reason is named with its numbers.
 */
import { InputError } from '../errors/index.ts';
import type { Job } from '../job/index.ts';
import { completeLayout, type Layout, type LayoutRequest } from '../layout/index.ts';
import type { DenseAxis } from '../mesh/index.ts';
import { formatSeconds, seconds as inSeconds } from '../units/index.ts';
import { createEvaluator, type Evaluator } from './evaluate/index.ts';
import { type AxisPlacement, placementsOf, placementWords } from './order-reason.ts';
import { evaluateLayout } from './search.ts';
import { splitCosts } from './split-costs.ts';

/** A step under one order of the axes that are wider than one, fastest first. */
export interface OrderedStep {
  readonly order: readonly DenseAxis[];
  readonly seconds: number;
}

/** Why the usual order is not the best one.
 *
 * `TENSOR_LEAVES_DOMAIN`: the tensor group is larger than a link domain, so it crosses slower links in any order.
 * `TENSOR_LOSES_NOTHING`: an exchange of tensor is priced no slower over the links that it has in the best order.
 * `ANOTHER_AXIS_IS_HEAVIER`: exchanges of tensor lose, and those of the axis that is innermost instead gain more. */
export interface OrderException {
  readonly code: 'TENSOR_LEAVES_DOMAIN' | 'TENSOR_LOSES_NOTHING' | 'ANOTHER_AXIS_IS_HEAVIER';
  /** The axis that is innermost instead. */
  readonly axis: DenseAxis;
  /** Seconds by which the best of the usual orders is slower. */
  readonly lostSeconds: number;
  /** Seconds of one gather of activations over tensor, in the best of the usual orders and in the best of all. */
  readonly gatherSeconds: { readonly usual: number; readonly best: number };
  /** Which bytes of each axis cross which link under the best of the usual orders and under the best of all, and what
   * compute waits for them; the waits of all differ by `lostSeconds`. */
  readonly placements: readonly AxisPlacement[];
  readonly words: string;
}

export interface OrderSearch {
  /** Every order, the fastest first. */
  readonly tried: readonly OrderedStep[];
  /** Orders that no other one beats. */
  readonly best: readonly OrderedStep[];
  /** The usual order is among the best; absent where tensor is 1 or the only axis. */
  readonly usual: boolean | undefined;
  /** Present exactly when `usual` is false. */
  readonly exception?: OrderException;
}

/** Times that differ by less are equal. */
const SAME = 1e-9;

/** Evaluates the layout of a request under every order of its axes. Throws an InputError when it is not legal. */
export function searchOrders(job: Job, request: LayoutRequest = job.layout): OrderSearch {
  const { layout, issues } = completeLayout(request, job, splitCosts(job));
  if (issues.some((each) => each.severity === 'error')) throw new InputError(issues);
  const evaluator = createEvaluator(job);
  const wide = (['tensor', 'context', 'data', 'pipeline'] as const).filter((axis) => layout[axis] > 1);
  const tried = permutationsOf(wide)
    .map((order) => ({ order, seconds: stepSeconds(evaluator, withOrder(layout, order)) }))
    .sort((a, b) => a.seconds - b.seconds);
  const least = tried[0]?.seconds ?? 0;
  const best = tried.filter(({ seconds }) => seconds <= least * (1 + SAME));
  if (wide.length < 2 || !wide.includes('tensor')) return { tried, best, usual: undefined };
  if (best.some(({ order }) => isUsual(order))) return { tried, best, usual: true };
  const exception = exceptionOf(evaluator, layout, tried, best);
  return { tried, best, usual: false, ...(exception && { exception }) };
}

const isUsual = (order: readonly DenseAxis[]): boolean =>
  order[0] === 'tensor' && (order.at(-1) === 'data' || order.at(-1) === 'pipeline');

const withOrder = (layout: Layout, wide: readonly DenseAxis[]): Layout => ({
  ...layout,
  order: [...wide, ...layout.order.filter((axis) => !wide.includes(axis))],
});

const stepSeconds = (evaluator: Evaluator, layout: Layout): number =>
  evaluateLayout(evaluator, layout).evaluation.seconds;

function exceptionOf(
  evaluator: Evaluator,
  layout: Layout,
  tried: readonly OrderedStep[],
  [fastest]: readonly OrderedStep[],
): OrderException | undefined {
  const usual = tried.find(({ order }) => isUsual(order));
  const axis = fastest?.order[0];
  if (usual === undefined || fastest === undefined || axis === undefined) return undefined;
  const under = ({ order }: OrderedStep) => evaluateLayout(evaluator, withOrder(layout, order));
  const gatherSeconds = {
    usual: gatherOf(evaluator, withOrder(layout, usual.order)),
    best: gatherOf(evaluator, withOrder(layout, fastest.order)),
  };
  const placements = placementsOf(evaluator, under(usual), under(fastest));
  const facts = { axis, lostSeconds: usual.seconds - fastest.seconds, gatherSeconds, placements };
  const code = codeOf(facts, layout.tensor > evaluator.job.cluster.intra.gpus);
  return { code, ...facts, words: wordsOf(evaluator, layout, code, facts) };
}

/** Its wait changes by a hundredth of what is lost at least. */
const matters = ({ usual, best }: AxisPlacement, lostSeconds: number): boolean =>
  Math.abs(usual.waitedSeconds - best.waitedSeconds) >= lostSeconds / 100;

type Facts = Omit<OrderException, 'code' | 'words'>;

const codeOf = ({ gatherSeconds }: Facts, leaves: boolean): OrderException['code'] =>
  leaves
    ? 'TENSOR_LEAVES_DOMAIN'
    : gatherSeconds.best <= gatherSeconds.usual
      ? 'TENSOR_LOSES_NOTHING'
      : 'ANOTHER_AXIS_IS_HEAVIER';

function wordsOf({ job }: Evaluator, { tensor }: Layout, code: OrderException['code'], facts: Facts): string {
  const { axis, lostSeconds, gatherSeconds, placements } = facts;
  const { gpus } = job.cluster.intra;
  const leaves = `tensor ${tensor} is larger than a link domain of ${gpus}, and `;
  const gather = `a gather over tensor takes ${time(gatherSeconds.best)} in place of ${time(gatherSeconds.usual)}`;
  const gain = `${axis} innermost gains ${time(lostSeconds)} a step: ${gather}`;
  const rows = placements.filter((each) => matters(each, lostSeconds)).map(placementWords);
  return `${code === 'TENSOR_LEAVES_DOMAIN' ? leaves : ''}${[gain, ...rows].join('; ')}.`;
}

/** A gather of the activations of a micro-batch, as sequence parallelism does around every product. */
function gatherOf({ job, pricesOf }: Evaluator, layout: Layout): number {
  const values = layout.microBatch * Math.ceil(job.batch.length / layout.context) * job.model.hidden;
  const bytes = values * (job.precision === 'fp32' ? 4 : 2);
  return pricesOf(layout).exchange({ kind: 'all-gather', algorithm: 'ring', bytes, axes: ['tensor'] });
}

const time = (value: number): string => formatSeconds(inSeconds(value));

function permutationsOf(axes: readonly DenseAxis[]): readonly (readonly DenseAxis[])[] {
  if (axes.length === 0) return [[]];
  return axes.flatMap((axis) => permutationsOf(axes.filter((each) => each !== axis)).map((rest) => [axis, ...rest]));
}
