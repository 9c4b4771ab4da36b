import { describe, expect, it } from 'vitest';
import { clusterFromRequest } from '../cluster/index.ts';
import { type AlgorithmName, algorithms, protocols, timeAlone } from '../collectives/index.ts';
import { compileProgram } from '../compile/index.ts';
import { toyLayout } from '../compile/toy.fixture.ts';
import { createPrices, type ExchangeWays, networkOf, TIER_OVERLAP } from '../cost/index.ts';
import { createJob } from '../job/index.ts';
import type { Layout } from '../layout/index.ts';
import { blockParameters, countParameters, elementsOf, modelFromDimensions } from '../model/index.ts';
import { type SharedStep, simulateShared } from './index.ts';

const { model } = modelFromDimensions(
  { kind: 'llama', layers: 2, hidden: 512, heads: 8, kvHeads: 8, ffn: 2048, vocab: 4096, positions: 64 },
  'model',
);

/** One micro-batch on `data` ranks and nothing else: what is exchanged is the data axis's alone. */
function stepOf(request: string, keys: Partial<Layout> & { readonly data: number }, ways?: ExchangeWays) {
  const { cluster } = clusterFromRequest(request, 'cluster');
  if (!cluster || !model) throw new Error('internal: the fixture is broken.');
  const layout = toyLayout({
    tensor: 1,
    pipeline: 1,
    schedule: 'none',
    layersPerStage: [2],
    sequenceParallel: false,
    bucketMB: 1e6,
    gradientType: 'bf16',
    ...keys,
  });
  const batch = { sequences: keys.data * layout.microBatch, length: 64 };
  const program = compileProgram(createJob({ name: 'data', model, cluster, batch }), layout);
  const prices = createPrices(cluster, program.mesh, { ...(ways && { ways }) });
  return { cluster, model, step: simulateShared(program, { prices, network: networkOf(cluster) }) };
}

/** Seconds of the one exchange of gradients. */
function gradientSeconds({ lists, start, end }: SharedStep): number {
  const operations = lists[0]?.expanded.operations ?? [];
  const at = operations.findIndex(({ operation }) => operation.why.rule === 'reduce-gradient');
  expect(operations.filter(({ operation }) => operation.why.rule === 'reduce-gradient')).toHaveLength(1);
  return (end[at] as number) - (start[at] as number);
}

describe('gradients of a program alone on their links', () => {
  it('take the closed form of each algorithm: rings, trees, halves, switches', () => {
    const ways: readonly AlgorithmName[] = ['ring', 'tree', 'halving-doubling', 'in-switch'];
    for (const algorithm of ways) {
      const { cluster, model, step } = stepOf('1x dgx-h100', { data: 8, sharding: 0 }, {
        algorithm,
        protocol: 'simple',
      } as ExchangeWays);
      const { latency, bandwidth, efficiency } = cluster.intra;
      const rate = bandwidth.value * efficiency.value * protocols.simple.share;
      const form = timeAlone(
        algorithms[algorithm],
        'all-reduce',
        2 * countParameters(model).total,
        8,
        latency.value * protocols.simple.latency.nvlink,
        rate,
      );
      expect(Math.abs(gradientSeconds(step) / form - 1)).toBeLessThan(1e-9);
    }
  });

  it('take the closed form of rings in tiers over several nodes', () => {
    const { cluster, model, step } = stepOf(
      '4x dgx-h100',
      { data: 32, sharding: 0 },
      { algorithm: 'ring', protocol: 'simple' },
    );
    const bytes = 2 * countParameters(model).total;
    const { intra, inter } = cluster;
    const inside = (1.75 * bytes) / (intra.bandwidth.value * intra.efficiency.value);
    const between = (1.5 * (bytes / 8)) / (inter.rate.value * inter.efficiency.value);
    const latency = 14 * intra.latency.value + 6 * inter.latency.value;
    const form = latency + Math.max(inside, between) + TIER_OVERLAP * Math.min(inside, between);
    expect(Math.abs(gradientSeconds(step) / form - 1)).toBeLessThan(1e-9);
  });
});

describe('bytes on the links of a program', () => {
  const ring = { algorithm: 'ring', protocol: 'simple' } as const;
  const bytesOf = (sharding: Layout['sharding']): number => {
    const { step } = stepOf('1x dgx-h100', { data: 8, sharding, gradientReduction: 'per-micro-batch' }, ring);
    return step.links.find(({ name }) => name.startsWith('device'))?.bytes ?? 0;
  };
  if (!model) throw new Error('internal: the fixture is broken.');
  /** A gather or a reduce-scatter of all parameters, and the sum of one scalar. */
  const once = (7 / 8) * 2 * countParameters(model).total;
  const scalar = 7 * 4;

  it('are two times (N - 1) / N of the parameters for DDP and for ZeRO 1 and 2, which sum the norm as well', () => {
    expect(bytesOf(0)).toBeCloseTo(2 * once + scalar, 6);
    expect(bytesOf(1)).toBeCloseTo(2 * once + 2 * scalar, 6);
    expect(bytesOf(2)).toBeCloseTo(2 * once + 2 * scalar, 6);
  });

  it('are three times for ZeRO 3, but for the head, which turns round in one run', () => {
    const head = blockParameters(model, 'head').reduce((sum, each) => sum + elementsOf(each), 0);
    expect(bytesOf(3)).toBeCloseTo(3 * once - (7 / 8) * 2 * head + 2 * scalar, 6);
  });
});
