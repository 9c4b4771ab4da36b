import { describe, expect, it } from 'vitest';
import { clusterOf } from './cluster-of.ts';
import { runOf } from './run-row.ts';

const clusterOfRun = (gpu: string, gpus: number, perNode: number) => {
  const cells = { gpu, n_gpus: String(gpus), gpus_per_node: String(perNode), interconnect_inter_gbps_per_gpu: '400' };
  const { value } = clusterOf(runOf({ line: 2, cells }));
  if (value === undefined) throw new Error('no cluster');
  return value;
};

describe('the cluster of a run over racks', () => {
  it.each([
    [64, 72],
    [72, 72],
    [144, 72],
    [256, 64],
    [128, 64],
    [96, 48],
  ])('of %i devices has link domains of %i', (gpus, domain) => {
    expect(clusterOfRun('GB200', gpus, 4).cluster.intra.gpus).toBe(domain);
  });
  it('says which part of a rack it takes, and nothing where it fills racks', () => {
    expect(clusterOfRun('GB300', 256, 4).assumed).toEqual(['racks: 64 devices of each']);
    expect(clusterOfRun('GB300', 144, 4).assumed).toEqual([]);
  });
  it('of nodes that are link domains of their own stays as it is', () => {
    const { cluster, assumed } = clusterOfRun('H100-80GB-SXM', 24, 8);
    expect([cluster.intra.gpus, assumed]).toEqual([8, []]);
  });
});
