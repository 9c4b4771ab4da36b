import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  allAxes,
  coordinateOf,
  createMesh,
  degreeOf,
  expertRankOf,
  groupOf,
  groupsAlong,
  rankOf,
  strideOf,
  worldSize,
} from './index.ts';

const cube = createMesh({ tensor: 2, data: 2, pipeline: 2 });

describe('eight ranks as 2 x 2 x 2', () => {
  it('has 0,1 as a tensor pair, 0,2 as replicas of a shard, 0,4 as a two-stage pipeline', () => {
    expect(groupOf(cube, 0, ['tensor'])).toEqual([0, 1]);
    expect(groupOf(cube, 0, ['data'])).toEqual([0, 2]);
    expect(groupOf(cube, 0, ['pipeline'])).toEqual([0, 4]);
  });
  it('puts the pipeline before data when the order says so', () => {
    const mesh = createMesh({ tensor: 2, data: 2, pipeline: 2 }, ['tensor', 'pipeline', 'data']);
    expect(groupOf(mesh, 0, ['pipeline'])).toEqual([0, 2]);
  });
});

const meshes = fc
  .tuple(fc.integer({ min: 1, max: 4 }), fc.integer({ min: 1, max: 4 }), fc.integer({ min: 1, max: 4 }))
  .map(([tensor, data, pipeline]) => createMesh({ tensor, data, pipeline }));

describe('rank and coordinate', () => {
  it('are inverse to each other', () => {
    fc.assert(
      fc.property(meshes, fc.nat(), (mesh, seed) => {
        const rank = seed % worldSize(mesh);
        expect(rankOf(mesh, coordinateOf(mesh, rank))).toBe(rank);
      }),
    );
  });
  it('partition the ranks into groups along any set of axes', () => {
    fc.assert(
      fc.property(meshes, fc.subarray(['tensor', 'data', 'pipeline'] as const), (mesh, axes) => {
        const ranks = groupsAlong(mesh, axes).flat();
        expect([...ranks].sort((a, b) => a - b)).toEqual(Array.from({ length: worldSize(mesh) }, (_, i) => i));
      }),
    );
  });
});

describe('two grids of the same ranks', () => {
  const mesh = createMesh({ tensor: 2, context: 2, data: 4, pipeline: 2, expertTensor: 1, expert: 8, expertData: 2 });

  it('number the ranks as Megatron-LM does: etp + ETP (ep + EP (edp + EDP pp))', () => {
    for (let rank = 0; rank < worldSize(mesh); rank++) {
      const { tensor, context, data, pipeline, expertTensor, expert, expertData } = coordinateOf(mesh, rank);
      expect(tensor + 2 * (context + 2 * (data + 4 * pipeline))).toBe(rank);
      expect(expertTensor + expert + 8 * (expertData + 2 * pipeline)).toBe(rank);
      expect(expertRankOf(mesh, { expertTensor, expert, expertData, pipeline })).toBe(rank);
    }
  });

  it('have expert ranks side by side, out of tensor, context and data, and one pipeline', () => {
    expect(groupOf(mesh, 3, ['expert'])).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    expect(groupOf(mesh, 3, ['expertData'])).toEqual([3, 11]);
    expect(groupOf(mesh, 3, ['data'])).toEqual([3, 7, 11, 15]);
    expect(groupOf(mesh, 3, ['pipeline'])).toEqual([3, 19]);
    expect(strideOf({ axes: mesh.experts ?? [] }, 'pipeline')).toBe(strideOf(mesh, 'pipeline'));
  });

  it('may have more expert ranks than data ranks: 32 on 16 x 2', () => {
    const wide = createMesh({ context: 16, data: 2, expertTensor: 1, expert: 32, expertData: 1 });
    expect(degreeOf(wide, 'expert')).toBe(32);
    expect(groupsAlong(wide, ['expert'])).toHaveLength(1);
  });

  it('put the experts where the order has them', () => {
    const degrees = { data: 4, pipeline: 2, expertTensor: 1, expert: 2, expertData: 2 };
    const far = createMesh(degrees, ['tensor', 'context', 'data', 'expert', 'pipeline']);
    expect(groupOf(far, 0, ['expert'])).toEqual([0, 2]);
    expect(groupOf(far, 0, ['expertData'])).toEqual([0, 1]);
  });

  it('are both inverse to their ranks and both partition them', () => {
    const power = fc.constantFrom(1, 2, 4);
    fc.assert(
      fc.property(power, power, power, power, fc.nat(), (expertTensor, expert, expertData, pipeline, seed) => {
        const data = expertTensor * expert * expertData;
        const both = createMesh({ data, pipeline, expertTensor, expert, expertData });
        const rank = seed % worldSize(both);
        expect(rankOf(both, coordinateOf(both, rank))).toBe(rank);
        expect(expertRankOf(both, coordinateOf(both, rank))).toBe(rank);
        for (const axis of ['expertTensor', 'expert', 'expertData', 'pipeline'] as const) {
          const ranks = groupsAlong(both, [axis]).flat();
          expect([...ranks].sort((a, b) => a - b)).toEqual(Array.from({ length: worldSize(both) }, (_, i) => i));
          expect(groupOf(both, rank, [axis])).toContain(rank);
        }
      }),
    );
  });

  it('do not mix: a group is of one grid', () => {
    expect(() => groupOf(mesh, 0, ['data', 'expert'])).toThrow('internal:');
    expect(allAxes(mesh).map(({ name }) => name)).toEqual([
      'tensor',
      'context',
      'data',
      'pipeline',
      'expertTensor',
      'expert',
      'expertData',
    ]);
  });
});
