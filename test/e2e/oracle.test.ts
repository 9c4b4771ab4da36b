import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { clusterFromRequest } from '@meshwright/core/cluster';
import { compileProgram } from '@meshwright/core/compile';
import { createJob } from '@meshwright/core/job';
import { completeLayout, type LayoutRequest } from '@meshwright/core/layout';
import { modelFromDimensions } from '@meshwright/core/model';
import { splitCosts } from '@meshwright/core/plan';
import type { Program } from '@meshwright/core/program';
import {
  builtinCorpus,
  cosineRate,
  type GlobalTensor,
  rateAt,
  type TensorSet,
  trainProgram,
} from '@meshwright/runtime';
import { beforeAll, describe, expect, test } from 'vitest';
import { corpusTokens } from '../../packages/runtime/src/tokens/corpus.ts';

/** An oracle that we did not write: PyTorch, where a Python that has it is found (Debian: python3-torch). */
const script = fileURLToPath(new URL('../oracle/model.py', import.meta.url));
const python = ['python3', '/usr/bin/python3'].find((each) => spawnSync(each, ['-c', 'import torch']).status === 0);
if (!python) console.warn('PyTorch is not here, so the runtime is not held against it: apt-get install python3-torch');

const steps = 20;
const seed = 5;
const [sequences, length] = [8, 24];
const rate = cosineRate(0.01, steps);
const corpus = builtinCorpus();
const common = { layers: 2, hidden: 32, heads: 4, ffn: 96, vocab: 256 } as const;
const models = {
  gpt2: { kind: 'gpt2', ...common, positions: length },
  llama: { kind: 'llama', ...common, kvHeads: 2 },
} as const;
type Kind = keyof typeof models;

function programOf(kind: Kind, layout: LayoutRequest): Program {
  const { tensor = 1, pipeline = 1, data = 1 } = layout;
  const gpusPerNode = tensor * pipeline * data;
  const { cluster } = clusterFromRequest({ preset: 'dgx-h100', nodes: 1, gpusPerNode }, 'cluster');
  const { model } = modelFromDimensions(models[kind], 'model');
  if (!cluster || !model) throw new Error('internal: the model is broken.');
  const job = createJob({ name: kind, model, cluster, batch: { sequences, length }, precision: 'fp32' });
  const { layout: whole, issues } = completeLayout(layout, job, splitCosts(job));
  expect(issues).toEqual([]);
  return compileProgram(job, whole);
}

interface Answer {
  readonly losses: readonly number[];
  readonly norms: readonly number[];
  readonly gradients: Readonly<Record<string, readonly number[]>>;
  readonly parameters: Readonly<Record<string, readonly number[]>>;
}

/** What the program's own operations say: PyTorch is told no number that is written twice. */
function constantsOf(program: Program) {
  const operations = [
    ...program.templates.flatMap((template) => template.operations),
    ...program.lists.flatMap(({ items }) => items.flatMap((item) => (item.kind === 'operation' ? item.operation : []))),
  ];
  const of = (kernel: string) => {
    const found = operations.find((each) => each.kind === 'compute' && each.kernel === kernel);
    return (found?.kind === 'compute' && found.attributes) || {};
  };
  return {
    adamw: of('adamw'),
    clip: of('clip')['limit'],
    norm: { ...of('layernorm'), ...of('rmsnorm') },
    rope: of('rope'),
  };
}

function askTorch(kind: Kind, program: Program, initial: TensorSet): Answer {
  const { adamw, clip, norm, rope } = constantsOf(program);
  const views = program.lists.flatMap(({ buckets }) => buckets.flatMap((bucket) => bucket.views));
  const request = {
    kind,
    sizes: { ...models[kind], epsilon: norm['epsilon'], theta: rope['theta'] },
    weights: Object.fromEntries(
      Object.entries(initial).map(([name, { shape, data }]) => [name, { shape, values: [...data] }]),
    ),
    decays: views.flatMap(({ decay, tensors }) => (decay ? tensors.map(({ name }) => name) : [])),
    adamw,
    clip,
    rates: Array.from({ length: steps }, (_, index) => rateAt(rate, index + 1)),
    batches: Array.from({ length: steps }, (_, index) =>
      Array.from({ length: sequences }, (__, sample) => [...corpusTokens(corpus, seed, index + 1, sample, length)]),
    ),
  };
  const { status, stdout, stderr } = spawnSync(python ?? '', [script], {
    input: JSON.stringify(request),
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
  });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  return JSON.parse(stdout);
}

/** PyTorch takes a second to load alone, and many times that on a loaded machine. */
const PATIENCE_MS = 180_000;

/** The largest difference relative to the largest value. */
function apart(got: GlobalTensor, wanted: readonly number[]): number {
  const largest = Math.max(...wanted.map(Math.abs));
  return Math.max(...wanted.map((each, index) => Math.abs(each - got.data[index]!))) / largest;
}

const layouts: readonly (readonly [name: string, layout: LayoutRequest])[] = [
  ['one rank', {}],
  ['2 x 2 x 2 ranks', { tensor: 2, pipeline: 2, data: 2, sharding: 1 }],
];

describe.runIf(python !== undefined)('PyTorch on the same weights and samples', () => {
  describe.each(['gpt2', 'llama'] as const)('a model of kind %s', (kind) => {
    const options = { seed, corpus, learningRate: rate, initialDeviation: 0.15 } as const;
    let wanted: Answer;
    beforeAll(async () => {
      const program = programOf(kind, {});
      const { parameters } = await trainProgram(program, { ...options, steps: 0, inline: true });
      wanted = askTorch(kind, program, parameters);
    }, PATIENCE_MS);

    test.each(
      layouts.flatMap(([name, layout]) => (['plain', 'wasm'] as const).map((kernels) => ({ name, layout, kernels }))),
    )('$kernels kernels on $name', async ({ layout, kernels }) => {
      const run = await trainProgram(programOf(kind, layout), { ...options, steps, kernels, captureGradients: [1] });
      expect(run.stopped).toBe('done');
      expect(Math.abs(run.losses[0]! / wanted.losses[0]! - 1)).toBeLessThan(1e-5);
      for (const [name, gradient] of Object.entries(wanted.gradients)) {
        expect(apart(run.gradients[1]![name]!, gradient), name).toBeLessThan(1e-4);
      }
      for (const [step, loss] of wanted.losses.entries()) {
        expect(Math.abs(run.losses[step]! / loss - 1), `loss of step ${step + 1}`).toBeLessThan(1e-4);
        expect(Math.abs(run.gradientNorms[step]! / wanted.norms[step]! - 1), `norm of step ${step + 1}`).toBeLessThan(
          1e-3,
        );
      }
      expect(wanted.losses[steps - 1]).toBeLessThan(0.85 * wanted.losses[0]!);
    });
  });
});
