import { describe, expect, it } from 'vitest';
import { completeLayout } from './complete.ts';
import { formatLayout } from './format.ts';
import { sampleJob } from './sample.fixture.ts';
import { equalCosts } from './split.ts';
import type { LayoutRequest } from './types.ts';

const job = sampleJob();
const complete = (request: LayoutRequest, of = job) => completeLayout(request, of, equalCosts(of.model.layers.length));

describe('completeLayout', () => {
  it('takes the defaults of the contract and says which', () => {
    const { layout, issues, defaulted } = complete({ tensor: 2, pipeline: 2 });
    expect(issues).toEqual([]);
    expect(formatLayout(layout)).toBe('tp=2,pp=2,dp=2,mbs=1,zero=0,ac=none,schedule=1f1b,sp=on');
    expect(layout.layersPerStage).toEqual([16, 16]);
    expect(layout.gradientType).toBe('bf16');
    expect(defaulted).not.toContain('tensor');
    expect(defaulted).toContain('data');
    expect(defaulted).toHaveLength(24);
  });
  it('interleaves when chunks are given, reduces per micro-batch under sharding 3', () => {
    const { layout } = complete({ pipeline: 2, chunks: 4, sharding: 3 });
    expect(layout.schedule).toBe('interleaved-1f1b');
    expect(layout.gradientReduction).toBe('per-micro-batch');
    expect(formatLayout(layout)).toBe('tp=1,pp=2,dp=4,vpp=4,mbs=1,zero=3,ac=none,schedule=interleaved-1f1b');
  });
  it('has no schedule and no sequence shards on one rank of each', () => {
    const { layout } = complete({});
    expect(layout).toMatchObject({ data: 8, schedule: 'none', chunks: 1, sequenceParallel: false });
  });
  it('keeps gradients in fp32 unless precision is bf16', () => {
    expect(complete({}, sampleJob({ precision: 'fp16' })).layout.gradientType).toBe('fp32');
  });
  it('notes an overlap of what is not exchanged, and a prefetch that holds up compute', () => {
    const notes = (request: LayoutRequest) => complete(request).issues.map(({ message }) => message);
    expect(notes({ tensor: 8, overlap: [] })).toEqual([
      'overlap none has no effect in this layout and reads as data+parameters+pipeline.',
    ]);
    expect(notes({ overlap: ['data'], sharding: 3, prefetch: 2 })).toEqual([
      'prefetch 2 has no effect in this layout and reads as 0.',
    ]);
    expect(notes({ overlap: ['data'], sharding: 1 })).toEqual([]);
  });
  it('returns all violations of what is given', () => {
    const { issues } = complete({ tensor: 3, pipeline: 64, schedule: 'none' });
    expect(issues.map((each) => each.code)).toEqual([
      'DEGREES_NOT_GPUS',
      'HEADS_NOT_DIVISIBLE',
      'KV_HEADS_NOT_DIVISIBLE',
      'FFN_NOT_DIVISIBLE',
      'HIDDEN_NOT_DIVISIBLE',
      'VOCABULARY_NOT_DIVISIBLE',
      'SEQUENCE_NOT_DIVISIBLE',
      'LAYERS_FEWER_THAN_CHUNKS',
      'STAGES_NEED_SCHEDULE',
    ]);
  });
  it('notes a given key without effect and takes its default', () => {
    const { layout, issues } = complete({ tensor: 8, sharding: 3, prefetch: 2 });
    expect(layout).toMatchObject({ data: 1, sharding: 0, prefetch: 1 });
    expect(issues.map(({ code, severity, path }) => [code, severity, path])).toEqual([
      ['LAYOUT_KEY_WITHOUT_EFFECT', 'note', 'layout.sharding'],
      ['LAYOUT_KEY_WITHOUT_EFFECT', 'note', 'layout.prefetch'],
    ]);
  });
});
