import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Layout } from '../../layout/index.ts';
import { scheduleList, shapeOf } from '../../schedules/index.ts';
import { microBatches, outlineOf } from '../index.ts';
import { cases } from '../laws/cases.fixture.ts';
import { gathersByLaw } from '../laws/index.ts';
import { toyJob, toyLayout } from '../toy.fixture.ts';
import { blocksOfInvocation, unitRuns, unitsOf, usesUnits } from './runs.ts';

const sharded: Partial<Layout> = { sharding: 3, gradientReduction: 'per-micro-batch' };

function stageOf(changes: Partial<Layout>, stage: number) {
  const layout = toyLayout({ ...sharded, ...changes });
  const outline = outlineOf(toyJob(), layout);
  const [own] = outline.stages.slice(stage);
  if (own === undefined) throw new Error('internal: no such stage.');
  const shape = {
    schedule: layout.schedule,
    stages: layout.pipeline,
    chunks: layout.chunks,
    microBatches: outline.microBatches,
  };
  return { own, units: unitsOf(own, outline.layers), invocations: scheduleList(shape, stage) };
}

const namesOf = (changes: Partial<Layout>, stage: number): string => {
  const { own, units, invocations } = stageOf(changes, stage);
  const { unitOf } = unitRuns(own, invocations, units, changes.reshard ?? true);
  return unitOf.flatMap((unit) => unit?.name ?? []).join(' ');
};

describe('units', () => {
  it('are one for each block; the embedding and the head read the tied matrix too', () => {
    const buckets = (stage: number) =>
      [...stageOf({}, stage).units.values()].map((unit) => [unit.name, ...unit.buckets]);
    expect(buckets(0)).toEqual([
      ['E', 'tied', 'embed'],
      ['L0', 'L0'],
    ]);
    expect(buckets(1)).toEqual([
      ['L1', 'L1'],
      ['H', 'tied', 'head'],
    ]);
  });
});

describe('runs', () => {
  it('are rows of equal neighbours: at a turn from forward to backward, and back', () => {
    expect(namesOf({}, 0)).toBe('E L0 E L0 E L0 E');
    expect(namesOf({}, 1)).toBe('L1 H L1 H L1');
    const alone: Partial<Layout> = { pipeline: 1, layersPerStage: [2], schedule: 'none' };
    expect(namesOf(alone, 0)).toBe('E L0 L1 H L1 L0 E L0 L1 H L1 L0 E');
  });

  it('repeat for each micro-batch under gpipe', () => {
    expect(namesOf({ schedule: 'gpipe' }, 0)).toBe('E L0 E L0 E L0 E');
    expect(namesOf({ schedule: 'gpipe' }, 1)).toBe('L1 H L1 H L1 H L1');
  });

  it('are one for each unit where weights are kept', () => {
    expect(namesOf({ reshard: false }, 0)).toBe('E L0');
    expect(namesOf({ reshard: false, schedule: 'gpipe' }, 1)).toBe('L1 H');
  });

  it('cover all uses in order, and are as many for each unit as the law says', () => {
    fc.assert(
      fc.property(
        cases('padded').filter(({ layout }) => layout.sharding === 3),
        fc.nat(),
        ({ job, layout }, pick) => {
          const outline = outlineOf(job, layout);
          const [stage] = outline.stages.slice(pick % layout.pipeline);
          if (stage === undefined) return;
          const invocations = scheduleList(shapeOf(layout, microBatches(job, layout)), stage.stage);
          const units = unitsOf(stage, outline.layers);
          const { unitOf, runOfUse } = unitRuns(stage, invocations, units, layout.reshard);
          const uses = invocations
            .filter(usesUnits)
            .flatMap((each) => blocksOfInvocation(stage, each))
            .map((block) => units.get(block));
          expect(runOfUse.map((run) => unitOf[run])).toEqual(uses);
          const gathers = gathersByLaw(job, layout, stage.stage);
          for (const [block, unit] of units) {
            expect(unitOf.filter((each) => each?.name === unit.name)).toHaveLength(gathers(block));
          }
        },
      ),
    );
  });
});
