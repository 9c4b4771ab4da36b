import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { clusterFromRequest } from '../cluster/index.ts';
import { createPrices, slowDownOf } from '../cost/index.ts';
import { createMesh } from '../mesh/index.ts';
import { type KernelSample, type MachineSamples, machineText } from './machine-text.ts';

const kernel = (name: KernelSample['kernel'], kind: KernelSample['kind'], flops: number): KernelSample => ({
  ...{ kernel: name, kind, flops, bytes: 1000, bytesWritten: 500, between: 1e-6 },
  seconds: 2e-6 + flops * 1e-10,
});
const sizes = [1e5, 1e6, 1e7];
const samples: MachineSamples = {
  machine: 'two cores: "A"',
  asOf: '2026-11',
  engine: 'wasm',
  cores: 2,
  memoryBytes: 4 * 2 ** 30,
  ranks: 2,
  kernels: [
    ...sizes.map((flops) => kernel('gemm', 'gemm', flops)),
    ...sizes.map((flops) => kernel('attention', 'attention', flops)),
    kernel('add', 'memory', 0),
  ],
  exchanges: [1e4, 1e6].map((bytes) => ({ kind: 'all-reduce', ranks: 2, bytes, seconds: 1e-5 + bytes * 1e-9 })),
};
const read = (change: (value: Record<string, unknown>) => void = () => undefined) => {
  const value = parse(machineText(samples)) as Record<string, unknown>;
  change(value);
  return clusterFromRequest(value, 'cluster');
};
const gemm = { kind: 'gemm', m: 1, n: 1, k: 1, batch: 1, dtype: 'fp32', accumulate: false } as const;
const amounts = { flops: 4e6, bytesRead: 500, bytesWritten: 500 } as const;

test('a measured machine is a cluster whose prices are what was measured', () => {
  const { cluster, issues } = read();
  expect(issues).toEqual([]);
  if (!cluster) throw new Error('no cluster');
  const prices = createPrices(cluster, createMesh({ tensor: 2 }));
  // 2 us to start, 100 us for 4 MFLOP... 0.1 ns each, and 1 us before it.
  expect(prices.compute({ ...gemm, ...amounts }, 'gemm')).toBeCloseTo(2e-6 + 4e-4 + 1e-6, 8);
  // A kernel that was not measured takes what its kind of work takes.
  expect(prices.compute({ ...gemm, ...amounts }, 'expert-gemm')).toBeCloseTo(2e-6 + 4e-4 + 1e-6, 8);
  const request = { kind: 'all-reduce', algorithm: 'ring', bytes: 2e6, axes: ['tensor'] } as const;
  expect(prices.exchange(request)).toBeCloseTo(1e-5 + 2e-3, 7);
  expect(prices.assumptions).toEqual([]);
  // A rank is one thread: a second of a kernel and one of an exchange, side by side, take two.
  expect(slowDownOf(cluster)).toEqual({ compute: 2, exchange: 2 });
});

test('ranks beyond the cores take turns', () => {
  const { cluster } = read((value) => Object.assign(value, { gpusPerNode: 8 }));
  const prices = cluster && createPrices(cluster, createMesh({ tensor: 8 }));
  expect(prices?.compute({ ...gemm, ...amounts }, 'gemm')).toBeCloseTo(4 * (2e-6 + 4e-4 + 1e-6), 7);
});

test('what a file lacks or has wrong is said with its place', () => {
  const said = (change: (value: Record<string, unknown>) => void): readonly string[] =>
    read(change).issues.map(({ code, path }) => `${code} ${path}`);
  const measured = (value: Record<string, unknown>): Record<string, unknown> =>
    value['measured'] as Record<string, unknown>;
  expect(said((value) => Reflect.deleteProperty(measured(value), 'cores')).join()).toContain('cluster.measured.cores');
  expect(said((value) => Object.assign(measured(value), { kernels: 7 })).join()).toContain('cluster.measured.kernels');
  expect(said((value) => Object.assign(measured(value), { others: {} })).join()).toContain('measured.others.gemm');
  expect(said((value) => Object.assign(value, { preset: 'dgx-h100' })).join()).toContain('KEYS_CONFLICT');
  expect(said((value) => Object.assign(measured(value), { exchanges: [{ kind: 'ring' }] })).join()).toContain(
    'cluster.measured.exchanges',
  );
});
