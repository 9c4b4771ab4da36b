import { type Issue, issue, throwOnErrors } from '../errors/index.ts';
import { checkAdapters, checkCompiles, withAdapters } from '../model/index.ts';
import { type BatchInput, batchOf, checkBatch } from './batch.ts';
import type { Job, KernelPlan, RoutingSpec } from './types.ts';

/** A job before its defaults are filled in. */
export type JobInput = Pick<Job, 'model' | 'cluster'> & {
  readonly batch: BatchInput;
  readonly kernels?: Partial<KernelPlan>;
  readonly routing?: RoutingSpec;
} & Partial<Pick<Job, 'name' | 'precision' | 'optimizer' | 'workload' | 'framework' | 'layout'>>;

/** What a job assumes for keys that are left out. */
export const jobDefaults: Pick<
  Job,
  'precision' | 'optimizer' | 'workload' | 'framework' | 'kernels' | 'routing' | 'layout'
> = Object.freeze({
  precision: 'bf16',
  optimizer: 'adamw',
  workload: 'pretrain',
  framework: 'meshwright',
  kernels: Object.freeze({ attention: 'flash', dropout: 0 }),
  routing: Object.freeze({}),
  layout: Object.freeze({}),
});

/** The job of `input`, frozen, with defaults for what is absent. Throws one InputError with all that is wrong. */
export function createJob(input: JobInput): Job {
  const issues: Issue[] = [...checkNumbers(input)];
  throwOnErrors(issues);
  const { batch, issues: batchIssues } = batchOf(input.batch, 'batch');
  throwOnErrors(batchIssues);
  const { cluster, name = input.model.name } = input;
  const model = modelOf(input);
  const job = {
    ...jobDefaults,
    ...withoutUndefined(input),
    name,
    model,
    cluster,
    batch,
    kernels: Object.freeze({ ...jobDefaults.kernels, ...withoutUndefined(input.kernels ?? {}) }),
    routing: Object.freeze(withoutUndefined(input.routing ?? {})),
  } as Job;
  throwOnErrors([...validateJob(job), ...checkPrecision({ ...job, ...job.kernels })]);
  return Object.freeze(job);
}

/** The model as the workload trains it: whole, or frozen with adapters. */
function modelOf({ model, workload }: Pick<JobInput, 'model' | 'workload'>): JobInput['model'] {
  const { adapters: _adapters, ...whole } = model;
  if (typeof workload !== 'object') return model.adapters === undefined ? model : whole;
  throwOnErrors(checkAdapters(whole, workload.lora, 'workload.lora'));
  return withAdapters(whole, workload.lora);
}

/** All that is wrong or risky between the parts of a job; layouts are judged elsewhere. */
export function validateJob(job: Pick<Job, 'batch' | 'model'>): readonly Issue[] {
  return [...checkCompiles(job.model), ...checkBatch(job.batch, job.model, 'batch')];
}

/** Devices whose matrix units take the scales of blocks. */
const blockScales: readonly string[] = ['blackwell', 'blackwell-rtx', 'cdna4'];

/** The device has products of the type that the job computes in, and of its narrow recipe. */
export function checkPrecision({
  cluster,
  precision,
  products,
}: Pick<Job, 'cluster' | 'precision'> & Pick<KernelPlan, 'products'>): readonly Issue[] {
  const { name, gemm, generation } = cluster.device;
  if (gemm[precision] === undefined) return [precisionIssue(name, precision, thereOf(gemm))];
  if (products === undefined) return [];
  const isScaled = products === 'mxfp8' || products === 'nvfp4';
  if (gemm.fp8 !== undefined && (!isScaled || blockScales.includes(generation))) return [];
  const instead = gemm.fp8 === undefined ? thereOf(gemm) : 'fp8-current or fp8-delayed';
  return [precisionIssue(name, products, instead)];
}

const thereOf = (gemm: Job['cluster']['device']['gemm']): string =>
  (['bf16', 'fp16', 'fp32'] as const).filter((type) => gemm[type] !== undefined).join(' or ');

const precisionIssue = (device: string, precision: string, instead: string): Issue =>
  issue('PRECISION_NOT_ON_DEVICE', 'precision', `${device} has no products in ${precision}.`, `Use ${instead}.`, {
    precision,
  });

/** What a job file calls the precision of a job. */
export const precisionName = ({ precision, kernels }: Pick<Job, 'precision' | 'kernels'>): string =>
  kernels.products ?? precision;

function checkNumbers({ batch, kernels, model, routing }: JobInput): readonly Issue[] {
  const issues: Issue[] = [];
  const { sequences, tokens, length, maxTokens } = batch;
  for (const [key, value] of Object.entries({ sequences, tokens, length, max: maxTokens })) {
    if (value === undefined || (Number.isSafeInteger(value) && value > 0)) continue;
    const message = `${String(value)} is not a positive whole number.`;
    issues.push(issue('VALUE_OUT_OF_RANGE', `batch.${key}`, message, 'Use 1 or more.'));
  }
  const dropout = kernels?.dropout ?? 0;
  if (!(dropout >= 0 && dropout < 1)) {
    issues.push(issue('VALUE_OUT_OF_RANGE', 'kernels.dropout', `${dropout} is not in [0, 1).`, 'Use 0 to 0.9.'));
  }
  const imbalance = routing?.imbalance ?? 1;
  const experts = Math.max(1, ...model.layers.map(({ ffn }) => (ffn.kind === 'moe' ? ffn.experts : 1)));
  if (!(imbalance >= 1 && imbalance <= experts)) {
    const message = `${imbalance} is not in [1, ${experts}]: the busiest rank has at least the mean, and at most all rows.`;
    issues.push(issue('VALUE_OUT_OF_RANGE', 'routing.imbalance', message, 'Use 1 for equal shares.'));
  }
  if (dropout > 0 && model.layers.some(({ placement }) => placement?.startsWith('parallel'))) {
    const message = `step programs do not have dropout on attention and feed-forward side by side yet, and ${model.name} has them.`;
    issues.push(issue('MODEL_NOT_COMPILED', 'kernels.dropout', message, 'Use dropout 0.'));
  }
  if (kernels?.attention === 'unfused' && model.layers.some(({ attention }) => attention.kind === 'latent')) {
    const message = `step programs do not have unfused kernels of latent attention, and ${model.name} has it.`;
    issues.push(issue('MODEL_NOT_COMPILED', 'kernels.attention', message, 'Use attention flash.'));
  }
  return issues;
}

const withoutUndefined = (value: object): object =>
  Object.fromEntries(Object.entries(value).filter(([, each]) => each !== undefined));
