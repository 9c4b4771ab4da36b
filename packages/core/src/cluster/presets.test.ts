import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { createCluster, type Fact, presetNames } from './index.ts';

/** Every object with a `value` under a cluster, with its path; numbers that stand outside of a fact as well. */
function walk(value: unknown, path: string, facts: [string, Fact][], bare: string[]): void {
  if (typeof value === 'number') bare.push(path);
  if (typeof value !== 'object' || value === null) return;
  if ('value' in value && 'source' in value) {
    facts.push([path, value as Fact]);
    return;
  }
  for (const [key, each] of Object.entries(value)) walk(each, path === '' ? key : `${path}.${key}`, facts, bare);
}

describe.each(presetNames)('%s', (preset) => {
  const facts: [string, Fact][] = [];
  const bare: string[] = [];
  walk(createCluster(preset, 2), '', facts, bare);

  it('has a source and a date for every number', () => {
    expect(facts.length).toBeGreaterThan(20);
    for (const [path, fact] of facts) {
      expect(fact.source.length, path).toBeGreaterThan(3);
      expect(fact.asOf, path).toMatch(/^\d{4}-\d{2}$/);
      expect(fact.value, path).toBeGreaterThan(0);
    }
  });

  it('has a range around every assumed number', () => {
    for (const [path, { kind, value, low, high }] of facts) {
      if (kind === 'assumed') {
        expect(low, path).toBeLessThanOrEqual(value);
        expect(high, path).toBeGreaterThanOrEqual(value);
        expect(high, path).toBeGreaterThan(low);
      } else expect([low, high], path).toEqual([value, value]);
    }
  });

  it('has no other numbers than counts and fitted constants, whose table is named', () => {
    const others = bare.filter((path) => !/(^|\.)(nodes|gpusPerNode|gpusPerNic|gpus|curveBandwidth)$/.test(path));
    for (const path of others) expect(path).toMatch(/^(device\.gemm\.\w+\.fit|intra\.curves)\./);
    for (const model of Object.values(createCluster(preset).device.gemm)) {
      if (model) expect(model.source).toContain('bench/fit.mjs');
    }
  });

  it('is frozen', () => {
    const cluster = createCluster(preset);
    expect(Object.isFrozen(cluster) && Object.isFrozen(cluster.device.memory) && Object.isFrozen(cluster.intra)).toBe(
      true,
    );
  });
});

it('counts what the allocator sees, not what is printed', () => {
  const { memory, memoryNominal } = createCluster('dgx-h100').device;
  expect(memory.value / 2 ** 30).toBeCloseTo(79.1, 2);
  expect(memory.value).toBeLessThan(memoryNominal.value);
});

it('derates the power-limited parts alike', () => {
  const sustained = (['dgx-h100', 'dgx-h200', 'dgx-b200', 'gb200-nvl72'] as const).map(
    (name) => createCluster(name).device.sustained.value,
  );
  expect(new Set(sustained).size).toBe(1);
});

it('holds the generated files to what the fit gives', () => {
  const fit = fileURLToPath(new URL('../../../../bench/fit.mjs', import.meta.url));
  expect(() => execFileSync(process.execPath, [fit, '--check'], { stdio: 'pipe' })).not.toThrow();
});
