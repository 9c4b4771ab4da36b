import { describe, expect, it } from 'vitest';
import { formatLayout } from './format.ts';
import { laterLayoutKeys, layoutKeys } from './keys.ts';
import type { Layout } from './types.ts';

const layout: Layout = {
  tensor: 8,
  pipeline: 4,
  data: 2,
  context: 1,
  contextKind: 'ring',
  expert: 1,
  expertTensor: 8,
  sharding: 1,
  prefetch: 1,
  reshard: true,
  replicate: 1,
  layers: [],
  offload: 'none',
  lossChunks: 1,
  bucketMB: 25,
  gradientType: 'bf16',
  gradientReduction: 'per-step',
  overlap: ['data', 'parameters', 'pipeline'],
  microBatch: 1,
  chunks: 2,
  layersPerStage: [10, 10, 10, 10, 10, 10, 10, 10],
  schedule: 'interleaved-1f1b',
  recompute: 'selective',
  sequenceParallel: true,
  keepGathered: false,
  order: ['tensor', 'context', 'expert', 'data', 'pipeline'],
};

describe('formatLayout', () => {
  it('writes the short form of the contract', () => {
    expect(formatLayout(layout)).toBe('tp=8,pp=4,dp=2,vpp=2,mbs=1,zero=1,ac=selective,schedule=interleaved-1f1b,sp=on');
  });
  it('adds what is unusual', () => {
    const unusual: Layout = {
      ...layout,
      chunks: 1,
      layersPerStage: [19, 20, 21, 20],
      schedule: '1f1b',
      bucketMB: 100,
      order: ['tensor', 'pipeline', 'data', 'context', 'expert'],
      keepGathered: true,
      gradientType: 'fp32',
      overlap: ['pipeline'],
    };
    expect(formatLayout(unusual)).toBe(
      'tp=8,pp=4,dp=2,mbs=1,zero=1,ac=selective,schedule=1f1b,sp=on,keepgathered=on,bucket=100,grad=fp32,overlap=pipeline,lps=19-20-21-20,order=tp-pp-dp-cp-ep',
    );
  });
  it('writes every key when it must be exact', () => {
    expect(formatLayout(layout, { exact: true }).split(',')).toHaveLength(Object.keys(layout).length);
  });
});

describe('layoutKeys', () => {
  it('cover every key of a layout once, under distinct names', () => {
    expect(layoutKeys.map((key) => key.name).toSorted()).toEqual(Object.keys(layout).toSorted());
    const names = [...layoutKeys, ...laterLayoutKeys].flatMap(({ name, short, aliases }) => [
      ...new Set([name, short, ...aliases]),
    ]);
    expect(new Set(names).size).toBe(names.length);
  });
});
