import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { countParameters, type ModelSpec, modelFromDimensions, parametersOf } from '../model/index.ts';
import type { Bucket, RankList } from '../program/index.ts';
import { placementOf } from '../schedules/index.ts';
import { localElements } from '../tensor/index.ts';
import { planBuckets } from './bucket-plans.ts';
import { compileProgram, outlineOf } from './index.ts';
import { type Case, cases } from './laws/cases.fixture.ts';
import { sizesByLaw } from './laws/index.ts';
import { countedParameters } from './laws/named.fixture.ts';
import { blockNumber, isMirrored, isSummed, paddedParts, parameterCounts } from './parameters.ts';
import { toyJob, toyLayout } from './toy.fixture.ts';

function gpt(layers: number): ModelSpec {
  const { model } = modelFromDimensions(
    { kind: 'gpt2', layers, hidden: 8, heads: 2, vocab: 16, positions: 4 },
    'model',
  );
  if (model === undefined) throw new Error('internal: the fixture is broken.');
  return model;
}

const listsOf = ({ job, layout }: Case): readonly RankList[] => compileProgram(job, layout).lists;

describe('counts of a block', () => {
  it('are the closed forms of the dimensions, for every kind, cut and bias', () => {
    fc.assert(
      fc.property(cases('padded'), ({ job, layout }) => {
        expect(parameterCounts(job.model, layout)).toEqual(sizesByLaw(job.model, layout));
      }),
    );
  });

  it('are 12 h^2 + 13 h for a GPT layer alone, 6 h of it summed with sequence parallelism', () => {
    const { layers } = parameterCounts(gpt(2), { tensor: 1, sequenceParallel: false });
    const layer = { summed: 0, rest: 12 * 64 + 13 * 8 };
    expect(layers).toEqual([layer, layer]);
    expect(parameterCounts(gpt(1), { tensor: 2, sequenceParallel: true }).layers[0]?.summed).toBe(6 * 8);
  });
});

describe('gradients that are summed over tensor', () => {
  const names = (kind: 'gpt2' | 'mixtral', sequenceParallel: boolean): readonly string[] => {
    const more = kind === 'mixtral' ? { ffn: 16, experts: 2, topK: 1 } : {};
    const { model } = modelFromDimensions(
      { kind, layers: 1, hidden: 8, heads: 2, vocab: 16, positions: 4, ...more },
      'model',
    );
    return (model ? parametersOf(model) : [])
      .filter((spec) => isSummed(spec, { tensor: 2, sequenceParallel }))
      .map(({ name }) => name);
  };

  it('are those of whole parameters that see a shard of the sequence', () => {
    const all = ['wpe', 'ln1.w', 'ln1.b', 'proj.b', 'ln2.w', 'ln2.b', 'fc2.b', 'lnf.w', 'lnf.b'];
    expect(names('gpt2', true)).toEqual(all);
    expect(names('gpt2', false)).toEqual([]);
  });
  it('are those of routers always: each rank knows what its slice of the experts says of the choice', () => {
    expect(names('mixtral', true)).toEqual(['ln1.w', 'ln2.w', 'router.w', 'lnf.w']);
    expect(names('mixtral', false)).toEqual(['router.w']);
  });
});

describe('buckets', () => {
  /** Blocks of each bucket of one chunk [embed, 0, 1, 2, head]; a layer of h 8 is 872 elements, 1,744 bytes in bf16. */
  const blocksOf = (changes: Partial<Parameters<typeof planBuckets>[3]>, chunks = [[-1, 0, 1, 2, 3]]) => {
    const counts = parameterCounts(gpt(3), { tensor: 1, sequenceParallel: false });
    const layout = toyLayout({ tensor: 1, pipeline: 1, gradientType: 'bf16', ...changes });
    return planBuckets(chunks, counts, 3, layout).map(({ name, blocks }) => [name, ...blocks]);
  };

  it('close at the size that the layout gives, in the order in which backward completes them', () => {
    expect(blocksOf({ bucketMB: 0.0018 })).toEqual([['tied'], ['b0', 1, 2, 3], ['b1', -1, 0]]);
    expect(blocksOf({ bucketMB: 25 })).toEqual([['tied'], ['b0', -1, 0, 1, 2, 3]]);
    expect(blocksOf({ bucketMB: 0.000_001 })).toEqual([
      ['tied'],
      ['b0', 3],
      ['b1', 2],
      ['b2', 1],
      ['b3', 0],
      ['b4', -1],
    ]);
  });
  it('never reach over a chunk, whose backward ends long before the next', () => {
    const chunks = [
      [-1, 0],
      [1, 2, 3],
    ];
    expect(blocksOf({ bucketMB: 25 }, chunks)).toEqual([['tied'], ['b0', -1, 0], ['b1', 1, 2, 3]]);
  });
  it('are one without a data axis, and one for each block under sharding 3', () => {
    expect(blocksOf({ data: 1, bucketMB: 0.001 })).toEqual([['tied'], ['b0', -1, 0, 1, 2, 3]]);
    const apart = [['tied'], ['embed', -1], ['L0', 0], ['L1', 1], ['L2', 2], ['head', 3]];
    expect(blocksOf({ sharding: 3 })).toEqual(apart);
  });

  it('are ready when backward has passed their lowest block, the tied matrix at the lowest end of its stage', () => {
    const { stages } = outlineOf(toyJob(), toyLayout());
    expect(stages.map(({ buckets }) => buckets.map(({ name, readyBlock }) => [name, readyBlock]))).toEqual([
      [
        ['tied', -1],
        ['b0', -1],
      ],
      [
        ['tied', 2],
        ['b0', 1],
      ],
    ]);
  });
});

describe('views', () => {
  /** Elements of each view with its place, in order. */
  const placesOf = (bucket: Bucket, tensor: number) =>
    bucket.views.map(({ offset, dims, name, block }) => {
      const elements = localElements(dims, (axis) => (axis === 'tensor' ? tensor : 1));
      return { name, block, offset, end: offset + elements, elements };
    });

  it('lie one after another without overlap: first what is summed, then, padded where gradients are cut, the rest', () => {
    fc.assert(
      fc.property(cases('padded'), (each) => {
        const { layout, job } = each;
        const specs = new Map(parametersOf(job.model).map((spec) => [`${spec.block}:${spec.name}`, spec]));
        const keyOf = (block: number) => (block < 0 ? 'embed' : block >= job.model.layers.length ? 'head' : block);
        for (const { buckets, buffers } of listsOf(each)) {
          for (const bucket of buckets) {
            const places = placesOf(bucket, layout.tensor);
            let end = 0;
            for (const { name, block, offset, end: next } of places) {
              const spec = specs.get(`${keyOf(block)}:${name}`);
              expect(spec && isSummed(spec, layout)).toBe(offset < bucket.summed);
              expect([end, Math.max(end, bucket.summed)]).toContain(offset);
              end = next;
            }
            expect(places.reduce((sum, { elements }) => sum + elements, 0)).toBe(bucket.elements);
            const [flat] = buffers.find(({ name }) => name === `G.${bucket.name}`)?.dims ?? [];
            expect(end).toBeLessThanOrEqual(flat?.size ?? 0);
            const behind = places.find(({ offset }) => offset >= bucket.summed)?.offset;
            if (flat?.parts) expect([bucket.summed, behind]).toEqual([flat.parts[0], flat.parts[0]]);
          }
        }
      }),
    );
  });

  it('cover every parameter of the model once, twice where two copies run, and the tied matrix where its ends are two stages', () => {
    fc.assert(
      fc.property(cases('padded'), (each) => {
        const { job, layout } = each;
        const layers = job.model.layers.length;
        const views = listsOf(each).flatMap(({ buckets }) => buckets.flatMap((bucket) => bucket.views));
        const named = views.map(({ block, name }) => `${block}:${name}`);
        const once = parametersOf(job.model).map((spec) => `${blockNumber(spec, layers)}:${spec.name}`);
        const expected = isMirrored(layout) ? [...once, ...once] : once;
        const twice =
          job.model.tied && layout.pipeline > 1 && placementOf(layout.schedule) === 'line' ? ['-1:wte'] : [];
        expect(named.sort()).toEqual([...expected, ...twice].sort());
      }),
    );
  });

  it('are counted for the norm on one rank each: their elements add up to the parameters of the model', () => {
    fc.assert(
      fc.property(cases('padded'), ({ job, layout }) => {
        expect(countedParameters(compileProgram(job, layout), layout.tensor)).toBe(countParameters(job.model).total);
      }),
    );
  });
});

describe('padding', () => {
  const bucket = { elements: 10, summed: 3 };
  it('is none where nothing is cut over data', () => {
    expect(paddedParts(bucket, { sharding: 0, data: 4, context: 1 })).toEqual([10]);
  });
  it('makes equal shares of a bucket, and of its summed part by itself where gradients are cut', () => {
    expect(paddedParts(bucket, { sharding: 1, data: 4, context: 1 })).toEqual([12]);
    expect(paddedParts(bucket, { sharding: 2, data: 4, context: 1 })).toEqual([4, 8]);
    expect(paddedParts({ elements: 10, summed: 0 }, { sharding: 3, data: 4, context: 1 })).toEqual([12]);
    expect(paddedParts({ elements: 10, summed: 10 }, { sharding: 3, data: 4, context: 1 })).toEqual([12]);
  });
});
