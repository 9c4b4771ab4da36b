import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Layout } from '../../layout/index.ts';
import { bytesSent, type Program } from '../../program/index.ts';
import { isSplit } from '../../schedules/index.ts';
import { compileProgram, microBatches } from '../index.ts';
import { bucketPieces, type Case, cases, faultsOf } from './cases.fixture.ts';
import { blocksByLaw, bytesByLaw, gathersByLaw, type StageBytes } from './index.ts';

type Ledger = Readonly<Record<string, number>>;

/** What the byte ledger counts in the operations of each stage, by axis and rule. */
const counted = (program: Program): readonly Ledger[] =>
  bytesSent(program).lists.map(({ exchanges }) => ledger(exchanges));

const stated = (stages: readonly StageBytes[]): readonly Ledger[] => stages.map(({ lines }) => ledger(lines));

function ledger(lines: readonly { readonly axis: string; readonly rule: string; readonly bytes: number }[]): Ledger {
  const sums: Record<string, number> = {};
  for (const { axis, rule, bytes } of lines) {
    if (bytes > 0) sums[`${axis} ${rule}`] = (sums[`${axis} ${rule}`] ?? 0) + bytes;
  }
  return sums;
}

const sumOf = (stages: readonly Ledger[], key: (name: string) => boolean): number =>
  stages
    .flatMap((stage) => Object.entries(stage).filter(([name]) => key(name)))
    .reduce((sum, [, each]) => sum + each, 0);

const compiled = ({ job, layout }: Case): Program => compileProgram(job, layout);

describe('bytes sent', () => {
  it('equal the closed forms by axis and rule wherever sizes divide', () => {
    fc.assert(
      fc.property(cases('even'), (each) => {
        expect(faultsOf(each)).toEqual([]);
        expect(counted(compiled(each))).toEqual(stated(bytesByLaw(each.job, each.layout)));
      }),
      { numRuns: 100 },
    );
  }, 30_000);

  it('equal them with the padding of each bucket wherever sizes do not divide', () => {
    fc.assert(
      fc.property(cases('padded'), (each) => {
        expect(faultsOf(each)).toEqual([]);
        const program = compiled(each);
        expect(counted(program)).toEqual(stated(bytesByLaw(each.job, each.layout, bucketPieces(program, each))));
      }),
      { numRuns: 100 },
    );
  }, 30_000);

  it('do not depend on the schedule, the buckets or the prefetch, but for the runs of sharding 3', () => {
    const flat = cases('even').filter(
      ({ layout }) => layout.pipeline > 1 && layout.chunks === 1 && layout.sharding < 3,
    );
    fc.assert(
      fc.property(flat, ({ job, layout }) => {
        const of = (changes: Partial<Layout>) => counted(compileProgram(job, { ...layout, ...changes }));
        const usual = of({ schedule: '1f1b', bucketMB: 0.000_1 });
        expect(of({ schedule: 'gpipe', bucketMB: 1 })).toEqual(usual);
        expect(of({ schedule: 'zero-bubble-h1', bucketMB: 1 })).toEqual(usual);
        expect(of({ schedule: 'zero-bubble-h2', bucketMB: 1 })).toEqual(usual);
      }),
      { numRuns: 30 },
    );
  });
});

describe('the data axis', () => {
  it('moves under ZeRO-1 and -2 what it moves under DDP when g = w and gradients are reduced once', () => {
    const many = cases('even').filter(({ layout }) => layout.data > 1);
    fc.assert(
      fc.property(many, ({ job, layout }) => {
        const same: Layout = {
          ...layout,
          replicate: 1,
          gradientType: 'bf16',
          gradientReduction: 'per-step',
          prefetch: 1,
        };
        const of = (sharding: Layout['sharding']) =>
          sumOf(counted(compileProgram({ ...job, precision: 'bf16' }, { ...same, sharding })), (name) =>
            /^data (reduce-gradient|gather-updated)$/.test(name),
          );
        expect([of(1), of(2)]).toEqual([of(0), of(0)]);
      }),
      { numRuns: 30 },
    );
  });

  it('gathers each unit 2 m times under ZeRO-3, less where one use follows another of the same unit', () => {
    const gathered = cases('padded').filter(
      ({ layout }) => layout.sharding === 3 && layout.chunks === 1 && layout.reshard && !isSplit(layout.schedule),
    );
    fc.assert(
      fc.property(gathered, fc.nat(), ({ job, layout }, pick) => {
        const stage = pick % layout.pipeline;
        const blocks = blocksByLaw(layout, job.model.layers.length, stage).flat();
        const gathers = gathersByLaw(job, layout, stage);
        expect(blocks.map(gathers)).toEqual(flatGathers(layout, microBatches(job, layout), stage, blocks.length));
      }),
    );
  });
});

/** Closed form for one chunk: with `ahead` forwards before the first backward, the last unit is shared at each turn from
 * forward to backward, the first at each turn back; a stage of one unit gathers it once.
 */
function flatGathers({ schedule, pipeline }: Layout, m: number, stage: number, units: number): readonly number[] {
  if (units === 1) return [1];
  const ahead = schedule === 'gpipe' ? m : schedule === '1f1b' ? Math.min(pipeline - stage - 1, m) : 0;
  const turns = Math.max(m - ahead, 1);
  return Array.from({ length: units }, (_, unit) => {
    if (unit === units - 1) return 2 * m - turns;
    return unit === 0 ? 2 * m - (turns - 1) : 2 * m;
  });
}
