import { describe, expect, it } from 'vitest';
import { capacityBytes, clusterFromRequest, gpuCount } from './index.ts';

const read = (value: unknown) => clusterFromRequest(value, 'cluster');
const codesOf = (value: unknown): string[] => read(value).issues.map((each) => `${each.code} ${each.path}`);

describe('a cluster as text', () => {
  it.each([
    ['8x dgx-h100', 8, 64],
    ['8xdgx-h100', 8, 64],
    ['8 x DGX-H100', 8, 64],
    ['dgx-h100', 1, 8],
    ['  16x dgx-a100 ', 16, 128],
    ['16x gb200-nvl72', 16, 64],
    ['gb200-nvl72', 18, 72],
    ['pcie-8x-a100', 1, 8],
    ['2x bridge-4x-a100', 2, 8],
  ])('reads %s', (text, nodes, gpus) => {
    const { cluster, issues } = read(text);
    expect(issues).toEqual([]);
    expect(cluster?.nodes).toBe(nodes);
    expect(cluster && gpuCount(cluster)).toBe(gpus);
  });

  it('suggests the nearest preset', () => {
    const [issue] = read('8x dgx-h1000').issues;
    expect(issue?.code).toBe('CLUSTER_PRESET_UNKNOWN');
    expect(issue?.hint).toContain('Did you mean dgx-h100?');
  });

  it('suggests presets that hold what was written', () => {
    expect(read('8x mi300x').issues[0]?.hint).toBe(
      'Did you mean mi300x-8x, azure-nd-mi300x, oci-mi300x? 65 are known.',
    );
    expect(read({ preset: 'dgx-h100', gpu: 'h100' }).issues[0]?.hint).toMatch(
      /^Did you mean H100-80GB-SXM, H100-96GB-SXM, H100-80GB-PCIe\?/,
    );
    expect(read('8x qqqqqq').issues[0]?.hint).toMatch(/^Use one of dgx-1v, .* or 41 more\.$/);
  });

  it.each(['', '8x', 'eight dgx', '8x dgx h100'])('refuses %j', (text) => {
    expect(codesOf(text)).toEqual(['CLUSTER_UNREADABLE cluster']);
  });

  it.each(['0x dgx-h100', '-2x dgx-h100', '1.5x dgx-h100', '1000000x dgx-h100'])('refuses the count of %s', (text) => {
    expect(codesOf(text)).toEqual(['VALUE_OUT_OF_RANGE cluster']);
  });

  it.each([5, null, undefined, [], true])('refuses %j', (value) => {
    expect(codesOf(value)).toEqual(['CLUSTER_UNREADABLE cluster']);
  });
});

describe('a cluster as a mapping', () => {
  it('starts from a preset and takes what is given', () => {
    const { cluster, issues } = read({
      nodes: 4,
      preset: 'dgx-h100',
      gpu: 'H200-141GB-SXM',
      inter: { Gbps: 200, oversubscription: 2 },
      intra: { GBps: 225 },
    });
    expect(issues).toEqual([]);
    expect(cluster?.device.name).toBe('H200-141GB-SXM');
    expect(cluster?.inter.rate).toMatchObject({ value: 25e9, kind: 'given' });
    expect(cluster?.inter.name).toBe('InfiniBand 200 Gb/s');
    expect(cluster?.inter.tiers.map(({ nodes, oversubscription }) => [nodes, oversubscription.value])).toEqual([
      [1, 2],
    ]);
    expect(cluster?.intra.bandwidth.value).toBe(225e9);
    expect(cluster?.intra.curves.length).toBeGreaterThan(0);
    expect(cluster?.name).toContain('its own');
  });

  it('finds the node of a device', () => {
    const { cluster } = read({ nodes: 2, gpu: 'b200-sxm' });
    expect(cluster?.preset).toBe('dgx-b200');
  });

  it('lets the domain and shared cards follow the size of the node', () => {
    const { cluster, issues } = read({ preset: 'dgx-h100', gpusPerNode: 4 });
    expect(issues).toEqual([]);
    expect(cluster?.intra.gpus).toBe(4);
    expect(read({ preset: 'pcie-8x-a100', gpusPerNode: 2 }).cluster?.inter.gpusPerNic).toBe(2);
  });

  it('changes a switch into pairs and into nothing but PCIe', () => {
    expect(read({ preset: 'dgx-h100', intra: { kind: 'pairs' } }).cluster?.intra).toMatchObject({
      gpus: 2,
      curves: [],
    });
    expect(read({ preset: 'dgx-h100', intra: { kind: 'pcie' } }).cluster?.intra).toMatchObject({ gpus: 1, curves: [] });
    const dropped = read({ preset: 'rtx-workstation', intra: { GBps: 1 } }).issues;
    expect(dropped.map((each) => `${each.code} ${each.path}`)).toEqual([
      expect.stringMatching(/^KEY_UNKNOWN .*intra\.GBps$/),
    ]);
    expect(read({ preset: 'rtx-workstation', intra: { kind: 'switch', GBps: 50 } }).cluster?.intra).toMatchObject({
      gpus: 4,
      curves: [],
    });
  });

  it('describes a device by another one', () => {
    const { cluster, issues } = read({
      preset: 'dgx-h100',
      gpu: { like: 'H100-80GB-SXM', memoryGiB: 94, bf16TFLOPS: 800, memoryGBps: 2400 },
    });
    expect(issues).toEqual([]);
    expect(cluster && capacityBytes(cluster)).toBe(94 * 2 ** 30);
    expect(cluster?.device.gemm.bf16?.peak.value).toBe(800e12);
    expect(cluster?.device.gemm.fp32.peak.value).toBeCloseTo(400e12);
  });

  it('reports everything at once with dotted paths', () => {
    expect(
      codesOf({ nodes: 0, presett: 'x', preset: 'dgx-h10', gpu: 'H1000', intra: { kind: 'torus', gpus: 3 }, inter: 7 }),
    ).toEqual([
      'KEY_UNKNOWN cluster.presett',
      'VALUE_OUT_OF_RANGE cluster.nodes',
      'CLUSTER_PRESET_UNKNOWN cluster.preset',
      'GPU_UNKNOWN cluster.gpu',
      'VALUE_UNKNOWN cluster.intra.kind',
      'VALUE_WRONG_TYPE cluster.inter',
      'NODE_NOT_WHOLE cluster.intra.gpus',
    ]);
  });

  it('wants a preset or a device', () => {
    expect(codesOf({ nodes: 2 })).toEqual(['KEY_MISSING cluster']);
    expect(codesOf({ preset: 'dgx-h100', gpu: {} })).toEqual(['KEY_MISSING cluster.gpu.like']);
    expect(codesOf({ preset: 'dgx-h100', nodes: '8' })).toEqual(['VALUE_WRONG_TYPE cluster.nodes']);
    expect(codesOf({ preset: 'dgx-h100', inter: { gpusPerNic: 3 } })).toEqual([
      'NODE_NOT_WHOLE cluster.inter.gpusPerNic',
    ]);
  });
});
