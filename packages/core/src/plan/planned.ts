/** @file What `plan` is asked and what it answers. */
import type { Issue } from '../errors/index.ts';
import type { RejectedLayouts } from '../layout/index.ts';
import type { Reason } from './compare.ts';
import type { RecipeName, RecipePlan } from './recipe/index.ts';
import type { SearchOptions } from './search.ts';
import type { Settled } from './settle-plans.ts';
import type { Shown } from './show-types.ts';
import type { Amounts } from './sizes/amounts.ts';
import type { PlannedSize } from './sizes/size.ts';
import type { Sweep, SweepRange } from './sizes/sweep-types.ts';
import type { WorkloadSize } from './sizes/workloads.ts';

/** What the best plan is best in. `time`: seconds of a step on the whole cluster. `memory`: bytes of the fullest GPU
 * among layouts whose step takes at most 1.25 times the fastest. `gpus`: the fewest devices that fit. `cost` and `energy`: of a step, over clusters of this kind up to the given size. */
export type Objective = 'time' | 'gpus' | 'memory' | 'cost' | 'energy';
export const objectives: readonly Objective[] = ['time', 'gpus', 'memory', 'cost', 'energy'];

export interface PlanOptions extends Partial<Pick<SearchOptions, 'top'>> {
  /** Default `time`. */
  readonly objective?: Objective;
  /** `min`: the smallest cluster of this kind on which a layout fits; a number: a cluster of that many devices. */
  readonly gpus?: 'min' | number;
  /** Plans clusters of these sizes as well. */
  readonly sweep?: SweepRange;
  /** Layouts may recompute some layers only; default false: all layers alike. With the objective time, on one cluster. */
  readonly perLayer?: boolean;
  /** Plans a recipe of the field as well. */
  readonly recipe?: RecipeName;
  /** Of one device, in any currency; that of the cluster when absent. */
  readonly pricePerGpuHour?: number;
  /** `doing` names the cluster where several are planned. */
  readonly onProgress?: (done: number, total: number, phase: 'bound' | 'evaluate', doing?: string) => void;
}

export interface Planned {
  readonly schema: 'meshwright.plan/1';
  readonly considered: number;
  readonly legal: number;
  readonly evaluated: number;
  readonly rejected: RejectedLayouts;
  readonly proven: boolean;
  /** Best first: by the evaluation, and among these few by the simulator where that could look at all of them. */
  readonly plans: readonly Shown[];
  /** What the simulator says of each of them. */
  readonly settled: readonly Settled[];
  /** Why the first plan is ahead of the second. */
  readonly explain: readonly Reason[];
  readonly objective: Objective;
  /** With the objective memory: the longest step that is allowed. */
  readonly slowestSeconds?: number;
  /** What a step of the first plan takes. */
  readonly amounts?: Amounts;
  /** The clusters that were looked at, in ascending order, where the objective chooses the size. */
  readonly sizes?: readonly PlannedSize[];
  /** With the objective gpus: the smallest cluster for training, for full fine-tuning and for adapters. */
  readonly workloads?: readonly WorkloadSize[];
  readonly sweep?: Sweep;
  readonly recipe?: RecipePlan;
  readonly issues: readonly Issue[];
}
