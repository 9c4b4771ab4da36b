import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { chunksOf, isMirrored, outlineOf } from './index.ts';
import { cases } from './laws/cases.fixture.ts';
import { blocksByLaw } from './laws/index.ts';
import { toyJob, toyLayout } from './toy.fixture.ts';

describe('the outline of a step', () => {
  it('places chunk c of stage i at c p + i, the embedding first and the head last', () => {
    const layout = toyLayout({ chunks: 2, layersPerStage: [2, 1, 1, 3], schedule: 'interleaved-1f1b' });
    const blocks = [0, 1].map((stage) => chunksOf(layout, 7, stage).map((chunk) => chunk.blocks));
    expect(blocks).toEqual([
      [[-1, 0, 1], [3]],
      [[2], [4, 5, 6, 7]],
    ]);
  });

  it('holds every block on one stage, on two where two copies of the model run', () => {
    fc.assert(
      fc.property(cases('padded'), ({ job, layout }) => {
        const { stages, layers } = outlineOf(job, layout);
        const blocks = stages.map(({ chunks }) => chunks.map((chunk) => chunk.blocks));
        expect(blocks).toEqual(stages.map(({ stage }) => blocksByLaw(layout, layers, stage)));
        const all = blocks.flat(2).sort((a, b) => a - b);
        const once = Array.from({ length: layers + 2 }, (_, index) => index - 1);
        expect(all).toEqual(isMirrored(layout) ? once.flatMap((block) => [block, block]) : once);
      }),
    );
  });

  it('counts micro-batches: sequences over data ranks and their size', () => {
    expect(outlineOf(toyJob(), toyLayout()).microBatches).toBe(2);
    expect(outlineOf(toyJob(), toyLayout({ data: 1, microBatch: 4 })).microBatches).toBe(1);
  });

  it('cuts nothing over one data rank', () => {
    const { layout, stages } = outlineOf(toyJob(), toyLayout({ data: 1, sharding: 3 }));
    expect(layout.sharding).toBe(0);
    expect(stages.map(({ buckets }) => buckets.map(({ name }) => name))).toEqual([
      ['tied', 'b0'],
      ['tied', 'b0'],
    ]);
  });
});
