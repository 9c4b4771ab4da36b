import { describe, expect, it } from 'vitest';
import { clusterFromRequest, createCluster, gpuCount } from './index.ts';

const read = (value: unknown) => clusterFromRequest(value, 'cluster');
const codesOf = (value: unknown): string[] => read(value).issues.map((each) => `${each.code} ${each.path}`);

describe('groups of nodes that differ', () => {
  const mixed = read('4x dgx-h100 + 2x dgx-a100').cluster;

  it('make one cluster with the numbers of the slowest', () => {
    const a100 = createCluster('dgx-a100');
    expect(mixed && gpuCount(mixed)).toBe(48);
    expect(mixed?.name).toBe('4x dgx-h100 + 2x dgx-a100');
    expect(mixed?.device.name).toBe('H100-80GB-SXM and A100-80GB-SXM');
    expect(mixed?.device.gemm.bf16).toEqual(a100.device.gemm.bf16);
    expect(mixed?.device.memoryBandwidth).toEqual(a100.device.memoryBandwidth);
    expect(mixed?.intra).toEqual(a100.intra);
    expect(mixed?.inter).toEqual(a100.inter);
    // The A100 has a little more for the allocator.
    expect(mixed?.device.memory).toEqual(createCluster('dgx-h100').device.memory);
  });
  it('have no type that one of them lacks', () => {
    expect(mixed?.device.gemm.fp8).toBeUndefined();
  });
  it('say how much faster the others are', () => {
    expect(mixed?.parts.map(({ nodes, preset }) => [nodes, preset])).toEqual([
      [4, 'dgx-h100'],
      [2, 'dgx-a100'],
    ]);
    const [h100, slow] = mixed?.parts ?? [];
    expect(slow?.speed).toBe(1);
    expect(h100?.speed).toBeCloseTo((989 * 0.835 * 0.8) / (312 * 0.895 * 0.92), 6);
  });
  it('are the same as text and as a list', () => {
    expect(read({ groups: ['4x dgx-h100', { nodes: 2, preset: 'dgx-a100' }] }).cluster).toEqual(mixed);
  });
  it('are a plain cluster when there is one', () => {
    expect(read({ groups: ['4x dgx-h100'] }).cluster).toEqual(createCluster('dgx-h100', 4));
  });
  it('are refused when they are no mesh of equal nodes', () => {
    expect(codesOf('2x dgx-h100 + 2x gb200-nvl72')).toEqual(['NODES_NOT_ALIKE cluster']);
    expect(codesOf('2x dgx-a100 + 2x pcie-8x-a100')).toEqual(['NODES_NOT_ALIKE cluster']);
    expect(codesOf('2x dgx-h100 + 2x mi300x-8x')).toEqual(['NODES_NOT_ALIKE cluster']);
    const alike = { groups: ['2x dgx-h100', { preset: 'dgx-2', nodes: 1, gpusPerNode: 8, inter: { gpusPerNic: 1 } }] };
    expect(codesOf(alike)).toEqual([]);
  });
  it('are read with a place for every problem', () => {
    expect(codesOf({ groups: ['2x dgx-h100', { preset: 'dgx-h10' }, 4, { groups: [] }], nodes: 2 })).toEqual([
      'KEY_UNKNOWN cluster.nodes',
      'CLUSTER_PRESET_UNKNOWN cluster.groups.1.preset',
      'CLUSTER_UNREADABLE cluster.groups.2',
      'CLUSTER_UNREADABLE cluster.groups.3',
    ]);
    expect(codesOf({ groups: [] })).toEqual(['CLUSTER_UNREADABLE cluster.groups']);
    expect(codesOf('2x dgx-h100 +')).toEqual(['CLUSTER_UNREADABLE cluster']);
  });
});
