/** @file The numbers of this field on state and counts, read off programs of models that people know. */
import { describe, expect, it } from 'vitest';
import { batchOf } from '../../job/index.ts';
import type { Layout } from '../../layout/index.ts';
import { groupOf, worldSize } from '../../mesh/index.ts';
import { countParameters } from '../../model/index.ts';
import { bubbleShare } from '../../schedules/index.ts';
import { compileProgram, microBatches } from '../index.ts';
import { toyJob, toyLayout } from '../toy.fixture.ts';
import { type Sizes, type StateBytes, sizesByLaw, statePerParameter } from './index.ts';
import { livedLists, stateOf } from './lived.fixture.ts';
import { compileNamed, countedParameters, legalLayout, namedJob } from './named.fixture.ts';

const total = ({ weights, gradients, optimizer }: StateBytes): number => weights + gradients + optimizer;

describe('state of 7 B parameters', () => {
  const alone = { sharding: 0, data: 1, replicate: 1, offload: 'none', gradientReduction: 'per-step' } as const;
  const mixed = { precision: 'bf16', optimizer: 'adamw' } as const;
  const llama = namedJob('llama-2-7b', 1, { batch: { sequences: 8, length: 1024 } });
  const stateOfLlama = (layout: Partial<Layout>) =>
    livedLists(compileNamed(llama, { data: 8, ...layout })).map((each) => total(stateOf(each)));

  it('is 112 GB with bf16 gradients and 126 GB with fp32 ones: 16 and 18 bytes each', () => {
    const of = (gradientType: Layout['gradientType']) => total(statePerParameter(mixed, { ...alone, gradientType }));
    expect([7e9 * of('bf16'), 7e9 * of('fp32')]).toEqual([112e9, 126e9]);
  });

  it('is 16 bytes each in fp32 training: 4 + 4 + 8', () => {
    const state = statePerParameter({ ...mixed, precision: 'fp32' }, { ...alone, gradientType: 'fp32' });
    expect(state).toEqual({ weights: 4, gradients: 4, optimizer: 8 });
  });

  it('is 107.8 and 121.3 GB for the 6.74 B of Llama 2 7B: more than a GPU of 80 GB', () => {
    expect(countParameters(llama.model).total).toBe(6_738_415_616);
    expect(stateOfLlama({})).toEqual([6_738_415_616 * 16]);
    expect(stateOfLlama({ gradientType: 'fp32' })).toEqual([6_738_415_616 * 18]);
  });

  it.each([
    [1, 4 + 12 / 8],
    [2, 2 + 14 / 8],
    [3, 16 / 8],
  ] as const)('is cut by sharding %i over 8 data ranks to %d bytes each', (sharding, each) => {
    expect(stateOfLlama({ sharding })).toEqual([6_738_415_616 * each]);
  });
});

describe('70 B on 64 GPUs', () => {
  const job = namedJob('llama-3.1-70b', 8);
  const parameters = countParameters(job.model).total;
  const size = ({ summed, rest }: Sizes): number => summed + rest;

  it('fit under FSDP: 17.6 GB each', () => {
    const program = compileNamed(job, { data: 64, sharding: 3 });
    const [state = 0] = livedLists(program).map((each) => total(stateOf(each)));
    expect(state).toBe((parameters * 16) / 64);
    expect(state / 1e9).toBeCloseTo(17.6, 1);
  });

  it('are cut by TP 8 x PP 8: each parameter counted once, 1/64 of them on average, more at the ends', () => {
    const layout = legalLayout(job, { tensor: 8, pipeline: 8, layersPerStage: new Array<number>(8).fill(10) });
    const program = compileProgram(job, layout);
    expect(worldSize(program.mesh)).toBe(64);
    expect(countedParameters(program, 8)).toBe(parameters);
    const ranks = program.lists.map(({ buckets }) => buckets.reduce((sum, { elements }) => sum + elements, 0));
    const mean = ranks.reduce((sum, each) => sum + each, 0) / 8;
    expect(Math.abs(mean / (parameters / 64) - 1)).toBeLessThan(0.01);
    const { embed, layers, head } = sizesByLaw(job.model, layout);
    const middle = layers.slice(0, 10).reduce((sum, layer) => sum + size(layer), 0);
    expect(ranks).toEqual([size(embed) + middle, ...new Array<number>(6).fill(middle), middle + size(head)]);
    const matrix = (128_256 * 8192) / 8;
    expect([size(embed), size(head)]).toEqual([matrix, matrix + 8192]);
  });
});

describe('counts', () => {
  it.each([
    [64, 8, 8, 8],
    [128, 8, 8, 16],
  ])('on %i nodes: 8 GPUs each are tensor %i x pipeline %i x data %i', (nodes, tensor, pipeline, data) => {
    const job = namedJob('llama-3.1-70b', nodes, { batch: { sequences: 512, length: 1024 } });
    const layout = legalLayout(job, { tensor, pipeline, data });
    expect(worldSize(compileProgram({ ...job, batch: { ...job.batch, sequences: data } }, layout).mesh)).toBe(
      nodes * 8,
    );
  });

  it('2,097,152 tokens of length 4,096 over data 8 are 64 micro-batches of one sequence, and 9.9 % of bubble', () => {
    const { batch } = batchOf({ tokens: 2_097_152, length: 4096 }, 'batch');
    const job = namedJob('llama-2-70b', 64, { batch: { sequences: batch?.sequences ?? 0, length: 4096 } });
    const layout = legalLayout(job, { tensor: 8, pipeline: 8, data: 8 });
    expect(microBatches(job, layout)).toBe(64);
    const share = bubbleShare({ schedule: '1f1b', stages: 8, chunks: 1, microBatches: 64 });
    expect(share).toBeCloseTo(7 / 71, 12);
    expect(Math.round(share * 1000)).toBe(99);
  });

  it.each([
    [8, 8, 47],
    [8, 32, 18],
    [2, 8, 11],
    [8, 16, 30],
  ])('%i stages and %i micro-batches idle %i %% of the step', (stages, count, percent) => {
    for (const schedule of ['1f1b', 'gpipe'] as const) {
      const share = bubbleShare({ schedule, stages, chunks: 1, microBatches: count });
      expect(share).toBeCloseTo((stages - 1) / (count + stages - 1), 12);
      expect(Math.round(share * 100)).toBe(percent);
    }
  });

  it('of 2 x 2 x 2: 0 and 1 a tensor pair, 0 and 2 the same shard in two replicas, 0 and 4 a two-stage pipeline', () => {
    const { mesh } = compileProgram(toyJob(), toyLayout());
    const groups = (['tensor', 'data', 'pipeline'] as const).map((axis) => groupOf(mesh, 0, [axis]));
    expect(groups).toEqual([
      [0, 1],
      [0, 2],
      [0, 4],
    ]);
  });
});
