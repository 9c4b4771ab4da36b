import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { completeLayout, equalCosts, formatLayout, laterLayoutKeys, layoutKeys } from '../layout/index.ts';
import { layoutNames } from './layout-keys.ts';
import { layoutFromMapping, parseLayoutString } from './layout-request.ts';
import { readJob } from './read-job.ts';

const tell = (text: string) =>
  parseLayoutString(text).issues.map((each) => `${each.code} ${each.path} ${each.position?.column}`);

describe('the short text of a layout', () => {
  it('means what the mapping of long names means', () => {
    const text = parseLayoutString('tp=8,pp=4,dp=2,vpp=2,mbs=1,zero=1,ac=selective,schedule=interleaved-1f1b,sp=on');
    const mapping = layoutFromMapping(
      {
        tensor: 8,
        pipeline: 4,
        data: 2,
        chunks: 2,
        microBatch: 1,
        sharding: 1,
        recompute: 'selective',
        schedule: 'interleaved-1f1b',
        sequenceParallel: true,
      },
      'layout',
    );
    expect(text.issues).toEqual([]);
    expect(text.layout).toEqual(mapping.layout);
  });
  it('takes blanks, lists, orders and fractions', () => {
    expect(parseLayoutString(' tp = 2 , lps=3-3-2, order=tp-pp-dp, bucket=12.5 ').layout).toEqual({
      tensor: 2,
      layersPerStage: [3, 3, 2],
      order: ['tensor', 'pipeline', 'data', 'context', 'expert'],
      bucketMB: 12.5,
    });
  });
  it('takes rows of layers as text and as mappings', () => {
    const rows = [
      { from: 0, to: 9, recompute: 'full' },
      { from: 20, to: 20, recompute: 'none' },
    ];
    expect(parseLayoutString('layers=20:none+0-9:full').layout).toEqual({ layers: rows });
    expect(layoutFromMapping({ layers: rows }, 'layout').layout).toEqual({ layers: rows });
    expect(layoutFromMapping({ layers: [] }, 'layout').layout).toEqual({ layers: [] });
    expect(parseLayoutString('layers=none').layout).toEqual({ layers: [] });
  });
  it.each([
    [3, 'VALUE_WRONG_TYPE', '3 is not a list of rows.'],
    ['0-9', 'VALUE_WRONG_TYPE', '"0-9" is not a row of layers.'],
    ['0-9:fully', 'VALUE_UNKNOWN', '"fully" is not a known name.'],
    [[{ from: 0, to: 3 }], 'KEY_MISSING', 'a row of layers has no recompute.'],
    [[{ from: 0, to: -1, recompute: 'full' }], 'VALUE_OUT_OF_RANGE', '-1 is below 0.'],
    [[{ from: 0, to: 1, offload: 'optimizer' }], 'LAYOUT_KEY_NOT_YET', 'offload of single layers is not priced yet.'],
    [[{ from: 0, to: 1, tensor: 2 }], 'KEY_UNKNOWN', 'the tensor degree cannot change inside a stage.'],
    [[{ from: 0, to: 1, toString: 2 }], 'KEY_UNKNOWN', 'a row of layers does not take toString.'],
  ])('refuses %j as rows of layers with %s', (layers, code, message) => {
    expect(layoutFromMapping({ layers }, 'layout').issues).toMatchObject([{ code, path: 'layout.layers', message }]);
  });
  it('names the place of each issue', () => {
    expect(tell('tp=8, pq=4,,mbs=0,tp=3,sp=perhaps,zero')).toEqual([
      'SYNTAX layout 12',
      'SYNTAX layout 35',
      'KEY_UNKNOWN layout.pq 7',
      'VALUE_OUT_OF_RANGE layout.mbs 17',
      'KEY_TWICE layout.tp 19',
      'VALUE_WRONG_TYPE layout.sp 27',
    ]);
  });
  it('reads every name of the contract', () => {
    const known = [...layoutKeys, ...laterLayoutKeys]
      .flatMap(({ name, short, aliases }) => [name, short, ...aliases])
      // Files say `shard`, and the number of sets inside of `data` only.
      .filter((name) => name !== 'replicate');
    for (const name of known) expect(layoutNames).toContain(name);
  });
  it('accepts the defaults of keys that are not priced yet, and auto for any', () => {
    const text = 'unit=block,offload=none,losschunks=1,layers=auto,shard=auto';
    expect(parseLayoutString(`${text},tp=auto`)).toMatchObject({ issues: [], layout: {} });
  });
  it.each(['offload=weights', 'offload=activations'])('refuses %s by name', (text) => {
    expect(tell(text)).toEqual(['VALUE_NOT_YET layout.offload 9']);
  });
  it('reads state in host memory', () => {
    expect(parseLayoutString('offload=optimizer')).toMatchObject({ issues: [], layout: { offload: 'optimizer' } });
  });
  it.each(['unit=all', 'unit=linear'])('refuses %s by name', (text) => {
    expect(tell(text)).toEqual([`LAYOUT_KEY_NOT_YET layout.${text.split('=')[0]} 1`]);
  });
  it('reads what overlaps as text and as a list, in any order', () => {
    const overlap = ['data', 'pipeline'];
    expect(parseLayoutString('overlap=pipeline+data')).toMatchObject({ issues: [], layout: { overlap } });
    expect(layoutFromMapping({ overlap: ['pipeline', 'data'] }, 'layout').layout).toEqual({ overlap });
    expect(parseLayoutString('overlap=none').layout).toEqual({ overlap: [] });
    expect(parseLayoutString('overlap_comm=false').issues[0]?.hint).toBe('Use overlap.');
  });
  it.each([
    ['tensor', 'VALUE_NOT_YET', 'tensor is not priced yet.'],
    ['data+expert', 'VALUE_NOT_YET', 'expert is not priced yet.'],
    ['dta', 'VALUE_UNKNOWN', '"dta" is not a known name.'],
    [true, 'VALUE_WRONG_TYPE', 'true is not a list of names.'],
    [[1], 'VALUE_WRONG_TYPE', '1 is not a name.'],
  ])('refuses %j as what overlaps with %s', (overlap, code, message) => {
    expect(layoutFromMapping({ overlap }, 'layout').issues).toMatchObject([{ code, path: 'layout.overlap', message }]);
  });
  it('reads sets of shards by the ranks of one, or as shard and replicate', () => {
    expect(parseLayoutString('dp=8,shard=4')).toMatchObject({ issues: [], layout: { data: 8, shard: 4 } });
    const both = layoutFromMapping({ data: { shard: 4, replicate: 2 } }, 'layout');
    expect(both).toMatchObject({ issues: [], layout: { data: 8, replicate: 2 } });
    const twice = layoutFromMapping({ shard: 4, data: { shard: 4, replicate: 2 } }, 'layout');
    expect(twice.issues.map(({ code, path }) => `${code} ${path}`)).toEqual(['KEY_TWICE layout.data']);
  });
  it('takes what other programs call a key as a hint', () => {
    expect(parseLayoutString('--tensor-model-parallel-size=8').issues[0]?.hint).toBe('Use tp.');
    expect(parseLayoutString('gbs=8').issues[0]?.hint).toBe('Use batch.sequences of the job.');
  });
  it('reads zero as a level or by the names of its ends', () => {
    expect(
      ['zero=0', 'zero=ddp', 'zero=3', 'zero=fsdp'].map((text) => parseLayoutString(text).layout.sharding),
    ).toEqual([0, 0, 3, 3]);
  });
  it('never throws, whatever it is given', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        for (const each of parseLayoutString(text).issues) expect(each.position?.column).toBeGreaterThan(0);
      }),
    );
  });
  it('reads back what a layout prints', () => {
    const { job } = readJob('model: gpt2\ncluster: 1x dgx-h100\nbatch: {sequences: 64, length: 1024}\n', 'a.yaml');
    if (!job) throw new Error('no job');
    const costs = equalCosts(job.model.layers.length);
    for (const text of ['pp=4,mbs=2', 'zero=3', 'pp=2,vpp=3,schedule=interleaved-1f1b,ac=full', 'zero=1,bucket=50']) {
      const { layout, issues } = completeLayout(parseLayoutString(text).layout, job, costs);
      expect(issues).toEqual([]);
      const again = parseLayoutString(formatLayout(layout, { exact: true }));
      expect(again.issues).toEqual([]);
      expect(completeLayout(again.layout, job, costs).layout).toEqual(layout);
    }
  });
});
