/** @file The job of a scenario that only names what it is made of: the first answer needs no reader of configurations and
 * changed clusters, so these are loaded when a scenario has one.
 */
import { createCluster, presetNames } from '@meshwright/core/cluster';
import { createJob, type Job } from '@meshwright/core/job';
import { modelFromPreset } from '@meshwright/core/model';
import type { Scenario } from '../scenario/scenario.ts';
import { isError } from './is-error.ts';

/** Nodes that are surely few enough: more are left to the reader, which knows the limit. */
const FEW_NODES = 8192;

/** The job, as `jobOf` makes it; undefined where a part of the scenario is not the name of a preset, or not right. */
export function presetJob(scenario: Scenario): Job | undefined {
  const { model: name, nodes, host, gpu, linkGbps, sequences, length, precision, layout } = scenario;
  const preset = presetNames.find((each) => each === host);
  const isChanged = gpu !== undefined || linkGbps !== undefined;
  if (typeof name !== 'string' || preset === undefined || isChanged || nodes > FEW_NODES) return undefined;
  const { model, issues } = modelFromPreset(name, 'model');
  if (!model || issues.some(isError)) return undefined;
  const cluster = createCluster(preset, nodes);
  return createJob({ name, model, cluster, batch: { sequences, length }, precision, layout });
}

/** The job of any scenario. Rejects with an InputError for one that is no job. */
export const jobFor = async (scenario: Scenario): Promise<Job> =>
  presetJob(scenario) ?? (await import('./job-of.ts')).jobOf(scenario);
