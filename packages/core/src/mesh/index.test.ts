import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { coordinateOf, createMesh, groupOf, groupsAlong, rankOf, worldSize } from './index.ts';

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
