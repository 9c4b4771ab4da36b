import { clusterFromRequest } from '../../cluster/index.ts';
import { createJob, type Job, type JobInput } from '../../job/index.ts';
import { modelFromDimensions, modelFromPreset } from '../../model/index.ts';

/** A Llama of four layers on a cluster of the name. */
export function smallJob(cluster: unknown, more: Partial<JobInput> & { readonly hidden?: number } = {}): Job {
  const { hidden = 2048, ...rest } = more;
  const dimensions = { kind: 'llama', layers: 4, hidden, heads: 16, ffn: 4 * hidden, vocab: 32000 };
  const { model } = modelFromDimensions(dimensions, 'model');
  return jobOf(model, cluster, rest);
}

/** A model by name on a cluster. */
export const presetJob = (name: string, cluster: unknown, more: Partial<JobInput> = {}): Job =>
  jobOf(modelFromPreset(name, 'model').model, cluster, more);

function jobOf(model: JobInput['model'] | undefined, cluster: unknown, more: Partial<JobInput>): Job {
  const found = clusterFromRequest(cluster, 'cluster').cluster;
  if (!found || !model) throw new Error('internal: the fixture is broken.');
  return createJob({ name: 'sized', model, cluster: found, batch: { sequences: 64, length: 1024 }, ...more });
}
