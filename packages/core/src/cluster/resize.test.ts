import { describe, expect, it } from 'vitest';
import { clusterFromRequest, clusterSizes, gpuCount, resizeCluster } from './index.ts';

const clusterOf = (text: string) => {
  const { cluster } = clusterFromRequest(text, 'cluster');
  if (!cluster) throw new Error('internal: the fixture is broken.');
  return cluster;
};

describe('a cluster of another size', () => {
  it('has whole nodes under the name that people would write', () => {
    const resized = resizeCluster(clusterOf('8x dgx-h100'), 24);
    expect(resized).toEqual(clusterOf('3x dgx-h100'));
  });

  it('is a part of one node, whose link domain and cards shrink with it', () => {
    const half = resizeCluster(clusterOf('8x dgx-h100'), 4);
    expect(half).toMatchObject({ nodes: 1, gpusPerNode: 4, intra: { gpus: 4 }, inter: { gpusPerNic: 1 } });
    expect(resizeCluster(clusterOf('1x pcie-8x-a100'), 2)).toMatchObject({
      intra: { gpus: 1 },
      inter: { gpusPerNic: 2 },
    });
    expect(resizeCluster(clusterOf('1x bridge-4x-a100'), 1)).toMatchObject({ intra: { gpus: 1 } });
  });

  it('keeps the domain of a rack', () => {
    expect(resizeCluster(clusterOf('gb200-nvl72'), 16)).toMatchObject({
      nodes: 4,
      gpusPerNode: 4,
      intra: { gpus: 72 },
    });
  });

  it('is none for numbers that are neither nodes nor divisors of one', () => {
    for (const gpus of [0, 3, 12, 2.5]) expect(resizeCluster(clusterOf('8x dgx-h100'), gpus)).toBeUndefined();
  });
});

describe('sizes of clusters', () => {
  it('are divisors of a node, every count of nodes, then 32 for each doubling', () => {
    const sizes = [...clusterSizes(clusterOf('1x dgx-h100'), 1, 2048)];
    expect(sizes.slice(0, 7)).toEqual([1, 2, 4, 8, 16, 24, 32]);
    expect(sizes).toContain(63 * 8);
    expect(sizes).not.toContain(65 * 8);
    expect(sizes.at(-1)).toBe(2048);
    expect(sizes).toEqual([...sizes].sort((a, b) => a - b));
  });

  it('all exist', () => {
    const cluster = clusterOf('1x dgx-a100');
    for (const gpus of clusterSizes(cluster, 2, 1024)) {
      const resized = resizeCluster(cluster, gpus);
      expect(resized && gpuCount(resized)).toBe(gpus);
    }
  });
});
