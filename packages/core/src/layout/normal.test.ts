import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatLayout } from './format.ts';
import { MOST_MICRO_BATCHES, normalizeLayout } from './normal.ts';
import { sampleJob } from './sample.fixture.ts';
import type { Layout } from './types.ts';

const job = sampleJob();
const usual = ['tensor', 'context', 'expert', 'data', 'pipeline'] as const;
const base: Layout = {
  tensor: 2,
  pipeline: 2,
  data: 2,
  context: 1,
  contextKind: 'ring',
  expert: 1,
  expertTensor: 2,
  sharding: 3,
  prefetch: 2,
  reshard: true,
  replicate: 1,
  layers: [],
  offload: 'none',
  lossChunks: 1,
  bucketMB: 25,
  gradientType: 'bf16',
  gradientReduction: 'per-step',
  overlap: ['data', 'parameters', 'pipeline'],
  microBatch: 1,
  chunks: 1,
  layersPerStage: [16, 16],
  schedule: 'gpipe',
  recompute: 'none',
  sequenceParallel: true,
  keepGathered: true,
  order: usual,
};
const normal = (changes: Partial<Layout>, of = job) => normalizeLayout(of, { ...base, ...changes });

describe('normalizeLayout', () => {
  it('leaves a layout alone whose keys all have an effect', () => {
    expect(normal({})).toEqual(base);
  });
  it('shards and reduces nothing without data ranks', () => {
    expect(normal({ data: 1, bucketMB: 100 })).toMatchObject({
      sharding: 0,
      prefetch: 1,
      reshard: true,
      replicate: 1,
      offload: 'none',
      lossChunks: 1,
      bucketMB: 25,
      gradientReduction: 'per-step',
    });
  });
  it('overlaps as the framework does what is not exchanged at all', () => {
    expect(normal({ overlap: ['pipeline'], sharding: 1 }).overlap).toEqual(['pipeline']);
    expect(normal({ overlap: ['pipeline'], sharding: 0 }).overlap).toEqual(['parameters', 'pipeline']);
    expect(normal({ overlap: [], data: 1, pipeline: 1 }).overlap).toEqual(['data', 'parameters', 'pipeline']);
  });
  it('says that units of sharding 3 are not gathered ahead by their prefetch alone', () => {
    const { overlap, prefetch } = normal({ overlap: ['data', 'pipeline'], prefetch: 2 });
    expect([overlap, prefetch]).toEqual([['data', 'parameters', 'pipeline'], 0]);
  });
  it('has no schedule and no chunks on one stage', () => {
    expect(normal({ pipeline: 1, chunks: 2 })).toMatchObject({ schedule: 'none', chunks: 1 });
  });
  it('has no sequence shards on one tensor rank', () => {
    expect(normal({ tensor: 1 })).toMatchObject({ sequenceParallel: false, keepGathered: false });
  });
  it('keeps gathered inputs only where they would be gathered again', () => {
    expect(normal({ recompute: 'full' }).keepGathered).toBe(false);
    expect(normal({ sequenceParallel: false }).keepGathered).toBe(false);
  });
  it('has units to prefetch under sharding 3 and buckets below', () => {
    expect(normal({ sharding: 2, bucketMB: 400 })).toMatchObject({ prefetch: 1, bucketMB: 400 });
    expect(normal({ bucketMB: 400 }).bucketMB).toBe(25);
  });
  it('recomputes scores only where they are stored', () => {
    expect(normal({ recompute: 'selective' }).recompute).toBe('none');
    expect(normal({ recompute: 'selective' }, sampleJob({ attention: 'unfused' })).recompute).toBe('selective');
  });
  it('has one schedule and one way to reduce for one micro-batch', () => {
    expect(normal({ microBatch: 32 })).toMatchObject({ schedule: '1f1b', gradientReduction: 'per-micro-batch' });
    expect(normal({ microBatch: 16 })).toMatchObject({ schedule: 'gpipe', gradientReduction: 'per-step' });
  });
  it('reads an order by the axes that have ranks', () => {
    expect(normal({ tensor: 1, order: ['data', 'pipeline', 'tensor'] }).order).toEqual(usual);
    expect(normal({ order: ['tensor', 'pipeline', 'data'] }).order).toEqual([
      'tensor',
      'pipeline',
      'data',
      'context',
      'expert',
    ]);
  });
  it('changes nothing a second time', () => {
    const degree = fc.constantFrom(1, 2, 4);
    const layouts = fc.record({
      tensor: degree,
      pipeline: degree,
      data: degree,
      context: fc.constantFrom(1, 2),
      contextKind: fc.constantFrom('ring' as const, 'all-to-all' as const),
      expert: fc.constantFrom(1, 2),
      expertTensor: fc.constantFrom(1, 2),
      sharding: fc.constantFrom<Layout['sharding']>(0, 1, 2, 3),
      prefetch: fc.nat(3),
      reshard: fc.boolean(),
      lossChunks: fc.constantFrom(1, 2),
      replicate: fc.constantFrom(1, 2, 4),
      offload: fc.constantFrom<Layout['offload']>('none', 'optimizer'),
      bucketMB: fc.constantFrom(25, 100),
      gradientType: fc.constantFrom<Layout['gradientType']>('bf16', 'fp32'),
      gradientReduction: fc.constantFrom<Layout['gradientReduction']>('per-step', 'per-micro-batch'),
      overlap: fc.subarray<Layout['overlap'][number]>(['data', 'parameters', 'pipeline']),
      microBatch: fc.constantFrom(1, 16, 32, 64),
      chunks: degree,
      layersPerStage: fc.constant([32]),
      schedule: fc.constantFrom<Layout['schedule']>('none', 'naive', 'gpipe', '1f1b', 'interleaved-1f1b'),
      recompute: fc.constantFrom<Layout['recompute']>('none', 'selective', 'full'),
      layers: fc.constantFrom<Layout['layers']>(
        [],
        [{ from: 0, to: 3, recompute: 'full' }],
        [
          { from: 2, to: 2, recompute: 'selective' },
          { from: 3, to: 31, recompute: 'none' },
        ],
        [{ from: 0, to: 31, recompute: 'none' }],
      ),
      sequenceParallel: fc.boolean(),
      keepGathered: fc.boolean(),
      order: fc.shuffledSubarray([...usual], { minLength: 2 }),
    });
    fc.assert(
      fc.property(layouts, fc.constantFrom('flash' as const, 'unfused' as const), (layout, attention) => {
        const of = sampleJob({ attention });
        const once = normalizeLayout(of, layout);
        expect(normalizeLayout(of, once)).toEqual(once);
        expect(formatLayout(once, { exact: true })).toBe(formatLayout(normalizeLayout(of, once), { exact: true }));
      }),
    );
  });
  it('numbers as many micro-batches as schedules do', () => {
    expect(MOST_MICRO_BATCHES).toBe(2 ** 19);
  });
});
