/** @file One layout on a disturbed cluster, simulated operation by operation beside the healthy one. */
import { type LinkFault, networkOf } from '@meshwright/core/cost';
import type { LayoutRequest } from '@meshwright/core/layout';
import { createEvaluator, type SettledStep, settleLayout } from '@meshwright/core/plan';
import { type IdlePart, type LinkUse, visitIdle } from '@meshwright/core/sim';
import type { Scenario } from '../scenario/scenario.ts';
import { compiled } from './detail.ts';
import { jobOf } from './job-of.ts';

/** What goes wrong: a slow device, a link at a share of its speed (0: gone), kernels that vary. */
export type Disturbance =
  | { readonly kind: 'slow'; readonly device: number; readonly percent: number }
  | { readonly kind: 'link'; readonly family: LinkFault['family']; readonly index: number; readonly speed: number }
  | { readonly kind: 'jitter'; readonly percent: number; readonly seed: number };

/** A step as the simulator placed it. */
export interface SimulatedHealth {
  readonly seconds: number;
  /** Why computing is idle, on the stage that ends last. */
  readonly idle: Readonly<Partial<Record<IdlePart, number>>>;
  /** The busiest links. */
  readonly links: readonly Pick<LinkUse, 'name' | 'load'>[];
}

export interface Disturbed {
  readonly before: SimulatedHealth;
  readonly after: SimulatedHealth;
  readonly note: string;
}

/** The same step healthy and disturbed. Throws an InputError for devices and links that are not there. */
export function disturbed(scenario: Scenario, request: LayoutRequest, disturbance: Disturbance): Disturbed {
  const { job, layout, shown, all } = compiled(scenario, request, (each) => 2 * each.pipeline + 2);
  const prices = createEvaluator(job).pricesOf(layout);
  return {
    before: healthOf(settleLayout(job, layout, prices)),
    after: healthOf(settleLayout(job, layout, prices, optionsOf(disturbance))),
    note: shown < all ? `Simulated over ${shown} of ${all} micro-batches, with the update behind them.` : '',
  };
}

/** Links of the cluster that can be disturbed, with how many of a kind there are. */
export const linkFamilies = (scenario: Scenario): readonly { readonly family: LinkFault['family']; count: number }[] =>
  networkOf(jobOf({ ...scenario, layout: {} }).cluster)
    .network.topology.families.map(({ family, count }) => ({ family, count: Math.floor(count / 2) }))
    .filter(({ count }) => count > 0);

function optionsOf(disturbance: Disturbance): Parameters<typeof settleLayout>[3] {
  switch (disturbance.kind) {
    case 'slow':
      return { slowDevices: [{ device: disturbance.device, seconds: 1 + disturbance.percent / 100 }] };
    case 'link':
      return { links: [{ family: disturbance.family, index: disturbance.index, speed: disturbance.speed }] };
    case 'jitter':
      return { jitter: { spread: disturbance.percent / 100, seed: disturbance.seed } };
  }
}

const LISTED_LINKS = 5;

function healthOf({ step }: SettledStep): SimulatedHealth {
  const idle: Partial<Record<IdlePart, number>> = {};
  visitIdle(step, step.last, step.seconds, ({ part, seconds }) => void (idle[part] = (idle[part] ?? 0) + seconds));
  const links = (step.links ?? []).slice(0, LISTED_LINKS).map(({ name, load }) => ({ name, load }));
  return { seconds: step.seconds, idle, links };
}
