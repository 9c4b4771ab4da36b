import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatLayout } from './format.ts';
import { layoutSpace } from './framework-space.ts';
import { layoutHash } from './hash.ts';
import { checkLayout } from './legality.ts';
import { normalizeLayout } from './normal.ts';
import { type SampleSizes, sampleJob } from './sample.fixture.ts';
import { balancedSplit, equalCosts } from './split.ts';
import type { Layout, LayoutRequest } from './types.ts';

const spaceOf = (sizes: SampleSizes, request: LayoutRequest = {}) => {
  const job = sampleJob(sizes);
  const space = layoutSpace(job, request, equalCosts(job.model.layers.length));
  return { job, space, layouts: [...space.layouts()] };
};
const exact = (layout: Layout) => formatLayout(layout, { exact: true });
const small = { layers: 4, sequences: 8, heads: 4 };

/** Every combination of values on 8 GPUs, legal or not. */
function* everyLayout(layers: number): Generator<Layout> {
  const degrees = [1, 2, 4, 8];
  for (const tensor of degrees) {
    for (const pipeline of degrees) {
      if (tensor * pipeline > 8) continue;
      for (const microBatch of degrees) {
        for (const chunks of [1, 2, 3, 4]) {
          if (pipeline * chunks > layers) continue;
          const layersPerStage = balancedSplit(equalCosts(layers), pipeline, chunks);
          for (const schedule of ['none', 'naive', 'gpipe', '1f1b', 'interleaved-1f1b'] as const) {
            const data = 8 / (tensor * pipeline);
            yield* withEndings({ tensor, pipeline, data, microBatch, chunks, schedule, layersPerStage });
          }
        }
      }
    }
  }
}

type Grid = Pick<Layout, 'tensor' | 'pipeline' | 'data' | 'microBatch' | 'chunks' | 'schedule' | 'layersPerStage'>;

function* withEndings(grid: Grid): Generator<Layout> {
  const rest = {
    context: 1,
    contextKind: 'ring',
    expert: 1,
    expertTensor: grid.tensor,
    gradientType: 'bf16',
    order: ['tensor', 'context', 'expert', 'data', 'pipeline'],
  } as const;
  for (const recompute of ['none', 'selective', 'full'] as const) {
    for (const sharding of [0, 1, 2, 3] as const) {
      const gradientReduction = sharding >= 2 ? 'per-micro-batch' : 'per-step';
      for (const [sequenceParallel, keepGathered] of [
        [false, false],
        [true, false],
        [true, true],
      ] as const) {
        for (const [prefetch, bucketMB] of [
          [0, 25],
          [1, 25],
          [2, 25],
          [1, 100],
        ] as const) {
          yield {
            ...grid,
            ...rest,
            recompute,
            layers: [],
            sharding,
            gradientReduction,
            sequenceParallel,
            keepGathered,
            prefetch,
            reshard: true,
            replicate: 1,
            offload: 'none',
            lossChunks: 1,
            overlap: ['data', 'parameters', 'pipeline'],
            bucketMB,
          };
        }
      }
    }
  }
}

describe('layoutSpace', () => {
  for (const attention of ['flash', 'unfused'] as const) {
    it(`holds the normal form of every legal combination and nothing else, with ${attention} attention`, () => {
      const { job, layouts } = spaceOf({ ...small, attention });
      const expected = new Set<string>();
      for (const layout of everyLayout(4)) {
        if (checkLayout(job, layout).length === 0) expected.add(exact(normalizeLayout(job, layout)));
      }
      expect(new Set(layouts.map(exact))).toEqual(expected);
    });
  }

  const sizes: fc.Arbitrary<SampleSizes> = fc.record({
    nodes: fc.integer({ min: 1, max: 3 }),
    layers: fc.integer({ min: 1, max: 12 }),
    heads: fc.constantFrom(6, 8, 12),
    kvHeads: fc.constantFrom(2, 4),
    sequences: fc.integer({ min: 1, max: 64 }),
    length: fc.constantFrom(4095, 4096),
    attention: fc.constantFrom('flash' as const, 'unfused' as const),
  });
  const requests: fc.Arbitrary<LayoutRequest> = fc.record(
    {
      tensor: fc.constantFrom(1, 2, 3, 4),
      pipeline: fc.constantFrom(1, 2, 4),
      data: fc.constantFrom(1, 2, 6),
      microBatch: fc.constantFrom(1, 2, 32),
      chunks: fc.constantFrom(1, 2),
      schedule: fc.constantFrom('none' as const, 'gpipe' as const, 'interleaved-1f1b' as const),
      sharding: fc.constantFrom(0 as const, 3 as const),
      gradientReduction: fc.constantFrom('per-step' as const, 'per-micro-batch' as const),
      sequenceParallel: fc.boolean(),
      recompute: fc.constantFrom('selective' as const, 'full' as const),
    },
    { requiredKeys: [] },
  );
  it('yields legal layouts in normal form, all distinct, as many as it counts', () => {
    fc.assert(
      fc.property(sizes, requests, (size, request) => {
        const { job, space, layouts } = spaceOf(size, request);
        const illegal = layouts.filter((layout) => checkLayout(job, layout).length > 0);
        const changed = layouts.filter((layout) => exact(normalizeLayout(job, layout)) !== exact(layout));
        expect({ illegal, changed }).toEqual({ illegal: [], changed: [] });
        expect(new Set(layouts.map(exact)).size).toBe(layouts.length);
        expect(new Set(layouts.map(layoutHash)).size).toBe(layouts.length);
        expect(layouts.length).toBe(space.legal);
        const rejected = Object.values(space.rejected).reduce((sum, count) => sum + count, 0);
        expect(space.considered).toBe(space.legal + rejected);
        expect(space.considered).toBeGreaterThan(0);
      }),
    );
  });
  it('keeps what is given', () => {
    const { layouts } = spaceOf({ layers: 8 }, { tensor: 2, pipeline: 2, chunks: 2, sharding: 3, prefetch: 4 });
    expect(layouts.length).toBeGreaterThan(0);
    for (const layout of layouts) {
      expect(layout).toMatchObject({ tensor: 2, pipeline: 2, data: 2, chunks: 2, sharding: 3, prefetch: 4 });
      expect(layout.schedule).toBe('interleaved-1f1b');
    }
  });
  it('has the split schedules of a framework that has them, and folded ones with their two chunks where they are given', () => {
    const sizes = { layers: 8, sequences: 8, heads: 4 };
    const job = { ...sampleJob(sizes), framework: 'torchtitan' } as const;
    const named = (of: typeof job | ReturnType<typeof sampleJob>, request: LayoutRequest) =>
      new Set(
        [...layoutSpace(of, request, equalCosts(8)).layouts()].map(({ schedule, chunks }) => `${schedule} ${chunks}`),
      );
    const tried = named(job, { pipeline: 2, data: 1 });
    expect(tried.has('zero-bubble-v 2') && tried.has('dualpipe-v 2')).toBe(true);
    expect([...named(sampleJob(sizes), { pipeline: 2, data: 1 })].some((each) => each.startsWith('zero'))).toBe(false);
    expect(named(sampleJob(sizes), { pipeline: 2, data: 1, schedule: 'zero-bubble-v' })).toEqual(
      new Set(['zero-bubble-v 2']),
    );
  });

  it('counts what it rejects by the first rule that is broken', () => {
    const { space } = spaceOf({ layers: 2, heads: 4, kvHeads: 2, nodes: 1 });
    expect(space.rejected).toEqual({
      HEADS_NOT_DIVISIBLE: expect.any(Number),
      KV_HEADS_NOT_DIVISIBLE: expect.any(Number),
      LAYERS_FEWER_THAN_CHUNKS: expect.any(Number),
    });
    expect(spaceOf({}, { tensor: 3 }).space).toMatchObject({
      legal: 0,
      rejected: { DEGREES_NOT_GPUS: expect.any(Number) },
    });
    expect(spaceOf({}, { chunks: 0 }).space.rejected).toEqual({ VALUE_OUT_OF_RANGE: 1 });
    expect(spaceOf({}, { layersPerStage: [30, 2] }).space).toMatchObject({
      rejected: { LAYERS_PER_STAGE_LENGTH: expect.any(Number) },
    });
  });
  it('shares one list of layers per split', () => {
    const { layouts } = spaceOf({ layers: 8 });
    const lists = new Set(layouts.map((layout) => layout.layersPerStage));
    const splits = new Set(layouts.map((layout) => `${layout.pipeline}x${layout.chunks}`));
    expect(lists.size).toBe(splits.size);
  });
});
