import { describe, expect, it } from 'vitest';
import { publishedRows } from './generated/published.ts';
import { exampleJob, smallJob } from './jobs.fixture.ts';
import { nearestRun } from './nearest-run.ts';

describe('the nearest published run', () => {
  it('of 70 B on 64 H100 is such a run', () => {
    const run = nearestRun(exampleJob('llama-3.1-70b-64xh100'));
    expect(run).toMatchObject({ gpu: 'H100-80GB-SXM', gpus: 64, bits: 16 });
    expect(run?.model).toMatch(/70B/i);
    expect(run?.distance).toBeLessThan(0.6);
  });

  it('of experts has experts', () => {
    const names = publishedRows.filter(([, , , , , , , experts]) => experts > 0).map(([, , model]) => model);
    expect(names).toContain(nearestRun(exampleJob('mixtral-8x7b-64xh100'))?.model);
  });

  it('is none for a model that nobody has published', () => {
    expect(nearestRun(smallJob({ layers: 1, hidden: 64, heads: 4, kvHeads: 4, ffn: 128 }))).toBeUndefined();
  });
});
