import { describe, expect, it } from 'vitest';
import { createJob, type JobInput } from '../../job/index.ts';
import type { Layout } from '../../layout/index.ts';
import { compileProgram } from '../index.ts';
import { lineOf, toyJob, toyLayout } from '../toy.fixture.ts';

/** Lines of a stage from its last call on. */
function tailOf(changes: Partial<Layout>, stage = 0, input: Partial<JobInput> = {}): readonly string[] {
  const [list] = compileProgram(createJob({ ...toyJob(), ...input }), toyLayout(changes)).lists.slice(stage);
  const items = list?.items ?? [];
  const from = items.findLastIndex((item) => item.kind === 'call');
  return items.slice(from + 1).map((item) => lineOf(item).replace(/^\d+ /, ''));
}

const each: Partial<Layout> = { gradientReduction: 'per-micro-batch' };

describe('the tail', () => {
  it('sums the tied matrix over both ends before the data axis while gradients are whole', () => {
    const ends = (changes: Partial<Layout>) =>
      tailOf(changes).filter((line) => line.includes('.tied') && !/^compute/.test(line));
    expect(ends({ sharding: 0 })).toEqual([
      'ends all-reduce G.tied -> G.tied',
      'data.reduce all-reduce G.tied -> G.tied',
    ]);
    expect(ends({ sharding: 1 })).toEqual([
      'ends all-reduce G.tied -> G.tied',
      'data.reduce reduce-scatter G.tied -> S.tied',
    ]);
    expect(ends({ sharding: 1, data: 1 })).toEqual(['ends all-reduce G.tied -> G.tied']);
  });

  it('sums the shards where gradients are cut: over tensor bucket by bucket, over the ends the tied one', () => {
    const sums = tailOf({ sharding: 3, ...each }).filter((line) => /^(tensor|ends)/.test(line));
    expect(sums).toEqual([
      'ends all-reduce S.tied -> S.tied',
      'tensor all-reduce S.embed.summed -> S.embed.summed',
      'tensor all-reduce S.L0.summed -> S.L0.summed',
    ]);
  });

  it('sums squares axis by axis, over data only where data cuts parameters', () => {
    const axes = (changes: Partial<Layout>) =>
      tailOf(changes).filter((line) => line === 'control all-reduce q -> q').length;
    expect(axes({})).toBe(3);
    expect(axes({ sharding: 0 })).toBe(2);
    expect(axes({ tensor: 1, sequenceParallel: false })).toBe(2);
    expect(axes({ tensor: 1, sequenceParallel: false, pipeline: 1, layersPerStage: [2], schedule: 'none' })).toBe(1);
  });

  it('updates shards of weights under sharding 3, and its own part of whole ones under 1', () => {
    const update = (changes: Partial<Layout>) => tailOf(changes).find((line) => line.startsWith('compute adamw'));
    expect(update({ sharding: 3, ...each })).toContain('S.tied S.embed S.L0 k lr -> P.tied P.embed P.L0 O.tied.master');
    expect(update({})).toContain('S.tied S.b0 k lr -> W.tied W.b0 O.tied.master');
    expect(update({ sharding: 0 })).toContain('G.tied G.b0 k lr -> W.tied W.b0');
  });

  it('keeps no master beside fp32 weights, and one momentum under SGD', () => {
    const update = (input: Partial<JobInput>) =>
      tailOf({}, 0, input)
        .find((line) => /^compute (adamw|sgd)/.test(line))
        ?.replace(/.*-> /, '');
    expect(update({ precision: 'fp32' })).toBe('W.tied W.b0 O.tied.m O.tied.v O.b0.m O.b0.v');
    expect(update({ optimizer: 'sgd' })).toBe('W.tied W.b0 O.tied.master O.tied.momentum O.b0.master O.b0.momentum');
  });

  it('sums the loss over data on the stage that has it', () => {
    const loss = (changes: Partial<Layout>, stage: number) =>
      tailOf(changes, stage).filter((line) => line === 'control all-reduce loss -> loss').length;
    expect([loss({}, 0), loss({}, 1), loss({ data: 1 }, 1)]).toEqual([0, 1, 0]);
  });
});
