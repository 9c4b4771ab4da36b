/** @file From a scenario to a job: the same constructors that read job files, so the same words when something is wrong. */
import { clusterFromRequest } from '@meshwright/core/cluster';
import { InputError } from '@meshwright/core/errors';
import { createJob, type Job } from '@meshwright/core/job';
import { modelFromConfig, modelFromPreset } from '@meshwright/core/model';
import { modelName, type Scenario } from '../scenario/scenario.ts';
import { isError } from './is-error.ts';

/** The job of a scenario. Throws one InputError with all that is wrong. */
export function jobOf(scenario: Scenario): Job {
  const { model: named, nodes, host, gpu, linkGbps, sequences, length, precision, layout } = scenario;
  const { model, issues: modelIssues } =
    typeof named === 'string' ? modelFromPreset(named, 'model') : modelFromConfig(named.config, { name: named.name });
  const inter = linkGbps === undefined ? {} : { inter: { Gbps: linkGbps } };
  const { cluster, issues: clusterIssues } = clusterFromRequest(
    { preset: host, nodes, ...(gpu !== undefined && { gpu }), ...inter },
    'cluster',
  );
  const wrong = [...modelIssues, ...clusterIssues].filter(isError);
  if (!model || !cluster || wrong.length > 0) throw new InputError(wrong);
  return createJob({ name: modelName(scenario), model, cluster, batch: { sequences, length }, precision, layout });
}
