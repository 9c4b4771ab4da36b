import { runBy } from '@meshwright/core/collectives';
import type { Job } from '@meshwright/core/job';
import type { Layout } from '@meshwright/core/layout';
import { type Collective, type Program, parseProgram, printProgram, verifyProgram } from '@meshwright/core/program';
import { expect, test } from 'vitest';
import { type RunResult, type TrainOptions, trainProgram } from '../index.ts';
import { type ModelName, programOf, smallJob } from './layouts.fixture.ts';
import { bytesByAxis, compareBytes, predictedByAxis } from './moved-bytes.ts';
import { boundsOf, compareRuns } from './parity.ts';

const steps = 3;
const optionsOf = (job: Job): TrainOptions => ({
  ...{ steps, seed: 11, initialDeviation: 0.25, captureGradients: [1, 3], inline: true, kernels: 'wasm' },
  learningRate: job.optimizer === 'sgd' ? 0.05 : 0.002,
});

const references = new Map<ModelName, Promise<RunResult>>();

function referenceOf(model: ModelName, job: Job): Promise<RunResult> {
  const known = references.get(model) ?? trainProgram(programOf(job), optionsOf(job));
  references.set(model, known);
  return known;
}

/** `takes`: the kinds of collectives that trees, and two tiers, take in it. */
type Case = readonly [
  name: string,
  model: ModelName,
  changes: Partial<Layout>,
  takes: Readonly<Record<'tree' | 'hierarchical', string>>,
];

/** Nodes are of two ranks: tensor groups of four have two tiers, and data groups beside a tensor degree of one. */
const RANKS_PER_NODE = 2;
const cases: readonly Case[] = [
  ['DDP', 'llama', { data: 4, bucketMB: 0.01 }, { tree: 'all-reduce', hierarchical: 'all-reduce' }],
  ['ZeRO-3', 'gpt2', { data: 8, sharding: 3 }, { tree: '', hierarchical: 'all-gather reduce-scatter' }],
  [
    'tensor and sequence, tied ends',
    'gpt2',
    { tensor: 4, sequenceParallel: true, pipeline: 2 },
    { tree: 'all-reduce', hierarchical: 'all-gather all-reduce reduce-scatter' },
  ],
  [
    'contexts that swap heads',
    'gpt2',
    { context: 4, contextKind: 'all-to-all' },
    { tree: 'all-reduce', hierarchical: 'all-reduce all-to-all' },
  ],
  ['experts', 'moe', { data: 4, expert: 4, expertTensor: 1 }, { tree: 'all-reduce', hierarchical: 'all-reduce' }],
];

const collectivesIn = (program: Program): readonly Collective[] =>
  [
    ...program.templates.flatMap(({ operations }) => operations),
    ...program.lists.flatMap(({ items }) =>
      items.flatMap((item) => (item.kind === 'operation' ? [item.operation] : [])),
    ),
  ].flatMap((operation) => (operation.kind === 'collective' ? [operation] : []));

const runs = (['tree', 'hierarchical'] as const)
  .flatMap((algorithm) =>
    cases.map(([name, model, changes, takes]) => [algorithm, name, model, changes, takes[algorithm]] as const),
  )
  .filter(([, , , , takes]) => takes !== '');

test.each([
  ...runs,
  ['direct', 'DDP', 'llama', { data: 4 }, 'all-reduce'] as const,
  ['halving-doubling', 'DDP, a power of two', 'llama', { data: 4, bucketMB: 0.01 }, 'all-reduce'] as const,
])(
  'by %s ranks train as one does, move the bytes of the program and repeat bit for bit: %s',
  async (algorithm, _name, model, changes, takes) => {
    const job = smallJob(model, { optimizer: 'sgd' });
    const program = runBy(programOf(job, changes), algorithm, RANKS_PER_NODE);
    const forced = collectivesIn(program).filter((each) => each.algorithm === algorithm && each.lane !== 'control');
    expect([...new Set(forced.map(({ collective }) => collective))].sort().join(' ')).toBe(takes);
    expect(verifyProgram(program)).toEqual([]);
    const run = await trainProgram(program, optionsOf(job));
    expect(run.stopped).toBe('done');
    expect(compareRuns(await referenceOf(model, job), run, boundsOf('wasm')).broken).toEqual([]);
    expect(compareBytes(program, run, steps)).toEqual([]);
    if (model !== 'moe') {
      const sent = Object.entries(bytesByAxis(run)).map(([axis, bytes]) => [axis, bytes / steps]);
      expect(Object.fromEntries(sent)).toEqual(predictedByAxis(program));
    }
    expect(run.memory.flatMap(({ differs }) => differs)).toEqual([]);
    const again = await trainProgram(program, { ...optionsOf(job), steps: 1, captureGradients: [1] });
    expect(again.gradients[1]).toEqual(run.gradients[1]);
    expect(again.losses[0]).toBe(run.losses[0]);
  },
);

test('a program by two tiers is written and read with the members of a node', () => {
  const program = runBy(programOf(smallJob('gpt2'), { data: 4, sharding: 3 }), 'hierarchical', RANKS_PER_NODE);
  const text = printProgram(program);
  expect(text).toContain('hierarchical inner 2');
  expect(parseProgram(text)).toEqual({ program, issues: [] });
  const halves = runBy(programOf(smallJob('gpt2'), { data: 4 }), 'halving-doubling', RANKS_PER_NODE);
  expect(printProgram(halves)).toContain('halving-doubling');
  expect(parseProgram(printProgram(halves))).toEqual({ program: halves, issues: [] });
});
