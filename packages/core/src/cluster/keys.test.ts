import { describe, expect, it } from 'vitest';
import { clusterFromRequest } from './index.ts';
import { clusterKeysUnder, clusterKeyTable } from './keys.ts';

describe('the keys of a cluster', () => {
  it('are read where the table says, and nowhere else', () => {
    expect(clusterKeysUnder('inter.tiers[]')).toEqual(['name', 'nodes', 'oversubscription']);
    for (const { path } of clusterKeyTable.filter((key) => !key.path.includes('[]') && key.path.includes('.'))) {
      const [outer = '', inner = ''] = path.split('.');
      const like = outer === 'gpu' && inner !== 'like' ? { like: 'H100-80GB-SXM' } : {};
      const codes = (key: string) =>
        clusterFromRequest({ preset: 'dgx-h100', [outer]: { ...like, [key]: {} } }, 'cluster').issues.map(
          (each) => each.code,
        );
      // A value of the wrong kind is a value of a known key.
      expect(codes(inner), path).not.toContain('KEY_UNKNOWN');
      expect(codes(`${inner}s`), path).toContain('KEY_UNKNOWN');
    }
  });
  it('have words of their own', () => {
    expect(new Set(clusterKeyTable.map(({ path }) => path)).size).toBe(clusterKeyTable.length);
    for (const { says, takes } of clusterKeyTable) expect(says.endsWith('.') && takes.length > 2).toBe(true);
  });
});
