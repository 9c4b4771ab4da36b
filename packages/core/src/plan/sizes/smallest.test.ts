import { describe, expect, it } from 'vitest';
import { clusterSizes, gpuCount } from '../../cluster/index.ts';
import { searchLayouts } from '../search.ts';
import { presetJob, smallJob } from './jobs.fixture.ts';
import { jobOnGpus } from './size.ts';
import { smallestCluster } from './smallest.ts';

const options = { top: 1 };

describe('the smallest cluster', () => {
  it.each([2048, 4096, 6144])(
    'of width %i is the first size on which any layout fits',
    (hidden) => {
      const job = smallJob('4x rtx-workstation', { hidden });
      const { found, sizes } = smallestCluster(job, options);
      const gpus = found ? gpuCount(found.job.cluster) : 0;
      expect(sizes.at(-1)).toMatchObject({ gpus, verdict: 'fits' });
      for (const size of clusterSizes(job.cluster, 1, gpus - 1)) {
        const smaller = jobOnGpus(job, size);
        expect(smaller && searchLayouts(smaller, options).best).toEqual([]);
      }
    },
    60_000,
  );

  it('of 7 B parameters is two of 80 GB: one copy of the state is larger than one of them', () => {
    const job = presetJob('llama-2-7b', '8x dgx-h100', { batch: { sequences: 64, length: 4096 } });
    const { found, sizes } = smallestCluster(job, options);
    expect(found && gpuCount(found.job.cluster)).toBe(2);
    expect(sizes[0]).toMatchObject({ gpus: 1, verdict: 'does-not-fit' });
    expect(Math.round((sizes[0]?.deviceBytes ?? 0) / 1e8)).toBe(1078);
  });

  it('keeps what the layout fixes', () => {
    const job = presetJob('llama-2-7b', '1x dgx-h100', {
      batch: { sequences: 64, length: 4096 },
      layout: { tensor: 4 },
    });
    const { found } = smallestCluster(job, options);
    expect(found && gpuCount(found.job.cluster)).toBe(4);
    expect(found?.result.best[0]?.layout.tensor).toBe(4);
  });
});
