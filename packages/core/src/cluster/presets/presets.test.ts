import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { deviceRows } from '../generated/hardware.ts';
import { createCluster, deviceNamed, deviceNames, type Fact, type GemmModel, presetNames } from '../index.ts';
import { presetOfDevice } from './index.ts';

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
    const others = bare.filter(
      (path) => !/(^|\.)(nodes|gpusPerNode|gpusPerNic|gpus|curveBandwidth|tiers\.\d\.nodes)$/.test(path),
    );
    for (const path of others) expect(path).toMatch(/^(device\.gemm\.\w+\.fit|intra\.curves)\./);
    for (const model of Object.values(createCluster(preset).device.gemm)) {
      if (model) expect((model as GemmModel).source).toContain('bench/fit.mjs');
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

it('has every device of the table, most of them in a preset', () => {
  expect(deviceNames.toSorted()).toEqual(Object.keys(deviceRows).toSorted());
  const alone = deviceNames.filter((name) => presetOfDevice(name) === undefined);
  expect(alone).toEqual(['TPU-v4', 'TPU-v5e', 'TPU-v5p', 'TPU-v6e']);
});

it('says that products are assumed where no table is of the device', () => {
  expect(deviceNamed('H100-80GB-SXM').gemm.bf16?.efficiency.kind).toBe('fitted');
  const h800 = deviceNamed('H800-80GB-SXM').gemm.bf16;
  expect(h800?.efficiency).toMatchObject({ kind: 'assumed', value: 0.835 });
  expect(h800?.source).toContain('shape constants of H100-SXM');
  expect(deviceNamed('MI300X').gemm.bf16?.efficiency.kind).toBe('measured');
});

it('has no bf16 on V100 and no fp8 before Ada and Hopper', () => {
  expect(deviceNamed('V100-32GB-SXM').gemm).toMatchObject({ bf16: undefined, fp8: undefined });
  expect(deviceNamed('V100-32GB-SXM').gemm.fp16?.peak.value).toBe(125e12);
  expect(deviceNamed('A100-80GB-SXM').gemm.fp8).toBeUndefined();
});

it('borrows curves of collectives by link and says so', () => {
  const kindOf = (preset: Parameters<typeof createCluster>[0]) => createCluster(preset).intra.curveFit.kind;
  expect(['dgx-a100', 'dgx-h100', 'dgx-h200', 'gb200-nvl72'].map((name) => kindOf(name as 'dgx-a100'))).toEqual(
    new Array(4).fill('fitted'),
  );
  expect(['dgx-b300', 'gb300-nvl72', 'hgx-h800', 'hgx-a800'].map((name) => kindOf(name as 'dgx-a100'))).toEqual(
    new Array(4).fill('assumed'),
  );
});

it('derates the power-limited parts alike', () => {
  const sustained = (['dgx-h100', 'dgx-h200', 'dgx-b200', 'gb200-nvl72'] as const).map(
    (name) => createCluster(name).device.sustained.value,
  );
  expect(new Set(sustained).size).toBe(1);
});

it('holds the generated files to what the fit gives', () => {
  const fit = fileURLToPath(new URL('../../../../../bench/fit.mjs', import.meta.url));
  expect(() => execFileSync(process.execPath, [fit, '--check'], { stdio: 'pipe' })).not.toThrow();
});
