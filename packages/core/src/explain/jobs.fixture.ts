import { readFileSync } from 'node:fs';
import { clusterFromRequest } from '../cluster/index.ts';
import { readJob } from '../io/index.ts';
import { createJob, type Job, type JobInput } from '../job/index.ts';
import { modelFromDimensions } from '../model/index.ts';
import { type Explained, explainJob } from './index.ts';

/** The job of an example file. */
export function exampleJob(name: string): Job {
  const path = new URL(`../../../../examples/${name}.yaml`, import.meta.url);
  const { job, issues } = readJob(readFileSync(path, 'utf8'), name);
  if (!job) throw new Error(JSON.stringify(issues));
  return job;
}

/** A small model on a cluster; enough for every strategy to be legal on eight GPUs. */
export function smallJob(
  dimensions: Readonly<Record<string, unknown>> = {},
  cluster: unknown = '1x dgx-h100',
  more: Partial<JobInput> = {},
): Job {
  const kind = { kind: 'llama', layers: 8, hidden: 512, heads: 8, kvHeads: 8, ffn: 1536, vocab: 4096, positions: 1024 };
  const { model, issues } = modelFromDimensions({ ...kind, ...dimensions }, 'model');
  const found = clusterFromRequest(cluster, 'cluster');
  if (!model || !found.cluster) throw new Error(JSON.stringify([issues, found.issues]));
  return createJob({ name: 'small', model, cluster: found.cluster, batch: { sequences: 64, length: 512 }, ...more });
}

const known = new Map<string, Explained>();

/** The explanation of an example, made once in a test file. */
export function explainedExample(name: string): Explained {
  const explained = known.get(name) ?? explainJob(exampleJob(name));
  known.set(name, explained);
  return explained;
}

export const stepNamed = (explained: Explained, name: string): Explained['flow'][number] => {
  const found = explained.flow.find((each) => each.step === name);
  if (!found) throw new Error(`no step ${name} in ${explained.flow.map((each) => each.step).join(', ')}`);
  return found;
};
