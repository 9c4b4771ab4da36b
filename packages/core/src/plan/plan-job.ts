/** @file From a job and what is asked to the best layouts, each in full, and why the first one is first. */
import { InputError, issue } from '../errors/index.ts';
import type { Job } from '../job/index.ts';
import { withFewerRecomputed } from './per-layer.ts';
import { answer, USUAL_TOP } from './plan-answer.ts';
import type { Planned, PlanOptions } from './planned.ts';
import { planRecipe } from './recipe/index.ts';
import { type SearchOptions, type SearchResult, searchLayouts } from './search.ts';
import { checkAmounts } from './sizes/amounts.ts';
import { comparedSizes, jobOnGpus, type PlannedSize, plannedSize } from './sizes/size.ts';
import { MOST_GPUS, smallestCluster } from './sizes/smallest.ts';
import { sweepSizes } from './sizes/sweep.ts';
import { workloadSizes } from './sizes/workloads.ts';

/** Plans a job: searches over all keys that its layout request leaves open. `plans` is empty when nothing fits. Throws an
 * InputError where the options contradict each other, or ask for a price that nobody gave.
 */
export function planJob(job: Job, options: PlanOptions = {}): Planned {
  const { sweep, recipe, onProgress } = options;
  const answered = planByObjective(job, options);
  const seconds = answered.plans[0]?.step.seconds;
  let doing = '';
  const told: SearchOptions['onProgress'] = (done, total, phase) => onProgress?.(done, total, phase, doing);
  const say = (next: string): void => {
    doing = next;
  };
  if (recipe !== undefined) say(`recipe ${recipe}`);
  const own = answered.sizes === undefined ? job : (jobOnGpus(job, answered.plans[0]?.gpus ?? 0) ?? job);
  return {
    ...answered,
    ...(recipe !== undefined && { recipe: planRecipe(own, recipe, seconds, told) }),
    ...(sweep && { sweep: sweepSizes(job, sweep, told, say) }),
  };
}

function planByObjective(job: Job, options: PlanOptions): Planned {
  const { objective = 'time', gpus, pricePerGpuHour } = options;
  const choosesSize = objective === 'gpus' || objective === 'cost' || objective === 'energy';
  if (gpus !== undefined && choosesSize && !(gpus === 'min' && objective === 'gpus')) {
    const message = `objective ${objective} chooses the number of GPUs, and it is given as ${gpus}.`;
    throw new InputError([issue('OPTIONS_CONTRADICT', '--gpus', message, 'Keep one of the two.')]);
  }
  if (objective === 'cost' || objective === 'energy') {
    checkAmounts(job, objective, pricePerGpuHour);
    return cheapest(job, objective, options);
  }
  if (gpus === 'min' || objective === 'gpus') return smallest(job, options);
  return planOnCluster(gpus === undefined ? job : sizedJob(job, gpus), options);
}

/** The job on a given number of devices of its kind. Throws an InputError where these are no whole nodes. */
export function sizedJob(job: Job, gpus: number): Job {
  const sized = jobOnGpus(job, gpus);
  if (sized) return sized;
  const { gpusPerNode } = job.cluster;
  const message = `${gpus} GPUs are neither whole nodes of ${gpusPerNode} nor a divisor of one.`;
  const near = Math.max(1, Math.round(gpus / gpusPerNode)) * gpusPerNode;
  throw new InputError([issue('NODE_NOT_WHOLE', '--gpus', message, `Use ${near}.`)]);
}

function smallest(job: Job, options: PlanOptions): Planned {
  const { onProgress, pricePerGpuHour } = options;
  let doing = '';
  const search: SearchOptions = {
    ...searchOptions(options),
    onProgress: (done, total, phase) => onProgress?.(done, total, phase, doing),
  };
  const say = (gpus: number): void => {
    doing = `${gpus} GPUs`;
  };
  const own = smallestCluster(job, search, say, pricePerGpuHour);
  const { found, sizes, never } = own;
  doing = 'other workloads';
  const workloads = workloadSizes(job, own, { ...search, top: 1 });
  if (found) return { ...answer(found.job, found.result, options), objective: 'gpus', sizes, workloads };
  const message = never?.words ?? `no layout fits on up to ${MOST_GPUS} of these GPUs.`;
  const hint = 'Use larger devices, shorter sequences, or fewer fixed keys.';
  const issues = [issue('NOTHING_FITS', 'layout', message, hint, never ? { leastBytes: never.leastBytes } : {})];
  return { ...nothingPlanned, objective: 'gpus', sizes, workloads, issues };
}

/** The size that takes the least money or energy for a step: on one kind of device both are GPU time. */
function cheapest(job: Job, objective: 'cost' | 'energy', options: PlanOptions): Planned {
  const { onProgress, pricePerGpuHour } = options;
  const sizes: PlannedSize[] = [];
  let best: { readonly job: Job; readonly result: SearchResult; readonly gpuSeconds: number } | undefined;
  for (const gpus of comparedSizes(job)) {
    const sized = jobOnGpus(job, gpus);
    if (sized === undefined) continue;
    const result = searchLayouts(sized, {
      ...searchOptions(options),
      onProgress: (done, total, phase) => onProgress?.(done, total, phase, `${gpus} GPUs`),
    });
    const size = plannedSize(sized, result, pricePerGpuHour);
    sizes.push(size);
    const gpuSeconds = size.amounts?.gpuSeconds ?? Number.POSITIVE_INFINITY;
    if (size.verdict === 'fits' && (best === undefined || gpuSeconds < best.gpuSeconds)) {
      best = { job: sized, result, gpuSeconds };
    }
  }
  if (best) return { ...answer(best.job, best.result, options), objective, sizes };
  return { ...planOnCluster(job, options), objective, sizes };
}

/** A plan without plans. */
const nothingPlanned: Omit<Planned, 'issues' | 'objective'> = Object.freeze({
  schema: 'meshwright.plan/1',
  considered: 0,
  legal: 0,
  evaluated: 0,
  rejected: Object.freeze({}),
  proven: false,
  plans: [],
  settled: [],
  explain: [],
});

const searchOptions = ({ top = USUAL_TOP, objective, onProgress }: PlanOptions): SearchOptions => ({
  top,
  ranking: objective === 'memory' ? 'memory' : 'time',
  ...(onProgress && { onProgress }),
});

/** How much slower than the fastest layout one that needs less memory may be. Without a limit the least memory is that of
 * layouts that nobody runs: every rank a stage, one sequence at a time, all of it computed twice. */
const MEMORY_SLOWDOWN = 1.25;

function planOnCluster(job: Job, options: PlanOptions): Planned {
  const search = searchOptions(options);
  if (options.objective !== 'memory') {
    const uniform = searchLayouts(job, search);
    return answer(job, options.perLayer ? withFewerRecomputed(job, uniform, search.top) : uniform, options);
  }
  const [fastest] = searchLayouts(job, { ...search, ranking: 'time', top: 1 }).best;
  const limit = fastest && { slowest: MEMORY_SLOWDOWN * fastest.evaluation.seconds };
  const found = answer(job, searchLayouts(job, { ...search, ...limit }), options);
  return { ...found, ...(limit && { slowestSeconds: limit.slowest }) };
}
