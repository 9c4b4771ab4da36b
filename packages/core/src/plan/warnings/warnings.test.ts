import { describe, expect, it } from 'vitest';
import { clusterFromRequest } from '../../cluster/index.ts';
import type { Issue } from '../../errors/index.ts';
import { createJob } from '../../job/index.ts';
import type { LayoutRequest } from '../../layout/index.ts';
import { modelFromDimensions } from '../../model/index.ts';
import { showLayout } from '../index.ts';

const small = { kind: 'llama', layers: 8, hidden: 1024, heads: 16, ffn: 4096, vocab: 32000 };
const narrow = { ...small, hidden: 256, ffn: 1024, vocab: 8000 };
const wide = { kind: 'llama', layers: 2, hidden: 16384, heads: 128, ffn: 65536, vocab: 32000 };

function warningsOf(
  cluster: string,
  sequences: number,
  request: LayoutRequest,
  dimensions: Readonly<Record<string, number | string>> = small,
): readonly Issue[] {
  const found = clusterFromRequest(cluster, 'cluster').cluster;
  const { model } = modelFromDimensions(dimensions, 'model');
  if (!found || !model) throw new Error('internal: the fixture is broken.');
  const job = createJob({ name: 'warned', model, cluster: found, batch: { sequences, length: 1024 } });
  return showLayout(job, request).warnings;
}

const codesUnder = (...given: Parameters<typeof warningsOf>): readonly string[] =>
  warningsOf(...given).map(({ code, severity }) => `${severity} ${code}`);

const stages = { pipeline: 4, data: 2 };
const rows: readonly (readonly [string, string, number, LayoutRequest, readonly string[]])[] = [
  ['a tensor group over the network', '2x dgx-a100', 16, { tensor: 16 }, ['TENSOR_CROSSES_NODE', 'RING_LATENCY_BOUND']],
  ['more than two tensor ranks on PCIe', '1x pcie-8x-a100', 16, { tensor: 4 }, ['TENSOR_ON_PCIE']],
  [
    'two tensor ranks on PCIe and exchanges of data that nothing hides',
    '1x pcie-8x-a100',
    8,
    { tensor: 2 },
    ['DATA_SYNC_EXPOSED'],
  ],
  ['few micro-batches, and so a bubble', '1x dgx-a100', 16, stages, ['BUBBLE_OVER_10_PERCENT', 'FEW_MICRO_BATCHES']],
  [
    'stages of unequal memory, of which three wait for one',
    '1x dgx-a100',
    256,
    { ...stages, layersPerStage: [5, 1, 1, 1] },
    ['BUBBLE_OVER_10_PERCENT', 'STAGES_UNBALANCED'],
  ],
  ['nothing where exchanges hide', '1x dgx-a100', 64, { data: 8 }, []],
];

describe('warnings of a layout', () => {
  it.each(rows)('name %s', (_, cluster, sequences, request, codes) => {
    expect(codesUnder(cluster, sequences, request)).toEqual(codes.map((code) => `warning ${code}`));
  });
});

describe('a layer that is larger than a device', () => {
  const huge = { kind: 'gpt2', layers: 2, hidden: 32768, heads: 256, ffn: 131072, vocab: 51200, positions: 2048 };
  const request = { sharding: 0, gradientType: 'fp32', recompute: 'full', pipeline: 2 } as const;

  it('is named with the devices that hold it, and is no warning where tensor ranks split it', () => {
    const found = warningsOf('2x dgx-h100', 16, { ...request, tensor: 2 }, huge).find(
      ({ code }) => code === 'LAYER_DOES_NOT_FIT',
    );
    expect(found).toMatchObject({ severity: 'warning', values: { devices: 3 } });
    expect(found?.message).toContain('12.9 B parameters has 216 GiB of state, 108 GiB on each of 2 tensor ranks');
    expect(found?.hint).toContain('Use tensor 4 or more (2.73 devices hold a layer)');
    expect(codesUnder('2x dgx-h100', 16, { ...request, tensor: 4 }, huge)).not.toContain('warning LAYER_DOES_NOT_FIT');
  });
});

describe('sharded units', () => {
  const units = { sharding: 3, data: 64 } as const;
  const spread = '8x dgx-a100';

  it('are too small where gathering them is latency, and not where they are large', () => {
    expect(codesUnder(spread, 64, units, narrow)).toContain('warning UNITS_TOO_SMALL');
    expect(codesUnder(spread, 64, units, wide)).not.toContain('warning UNITS_TOO_SMALL');
  });

  it('are too large where those in use and ahead hold a fifth of a device, and not when tensor ranks split them', () => {
    const ahead = { sharding: 3, prefetch: 1 } as const;
    const [found] = warningsOf(spread, 64, { ...ahead, data: 64 }, wide).filter(
      ({ code }) => code === 'UNITS_TOO_LARGE',
    );
    expect(found?.values?.['gatheredShare']).toBeCloseTo((2 * (4 + 12) * 16384 ** 2 * 2) / (79.2 * 2 ** 30), 2);
    expect(codesUnder(spread, 64, { ...ahead, tensor: 8, data: 8 }, wide)).not.toContain('warning UNITS_TOO_LARGE');
  });
});

describe('rings of many ranks', () => {
  it('are bound by latency with small buckets, and not with large ones', () => {
    const replicas = { sharding: 0, data: 512 } as const;
    expect(codesUnder('64x dgx-a100', 512, { ...replicas, bucketMB: 1 })).toContain('warning RING_LATENCY_BOUND');
    expect(codesUnder('2x dgx-a100', 16, { data: 16, bucketMB: 1000 })).not.toContain('warning RING_LATENCY_BOUND');
  });
});

describe('the order of ranks', () => {
  it('is wrong where data ranks come first and a tensor group that a node would hold reaches over two', () => {
    const request = { tensor: 8, data: 2, order: ['data', 'tensor', 'context', 'expert', 'pipeline'] } as const;
    const [found] = warningsOf('2x dgx-a100', 16, request).filter(({ code }) => code === 'RANKS_OUT_OF_ORDER');
    expect(found).toMatchObject({ values: { stride: 2, islands: 2, needed: 1 } });
    expect(found?.hint).toBe('Number tensor ranks before data: order tensor-data-context-expert-pipeline.');
  });

  it('is right where tensor ranks are neighbours, and where two nodes are needed whatever it is', () => {
    expect(codesUnder('2x dgx-a100', 16, { tensor: 8, data: 2 })).not.toContain('warning RANKS_OUT_OF_ORDER');
    expect(codesUnder('2x dgx-a100', 16, { tensor: 16 })).not.toContain('warning RANKS_OUT_OF_ORDER');
  });
});
