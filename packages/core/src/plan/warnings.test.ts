import { describe, expect, it } from 'vitest';
import { clusterFromRequest } from '../cluster/index.ts';
import { createJob } from '../job/index.ts';
import type { LayoutRequest } from '../layout/index.ts';
import { modelFromDimensions } from '../model/index.ts';
import { showLayout } from './index.ts';

function warningsUnder(cluster: string, sequences: number, request: LayoutRequest): readonly string[] {
  const found = clusterFromRequest(cluster, 'cluster').cluster;
  const dimensions = { kind: 'llama', layers: 8, hidden: 1024, heads: 16, ffn: 4096, vocab: 32000 };
  const { model } = modelFromDimensions(dimensions, 'model');
  if (!found || !model) throw new Error('internal: the fixture is broken.');
  const job = createJob({ name: 'warned', model, cluster: found, batch: { sequences, length: 1024 } });
  return showLayout(job, request).warnings.map(({ code, severity }) => `${severity} ${code}`);
}

const stages = { pipeline: 4, data: 2 };
const rows: readonly (readonly [string, string, number, LayoutRequest, readonly string[]])[] = [
  ['a tensor group over the network', '2x dgx-a100', 16, { tensor: 16 }, ['TENSOR_CROSSES_NODE']],
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
    expect(warningsUnder(cluster, sequences, request)).toEqual(codes.map((code) => `warning ${code}`));
  });
});
