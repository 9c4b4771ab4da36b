import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { renderIssue } from '../errors/index.ts';
import { checkLayout, layoutRules } from './legality.ts';
import { base, cases } from './legality-cases.fixture.ts';
import { type SampleSizes, sampleJob } from './sample.fixture.ts';
import type { Layout } from './types.ts';

describe('checkLayout', () => {
  it('finds nothing wrong with a legal layout', () => {
    expect(checkLayout(sampleJob(), base)).toEqual([]);
  });
  it('has a case for every rule', () => {
    expect([...new Set(cases.map((each) => each.code))].toSorted()).toEqual(
      layoutRules.map((rule) => rule.code).toSorted(),
    );
  });
  for (const { code, sizes, breaks, says, passes, passSizes } of cases) {
    it(`says ${code} when it is broken and nothing when it just holds`, () => {
      const found = checkLayout(sampleJob(sizes), { ...base, ...breaks });
      expect(found.filter((each) => each.code === code).map(renderIssue)).toEqual([`${code}  ${says}`]);
      expect(checkLayout(sampleJob(passSizes ?? sizes), { ...base, ...passes })).toEqual([]);
    });
  }
  it('refuses values of the wrong kind and asks no rule that reads them', () => {
    const odd = { ...base, tensor: 0, bucketMB: -1, prefetch: 0.5, schedule: 'zero' as Layout['schedule'] };
    const issues = checkLayout(sampleJob(), { ...odd, order: ['tensor', 'row' as 'data'] });
    expect(issues.map((each) => [each.code, each.path])).toEqual([
      ['VALUE_OUT_OF_RANGE', 'layout.tensor'],
      ['VALUE_UNKNOWN', 'layout.schedule'],
      ['VALUE_OUT_OF_RANGE', 'layout.prefetch'],
      ['VALUE_OUT_OF_RANGE', 'layout.bucketMB'],
      ['VALUE_UNKNOWN', 'layout.order'],
    ]);
  });
});

const degree = fc.integer({ min: 1, max: 12 });
const layouts: fc.Arbitrary<Layout> = fc
  .record({
    tensor: degree,
    pipeline: degree,
    data: degree,
    microBatch: degree,
    chunks: fc.integer({ min: 1, max: 4 }),
    schedule: fc.constantFrom<Layout['schedule']>('none', 'naive', 'gpipe', '1f1b', 'interleaved-1f1b'),
    sharding: fc.constantFrom<Layout['sharding']>(0, 1, 2, 3),
    gradientReduction: fc.constantFrom<Layout['gradientReduction']>('per-step', 'per-micro-batch'),
    sequenceParallel: fc.boolean(),
    layersPerStage: fc.array(fc.nat(12), { maxLength: 8 }),
  })
  .map((keys) => ({ ...base, ...keys }));
const sizes: fc.Arbitrary<SampleSizes> = fc.record({
  layers: fc.integer({ min: 1, max: 24 }),
  heads: fc.integer({ min: 1, max: 48 }),
  ffn: fc.integer({ min: 1, max: 4096 }),
  vocabulary: fc.integer({ min: 1, max: 4096 }),
  sequences: fc.integer({ min: 1, max: 96 }),
  length: fc.integer({ min: 1, max: 96 }),
});

describe('the nearest legal values', () => {
  it('satisfy the rule that names them', () => {
    fc.assert(
      fc.property(sizes, layouts, (size, layout) => {
        const job = sampleJob(size);
        for (const { code, path, values } of checkLayout(job, layout)) {
          const fits = values?.['fits'];
          for (const fit of Array.isArray(fits) ? fits : []) {
            const mended = { ...layout, [path.replace('layout.', '')]: fit };
            expect({ fit, codes: checkLayout(job, mended).map((each) => each.code) }).toEqual({
              fit,
              codes: expect.not.arrayContaining([code]),
            });
          }
        }
      }),
    );
  });
  it('name batches and lengths that divide', () => {
    fc.assert(
      fc.property(sizes, layouts, (size, layout) => {
        for (const { values } of checkLayout(sampleJob(size), layout)) {
          for (const batch of (values?.['batches'] ?? []) as readonly number[]) {
            expect(batch % (layout.data * layout.microBatch)).toBe(0);
          }
          for (const length of (values?.['lengths'] ?? []) as readonly number[]) {
            expect(length % layout.tensor).toBe(0);
          }
        }
      }),
    );
  });
});
