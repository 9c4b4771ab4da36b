/** @file How far assumptions may be off before another plan is the fastest, and scaling over sizes of the cluster. Each value
 * is a whole new evaluation of the plans that are compared.
 */
import type { ClusterSpec } from '@meshwright/core/cluster';
import type { Job } from '@meshwright/core/job';
import { formatLayout, type Layout } from '@meshwright/core/layout';
import { createEvaluator, type Evaluator, evaluateStep, type Sweep, sweepSizes } from '@meshwright/core/plan';
import { Scaling, svgText } from '@meshwright/figures';
import { modelName, type Scenario } from '../scenario/scenario.ts';
import { jobOf } from './job-of.ts';

/** One assumption, and what it does to the order of the plans. */
export interface Sensitivity {
  readonly what: string;
  readonly value: number;
  readonly low: number;
  readonly high: number;
  /** The fastest plan stays the fastest from `from` to `to`, inside of `low` to `high`. */
  readonly from: number;
  readonly to: number;
  /** Short forms of the fastest at `low` and at `high`. */
  readonly atLow: string;
  readonly atHigh: string;
  /** Seconds of the step of the fastest plan of today, at `low` and at `high`. */
  readonly secondsLow: number;
  readonly secondsHigh: number;
}

export interface Sensitivities {
  /** Short form of the plan that evaluates fastest as things are assumed. */
  readonly first: string;
  readonly rows: readonly Sensitivity[];
}

/** An assumption that can be set. */
interface Knob {
  readonly what: string;
  readonly value: number;
  readonly low: number;
  readonly high: number;
  set(value: number): Evaluator;
}

/** Halvings of the range in which the order changes. */
const HALVINGS = 6;

/** Of each assumption that the evaluation rests on, and of the line rate between hosts from a half to twice of it. Throws an
 * InputError for a scenario that is no job. */
export function sensitivityOf(scenario: Scenario, layouts: readonly Layout[]): Sensitivities {
  const job = jobOf({ ...scenario, layout: {} });
  const fastest = (evaluator: Evaluator): Layout =>
    layouts.reduce((best, each) => (secondsOf(evaluator, each) < secondsOf(evaluator, best) ? each : best));
  const [any] = layouts;
  if (any === undefined) return { first: '', rows: [] };
  const now = createEvaluator(job);
  const first = fastest(now);
  return {
    first: formatLayout(first),
    rows: knobsOf(job, now, any).map((knob) => {
      const [low, high] = [knob.set(knob.low), knob.set(knob.high)];
      const [atLow, atHigh] = [fastest(low), fastest(high)];
      const stays = (value: number): boolean => fastest(knob.set(value)) === first;
      return {
        what: knob.what,
        value: knob.value,
        low: knob.low,
        high: knob.high,
        from: atLow === first ? knob.low : borderOf(knob.value, knob.low, stays),
        to: atHigh === first ? knob.high : borderOf(knob.value, knob.high, stays),
        atLow: formatLayout(atLow),
        atHigh: formatLayout(atHigh),
        secondsLow: secondsOf(low, first),
        secondsHigh: secondsOf(high, first),
      };
    }),
  };
}

const secondsOf = (evaluator: Evaluator, layout: Layout): number =>
  evaluateStep(evaluator.specOf(layout), evaluator.orderOf(layout)).seconds;

/** The last value on the way from `inside` to `outside` at which `stays` still holds. */
function borderOf(inside: number, outside: number, stays: (value: number) => boolean): number {
  let [near, far] = [inside, outside];
  for (let halving = 0; halving < HALVINGS; halving++) {
    const half = (near + far) / 2;
    if (stays(half)) near = half;
    else far = half;
  }
  return near;
}

function knobsOf(job: Job, now: Evaluator, layout: Layout): readonly Knob[] {
  const { assumptions } = now.pricesOf(layout);
  const options = {
    'host seconds per kernel launch': (value: number) => ({ launchCompute: value }),
    'host seconds per exchange launch': (value: number) => ({ launchExchange: value }),
    'sustained over burst rate of matrix products': (value: number) => ({ sustained: value }),
  };
  const assumed = Object.entries(options).flatMap(([what, option]): readonly Knob[] => {
    const found = assumptions.find((each) => each.what === what);
    if (!found || found.low === found.high) return [];
    const { value, low, high } = found;
    return [{ what, value, low, high, set: (next) => createEvaluator(job, option(next)) }];
  });
  return [...assumed, ...lineRate(job)];
}

function lineRate(job: Job): readonly Knob[] {
  const { cluster } = job;
  if (cluster.nodes === 1) return [];
  const gigabits = (cluster.inter.rate.value * 8) / 1e9;
  const withRate = (value: number): ClusterSpec => ({
    ...cluster,
    inter: { ...cluster.inter, rate: { ...cluster.inter.rate, value: (value * 1e9) / 8 } },
  });
  return [
    {
      what: 'Gb/s of a link between hosts',
      value: gigabits,
      low: gigabits / 2,
      high: gigabits * 2,
      set: (value) => createEvaluator({ ...job, cluster: withRate(value) }),
    },
  ];
}

/** Scaling, as figure and as numbers. */
export interface ScalingAnswer {
  readonly sweep: Sweep;
  readonly svg: string;
}

/** The best layout of each size from one host to `most` GPUs. */
export function scalingOf(scenario: Scenario, most: number): ScalingAnswer {
  const job = jobOf(scenario);
  const sweep = sweepSizes(job, { from: Math.min(job.cluster.gpusPerNode, most), to: most });
  return { sweep, svg: svgText(Scaling({ sweep, name: modelName(scenario) })) };
}
