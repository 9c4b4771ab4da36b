import { describe, expect, it } from 'vitest';
import { clusterFromRequest } from './index.ts';

const inter = (value: unknown) => clusterFromRequest({ preset: 'dgx-h100', nodes: 64, inter: value }, 'cluster');
const codesOf = (value: unknown): string[] => inter(value).issues.map((each) => `${each.code} ${each.path}`);

describe('levels of switches', () => {
  it('are one full fabric unless something is said', () => {
    expect(inter({}).cluster?.inter).toMatchObject({
      rails: true,
      tiers: [{ nodes: 1, oversubscription: { value: 1 } }],
    });
  });
  it('are leaves and a spine with nodesPerLeaf', () => {
    const { cluster } = inter({ oversubscription: 4, nodesPerLeaf: 16, rails: false });
    expect(cluster?.inter.rails).toBe(false);
    expect(cluster?.inter.tiers).toMatchObject([
      { name: 'leaf', nodes: 16, oversubscription: { value: 4, kind: 'given' } },
    ]);
  });
  it('are a list from the leaves outward', () => {
    const tiers = [
      { name: 'leaf', nodes: 16, oversubscription: 1 },
      { name: 'spine', nodes: 32, oversubscription: 3 },
    ];
    const read = inter({ tiers }).cluster?.inter.tiers;
    expect(read?.map(({ name, nodes, oversubscription }) => [name, nodes, oversubscription.value])).toEqual([
      ['leaf', 16, 1],
      ['spine', 32, 3],
    ]);
  });
  it('are refused where they do not hold each other', () => {
    expect(codesOf({ tiers: [{ nodes: 16 }, { nodes: 24 }] })).toEqual([
      'TIERS_NOT_NESTED cluster.inter.tiers.1.nodes',
    ]);
    expect(codesOf({ tiers: [{ nodes: 16 }, { nodes: 16 }] })).toEqual([
      'TIERS_NOT_NESTED cluster.inter.tiers.1.nodes',
    ]);
    expect(codesOf({ tiers: [{ nodes: 16 }, { nodes: 32 }] })).toEqual([]);
  });
  it('are refused with a place for every problem', () => {
    expect(codesOf({ tiers: [{ node: 16 }, 3], oversubscription: 2 })).toEqual([
      'KEYS_CONFLICT cluster.inter.oversubscription',
      'KEY_UNKNOWN cluster.inter.tiers.0.node',
      'KEY_MISSING cluster.inter.tiers.0.nodes',
      'VALUE_WRONG_TYPE cluster.inter.tiers.1',
      'TIERS_NOT_NESTED cluster.inter.tiers.1.nodes',
    ]);
    expect(codesOf({ tiers: [] })).toEqual(['VALUE_OUT_OF_RANGE cluster.inter.tiers']);
    expect(codesOf({ oversubscription: 0.5 })).toEqual(['VALUE_OUT_OF_RANGE cluster.inter.oversubscription']);
  });
});
