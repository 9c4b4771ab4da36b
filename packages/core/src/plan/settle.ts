/** @file The third tier of one layout: its step operation by operation on the links of the cluster, and what sharing, mutual
 * slow-down and disturbances add to it, one after the other.
 *
 * Operations take at least what they take alone and follow the same rules, so `aloneSeconds` (which is the evaluation at
 * block level, to 1e-9) bounds `sharedSeconds` from below, that `slowedSeconds`, and that the disturbed step.
 */
import { compileProgram } from '../compile/index.ts';
import { type LinkFault, networkOf, type Prices, type SlowDownFactors, slowDownOf } from '../cost/index.ts';
import type { Job } from '../job/index.ts';
import type { Layout } from '../layout/index.ts';
import { expandList, type Program } from '../program/index.ts';
import {
  type Jitter,
  pricesOf,
  type SharedStep,
  type SimulatedStep,
  type SlowDevice,
  simulateProgram,
  simulateShared,
} from '../sim/index.ts';

/** What a step is simulated with. */
export interface SettleOptions {
  /** Every operation as if nothing else ran. */
  readonly alone?: boolean;
  readonly slowDevices?: readonly SlowDevice[];
  readonly links?: readonly LinkFault[];
  readonly jitter?: Jitter;
}

/** A step in time, and what it takes under fewer effects. Seconds; undefined where everything runs alone. */
export interface SettledStep {
  readonly program: Program;
  readonly prices: Prices;
  readonly step: SimulatedStep & Partial<Pick<SharedStep, 'links' | 'flowEvents'>>;
  readonly aloneSeconds: number;
  /** With links shared. */
  readonly sharedSeconds?: number;
  /** And with kernels and exchanges that slow each other down, by these factors. */
  readonly slowedSeconds?: number;
  readonly slowDown?: SlowDownFactors;
}

/** Simulates the step of a legal layout. Throws an InputError for links and devices that are not there. */
export function settleLayout(job: Job, layout: Layout, prices: Prices, options: SettleOptions = {}): SettledStep {
  const { alone = false, links = [], slowDevices = [], jitter } = options;
  const program = compileProgram(job, layout);
  const lists = program.lists.map((list) => expandList(program, list));
  const own = simulateProgram(program, pricesOf(program, prices), lists);
  if (alone) return { program, prices, step: own, aloneSeconds: own.seconds };
  const healthy = { prices, network: networkOf(job.cluster) };
  const shared = simulateShared(program, healthy, lists, own);
  const slowDown = slowDownOf(job.cluster);
  const slowing = { ...healthy, network: networkOf(job.cluster), slowDown };
  const slowed = simulateShared(program, slowing, lists, own);
  const disturbed = links.length > 0 || slowDevices.length > 0 || jitter !== undefined;
  const setting = {
    prices,
    network: networkOf(job.cluster, links),
    slowDown,
    slowDevices,
    ...(jitter && { jitter }),
  };
  return {
    program,
    prices,
    step: disturbed ? simulateShared(program, setting, lists, own) : slowed,
    aloneSeconds: own.seconds,
    sharedSeconds: shared.seconds,
    slowedSeconds: slowed.seconds,
    slowDown,
  };
}
