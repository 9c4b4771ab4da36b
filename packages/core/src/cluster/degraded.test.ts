import { describe, expect, it } from 'vitest';
import { clusterFromRequest, createCluster } from './index.ts';

const read = (degraded: unknown, preset = 'dgx-h100') => clusterFromRequest({ preset, nodes: 4, degraded }, 'cluster');
const codesOf = (degraded: unknown, preset?: string): string[] =>
  read(degraded, preset).issues.map((each) => `${each.code} ${each.path}`);
const whole = createCluster('dgx-h100', 4);

describe('degraded links and devices', () => {
  it('set the rate of their kind for all, and stay in the cluster as data', () => {
    const { cluster, issues } = read([
      { link: 'nic', node: 3, gpu: 1, fraction: 0.5 },
      { link: 'nic', fraction: 0.8 },
      { device: 2, node: 0, fraction: 0.9 },
    ]);
    expect(issues).toEqual([]);
    expect(cluster?.inter.rate.value).toBe(25e9);
    expect(cluster?.inter.rate.source).toContain('times 0.5, as given');
    expect(cluster?.device.sustained.value).toBeCloseTo(0.72);
    expect(cluster?.intra).toEqual(whole.intra);
    expect(cluster?.degraded).toEqual([
      { what: 'inter', fraction: 0.5, node: 3, gpu: 1 },
      { what: 'inter', fraction: 0.8, node: undefined, gpu: undefined },
      { what: 'device', fraction: 0.9, node: 0, gpu: 2 },
    ]);
  });
  it('slow the curves of the domain down with its rate', () => {
    const { cluster } = read([{ link: 'nvlink', fraction: 0.25 }]);
    expect(cluster?.intra.bandwidth.value).toBe(112.5e9);
    expect(cluster?.intra.curveBandwidth).toBe(450e9);
    expect(read([{ link: 'xgmi', fraction: 0.5 }], 'mi300x-8x').cluster?.intra.peer?.value).toBe(32e9);
  });
  it('leave PCIe where a fast link is gone, and half a card where one of several is', () => {
    expect(read([{ link: 'nvlink', node: 0, gpu: 2, fraction: 0 }]).cluster?.intra).toMatchObject({
      kind: 'pcie',
      gpus: 1,
    });
    expect(read([{ link: 'nic', node: 0, gpu: 2, fraction: 0 }]).cluster?.inter.rate.value).toBe(25e9);
  });
  it('leave fewer nodes where nodes are gone', () => {
    expect(
      read([
        { node: 3, fraction: 0 },
        { node: 1, fraction: 0 },
        { node: 1, fraction: 0 },
      ]).cluster?.nodes,
    ).toBe(2);
  });
  it('are refused where no mesh of equal nodes is left', () => {
    expect(codesOf([{ device: 2, node: 1, fraction: 0 }])).toEqual(['DEGRADED_NOT_MODELLED cluster.degraded.0']);
    expect(codesOf([{ link: 'pcie', node: 1, fraction: 0 }])).toEqual(['DEGRADED_NOT_MODELLED cluster.degraded.0']);
    expect(codesOf([{ link: 'nic', fraction: 0 }], 'pcie-8x-a100')).toEqual([
      'DEGRADED_NOT_MODELLED cluster.degraded.0',
    ]);
    expect(codesOf([0, 1, 2, 3].map((node) => ({ node, fraction: 0 })))).toEqual([
      'DEGRADED_NOT_MODELLED cluster.degraded',
    ]);
  });
  it('are refused with a place for every problem', () => {
    expect(
      codesOf([
        5,
        { link: 'nvlnk', fraction: 0.5 },
        { link: 'nic' },
        { node: 9, fraction: 0 },
        { node: 1, fraction: 0.5 },
      ]),
    ).toEqual([
      'VALUE_WRONG_TYPE cluster.degraded.0',
      'VALUE_UNKNOWN cluster.degraded.1.link',
      'KEY_MISSING cluster.degraded.2.fraction',
      'VALUE_OUT_OF_RANGE cluster.degraded.3.node',
      'KEY_MISSING cluster.degraded.3',
      'KEY_MISSING cluster.degraded.4',
    ]);
    expect(codesOf([{ link: 'nic', device: 1, fraction: 1.5 }])).toEqual([
      'VALUE_OUT_OF_RANGE cluster.degraded.0.fraction',
      'KEYS_CONFLICT cluster.degraded.0.device',
    ]);
    expect(codesOf({ link: 'nic' })).toEqual(['VALUE_WRONG_TYPE cluster.degraded']);
  });
});
