import { createMesh } from '@meshwright/core/mesh';
import { describe, expect, it } from 'vitest';
import { lessonText, sceneOf, workedText } from '../gallery/scene.fixture.ts';
import { chooseRanks } from './choose-ranks.ts';
import { type StepFacts, stepFacts } from './facts.ts';

const factsOf = (text: string, layout: string): StepFacts => {
  const { program, cluster } = sceneOf(text, layout);
  return stepFacts(program, cluster);
};

/** The share of the map of the model that is filled. */
const filled = (facts: StepFacts, rank: number, role: string): number => {
  const areas = facts.gpus[rank]?.shelves.find((shelf) => shelf.role === role)?.areas ?? [];
  return areas.reduce((sum, { x, y }) => sum + (x[1] - x[0]) * (y[1] - y[0]), 0);
};

describe('what GPUs hold', () => {
  it('fills the whole map with plain data parallelism, an eighth of it with sharded optimizer', () => {
    const plain = factsOf(lessonText, 'dp=8,zero=0');
    const sharded = factsOf(lessonText, 'dp=8,zero=1');
    for (const rank of [0, 7]) {
      for (const role of ['weights', 'gradients', 'optimizer']) expect(filled(plain, rank, role)).toBeCloseTo(1, 9);
      expect(filled(sharded, rank, 'weights')).toBeCloseTo(1, 9);
      expect(filled(sharded, rank, 'optimizer')).toBeCloseTo(1 / 8, 9);
    }
  });

  it('fills the map exactly once over all ranks of tensor and pipeline', () => {
    for (const layout of ['tp=8', 'pp=8', 'tp=2,pp=4']) {
      const facts = factsOf(lessonText, layout);
      const sum = facts.gpus.reduce((all, _, rank) => all + filled(facts, rank, 'weights'), 0);
      expect(sum).toBeCloseTo(1, 9);
    }
  });

  it('shows more micro-batches in flight on earlier stages', () => {
    const facts = factsOf(lessonText, 'pp=8');
    const rows = facts.gpus.map(({ shelves }) => new Set(shelves[3]?.areas.map(({ y }) => y[0])).size);
    expect(rows[0]).toBe(8);
    expect(rows.slice(0, -1).every((each, stage) => each >= (rows[stage + 1] ?? 0))).toBe(true);
  });

  it('has the bytes of the worked example', () => {
    const [first] = factsOf(workedText, 'tp=2,dp=2,pp=2,zero=1,grad=fp32').gpus;
    expect(first?.shelves.slice(0, 3).map(({ bytes }) => bytes)).toEqual([556 * 2, 556 * 4, 556 * 6]);
  });
});

describe('what a step moves', () => {
  it('has the bytes of the worked example, axis by axis', () => {
    const facts = factsOf(workedText, 'tp=2,dp=2,pp=2,zero=1,grad=fp32');
    expect(facts.axes.map(({ name, bytes }) => [name, bytes])).toEqual([
      ['tensor', [1092, 1124]],
      ['data', [1672, 1628]],
      ['pipeline', [68, 68]],
      ['ends', [256, 256]],
    ]);
    expect(facts.sent.totalBytes).toBe(24_656);
  });

  it('says which groups cross the slower link', () => {
    const crossing = (layout: string) =>
      factsOf(lessonText, layout).axes.map(({ name, crossing: count, groups }) => [name, count, groups]);
    expect(crossing('tp=8')).toEqual([['tensor', 1, 1]]);
    expect(crossing('tp=4,pp=2')).toEqual([
      ['tensor', 0, 2],
      ['pipeline', 4, 4],
    ]);
    expect(crossing('tp=2,dp=2,pp=2')).toEqual([
      ['tensor', 0, 4],
      ['data', 0, 4],
      ['pipeline', 4, 4],
    ]);
  });
});

describe('which ranks stand for all', () => {
  it('takes all of eight, and two of each axis of many', () => {
    expect(chooseRanks(createMesh({ tensor: 2, data: 2, pipeline: 2 }))).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    expect(chooseRanks(createMesh({ tensor: 8, data: 2, pipeline: 4 }))).toEqual([0, 7, 8, 15, 48, 55, 56, 63]);
  });

  it('takes neighbours and the far end of one long axis', () => {
    expect(chooseRanks(createMesh({ data: 64 }))).toEqual([0, 1, 2, 3, 60, 61, 62, 63]);
  });
});
