import { describe, expect, it } from 'vitest';
import { createCluster } from '../presets/build.ts';
import { createTopology, partsOf, type TopologyParts, topologyOf, withSpeeds } from './index.ts';

/** The links of a message in words, `from > to`. */
function pathOf(topology: ReturnType<typeof createTopology>, from: number, to: number): readonly string[] {
  const path: string[] = [];
  topology.route(from, to, (link) => {
    const { family, from: near, to: far } = topology.nameOf(link);
    path.push(`${family}: ${near} > ${far}`);
  });
  return path;
}

const parts: TopologyParts = { ...partsOf(createCluster('dgx-h100', 4)), nodesPerLeaf: 2, oversubscription: 2 };

describe('the links of a cluster', () => {
  it('join devices of a node through its switch', () => {
    expect(pathOf(createTopology(parts), 9, 14)).toEqual([
      'device: device 9 > switch 1',
      'device: switch 1 > device 14',
    ]);
  });

  it('leave the node through the card of the rail, and meet at its leaf where nodes share one', () => {
    expect(pathOf(createTopology(parts), 1, 9)).toEqual([
      'pcie: device 1 > PCIe of device 1',
      'nic: card 0.1 > leaf',
      'nic: leaf > card 1.1',
      'pcie: PCIe of device 9 > device 9',
    ]);
  });

  it('cross the spine between leaves and between rails', () => {
    const topology = createTopology(parts);
    const spine = (from: number, to: number) => pathOf(topology, from, to).filter((each) => each.includes('spine'));
    expect(spine(1, 17)).toEqual(['leaf: leaf 0.1 > spine', 'leaf: spine > leaf 1.1']);
    expect(spine(1, 10)).toEqual(['leaf: leaf 0.1 > spine', 'leaf: spine > leaf 0.2']);
    // Two cards of 50 GB/s under a leaf that is oversubscribed twice.
    const [up = -1] = topology.find('leaf', 0);
    expect(topology.capacity[up]).toBe(parts.nicRate);
  });

  it('share PCIe uplinks where a node has no switch', () => {
    const topology = topologyOf(createCluster('pcie-8x-a100'));
    expect(pathOf(topology, 0, 1)).toEqual(['pcie: device 0 > PCIe of device 0', 'pcie: PCIe of device 1 > device 1']);
    expect(pathOf(topology, 0, 7).filter((each) => each.startsWith('uplink')).length).toBe(2);
  });

  it('take the shorter way around a torus, dim by dim, and one link of a full mesh', () => {
    const torus = createTopology({
      ...parts,
      nodes: 1,
      devicesPerNode: 8,
      domain: 8,
      shape: { kind: 'torus', sizes: [4, 2] },
    });
    expect(pathOf(torus, 0, 7)).toEqual(['torus: device 0 > device 3 (dim 0)', 'torus: device 3 > device 7 (dim 1)']);
    const mesh = createTopology({ ...parts, shape: { kind: 'mesh' } });
    expect(pathOf(mesh, 13, 10)).toEqual(['mesh: device 13 > device 10']);
    const [link = -1] = [...Array(1)].map(() => mesh.capacity.findIndex(() => true));
    expect(mesh.capacity[link]).toBe(parts.domainRate / 7);
  });

  it('slow down alone', () => {
    const topology = createTopology(parts);
    const [out = -1, back = -1] = topology.find('nic', 3);
    const slow = withSpeeds(topology, new Map([[out, 0.5]]));
    expect(slow.capacity[out]).toBe(parts.nicRate / 2);
    expect(slow.capacity[back]).toBe(parts.nicRate);
    expect(topology.capacity[out]).toBe(parts.nicRate);
  });
});
