import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { capacityBytes } from '../../cluster/index.ts';
import { searchLayouts } from '../search.ts';
import { presetJob, smallJob } from './jobs.fixture.ts';
import { neverFits } from './never-fits.ts';
import { jobOnGpus } from './size.ts';
import { smallestCluster } from './smallest.ts';

describe('a job that fits on no number of devices', () => {
  const wide = presetJob('llama-3.1-405b', '4x rtx-workstation', {
    batch: { sequences: 64, length: 8192 },
    layout: { tensor: 1, sharding: 0 },
  });
  it('is found without trying a size, with the reason', () => {
    const { found, never, sizes } = smallestCluster(wide, { top: 1 }, () => {
      throw new Error('a size was tried');
    });
    expect(found).toBeUndefined();
    expect(sizes).toEqual([]);
    expect(never?.words).toMatch(
      /^no number of these devices is enough: one layer of one micro-batch \(1 x 8192 tokens\) holds/,
    );
    expect(never?.leastBytes).toBeGreaterThan(capacityBytes(wide.cluster));
  });
  it('may be one by its micro-batch', () => {
    const job = smallJob('1x rtx-workstation', {
      hidden: 4096,
      layout: { tensor: 1, microBatch: 64, recompute: 'none' },
    });
    expect(neverFits({ ...job, batch: { ...job.batch, length: 8192 } })).toBeDefined();
  });
  it('is never one that fits on some size', () => {
    fc.assert(
      fc.property(
        fc.record({
          hidden: fc.constantFrom(2048, 4096, 8192),
          length: fc.constantFrom(1024, 4096, 16_384),
          microBatch: fc.constantFrom(undefined, 4, 16),
          tensor: fc.constantFrom(undefined, 1, 2),
          sharding: fc.constantFrom(undefined, 0, 1, 3),
          recompute: fc.constantFrom(undefined, 'none', 'full'),
        }),
        ({ hidden, length, ...layout }) => {
          const job = smallJob('4x rtx-workstation', { hidden, layout, batch: { sequences: 64, length } } as never);
          if (neverFits(job) === undefined) return;
          for (const gpus of [1, 2, 4, 8, 16]) {
            const sized = jobOnGpus(job, gpus);
            const found = sized && searchLayouts(sized, { top: 1 });
            expect(found?.best ?? []).toEqual([]);
            expect(found?.atRisk ?? []).toEqual([]);
          }
        },
      ),
      { numRuns: 40 },
    );
  }, 120_000);
});
