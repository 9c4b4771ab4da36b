/** Every configuration that reads also compiles to a sound program and is priced on a cluster that holds it; what does not
 * is refused by name with what is missing.
 */
import { readFileSync } from 'node:fs';
import { clusterFromRequest } from '@meshwright/core/cluster';
import { compileProgram } from '@meshwright/core/compile';
import { createJob, type Job } from '@meshwright/core/job';
import { type Layout, layoutSpace } from '@meshwright/core/layout';
import { checkCompiles, countParameters, flopsPerToken, type ModelSpec, modelFromConfig } from '@meshwright/core/model';
import { createEvaluator, showLayout, splitCosts } from '@meshwright/core/plan';
import { verifyProgram } from '@meshwright/core/program';
import { describe, expect, it } from 'vitest';

interface Case {
  readonly file: string;
  /** What a public source states. */
  readonly reference?: number;
  readonly config: unknown;
}

function load(name: string): unknown {
  return JSON.parse(readFileSync(new URL(`../fixtures/configs/${name}`, import.meta.url), 'utf8'));
}
interface Counted {
  readonly file: string;
  readonly config: unknown;
  readonly parameters?: number;
  /** The count is stated by others. */
  readonly reference?: boolean;
}
const families = load('families.json') as readonly Counted[];
const plain = load('index.json') as readonly { file: string; referenceParameters: number }[];
const all: readonly Case[] = [
  ...families.map(({ file, config, parameters, reference }) => ({
    file,
    config,
    ...(reference && parameters !== undefined && { reference: parameters }),
  })),
  ...plain.map(({ file, referenceParameters }) => ({ file, config: load(file), reference: referenceParameters })),
];
const results = all.map((each) => ({ ...each, ...modelFromConfig(each.config, { name: each.file }) }));
const cases = results.flatMap(({ file, model }) => (model ? [{ name: file, model }] : []));
/** Architectures that read and have no operations yet, with what is missing. */
const refused: Readonly<Record<string, readonly string[]>> = {
  'deepseek-ai_DeepSeek-V3.2': ['a sparse choice of tokens by an indexer'],
  'zai-org_GLM-5': ['a sparse choice of tokens by an indexer'],
};

function jobOf(model: ModelSpec): Job {
  const { cluster } = clusterFromRequest('64x dgx-h100', 'cluster');
  if (!cluster) throw new Error('internal: the fixture is broken.');
  return createJob({ model, cluster, batch: { sequences: 512, length: Math.min(4096, model.maxLength) } });
}

/** The first legal layout with as many stages and tensor ranks as the model allows. */
function layoutOf(job: Job): Layout {
  const costs = splitCosts(job);
  for (const pipeline of [8, 4, 2, 1]) {
    for (const tensor of [8, 4, 2, 1]) {
      const fixed = { pipeline, tensor, microBatch: 1, sharding: 1, recompute: 'full', chunks: 1 } as const;
      const [layout] = layoutSpace(job, fixed, costs).layouts();
      if (layout) return layout;
    }
  }
  throw new Error(`no layout of ${job.model.name} is legal.`);
}

/** FLOPs of a token's forward by the rows of the kernels, on one tensor rank. */
function forwardFlops(job: Job, layout: Layout): number {
  const alone = { tensor: 1, pipeline: 1, data: 512, sequenceParallel: false, schedule: 'none' } as const;
  const whole: Layout = { ...layout, ...alone, layersPerStage: [job.model.layers.length], recompute: 'none' };
  const evaluator = createEvaluator(job);
  const { ends, layers } = evaluator.blocksOf(whole);
  let flops = ends.headForward.productFlops;
  for (const { kind, count } of evaluator.rowsOf(whole)[0]?.runs ?? []) {
    flops += count * (layers[kind]?.forward.productFlops ?? 0);
  }
  return flops / job.batch.length;
}

describe('101 public configurations', () => {
  it('73 of 73 stated counts of parameters are exact', () => {
    const stated = results.filter(({ reference }) => reference !== undefined);
    const exact = stated.filter(({ model, reference }) => model && countParameters(model).total === reference);
    expect(`${exact.length} of ${stated.length}`).toBe('73 of 73');
  });
  it('are read, or refused by name', () => {
    expect(results).toHaveLength(101);
    const other = results.filter(({ model }) => !model);
    expect(other.map(({ issues }) => issues.find(({ severity }) => severity === 'error')?.code)).toEqual([
      'MODEL_NOT_SUPPORTED',
      'MODEL_NOT_SUPPORTED',
      'KEY_MISSING',
      'MODEL_NOT_SUPPORTED',
    ]);
  });
});

describe('every public model that reads', () => {
  it.each(cases)('$name compiles, verifies and is priced, or says what is missing', ({ name, model }) => {
    const missing = checkCompiles(model).filter(({ severity }) => severity === 'error');
    expect(missing.flatMap(({ values }) => values?.['missing'])).toEqual(refused[name] ?? []);
    if (missing.length > 0) return;
    const job = jobOf(model);
    const layout = layoutOf(job);
    const few: Job = { ...job, batch: { ...job.batch, sequences: 2 * layout.data } };
    expect(verifyProgram(compileProgram(few, layout))).toEqual([]);
    const { step, memory } = showLayout(job, layout);
    const tokens = job.batch.sequences * job.batch.length;
    expect(step.mfu).toBeGreaterThan(0);
    expect(step.mfu).toBeLessThan(1);
    expect(step.tflopsPerGpu).toBeCloseTo(
      (flopsPerToken(model, job.batch.length) * tokens) / step.seconds / 512 / 1e12,
      6,
    );
    expect(step.hfu).toBeGreaterThan(step.mfu);
    expect(forwardFlops(job, layout) / (flopsPerToken(model, job.batch.length) / 3)).toBeCloseTo(1, 9);
    expect(memory.stages.every(({ allocatedBytes }) => allocatedBytes > 0)).toBe(true);
  });
});
