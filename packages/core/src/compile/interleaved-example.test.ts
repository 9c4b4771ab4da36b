/** @file Section 7 of program-example.md: zero 3 with prefetch 1 under interleaved-1f1b, compiled. */
import { describe, expect, it } from 'vitest';
import { createJob } from '../job/index.ts';
import type { Layout } from '../layout/index.ts';
import { modelFromDimensions } from '../model/index.ts';
import { bytesSent } from '../program/index.ts';
import { scheduleList } from '../schedules/index.ts';
import { compileProgram, outlineOf, unitRuns, unitsOf } from './index.ts';
import { lineOf, toyJob, toyLayout } from './toy.fixture.ts';

const dimensions = { kind: 'gpt2', layers: 4, hidden: 8, heads: 2, ffn: 32, vocab: 16, positions: 4 } as const;
const { model } = modelFromDimensions(dimensions, 'model');
if (model === undefined) throw new Error('internal: the fixture is broken.');
const job = createJob({ ...toyJob(), model, batch: { sequences: 4, length: 4 } });
const layout: Layout = toyLayout({
  tensor: 1,
  sequenceParallel: false,
  chunks: 2,
  layersPerStage: [1, 1, 1, 1],
  schedule: 'interleaved-1f1b',
  sharding: 3,
  gradientReduction: 'per-micro-batch',
});
const program = compileProgram(job, layout);

const runsOf = (stage: number): string => {
  const outline = outlineOf(job, layout).stages[stage];
  if (outline === undefined) throw new Error('internal: no stage.');
  const shape = { schedule: layout.schedule, stages: 2, chunks: 2, microBatches: 2 };
  const { unitOf } = unitRuns(outline, scheduleList(shape, stage), unitsOf(outline, 4), true);
  return unitOf.flatMap((unit) => unit?.name ?? []).join(' ');
};

const parametersOf = (stage: number): number =>
  (program.lists[stage]?.buckets ?? []).reduce((sum, { elements }) => sum + elements, 0);

describe('zero 3 under interleaved-1f1b', () => {
  it('has the runs of section 7', () => {
    expect(runsOf(0)).toBe('E L0 E L0 L2 L0 E L0 E');
    expect(runsOf(1)).toBe('L1 L3 H L3 H L3 L1');
  });

  it('gathers 5,000 and 4,648 bytes, reduces 7,616 and 7,552, sends 384 each and 256 for the tied shard', () => {
    const bytes = bytesSent(program).lists.map(({ byRule }) => [
      byRule['gather-unit']?.bytes,
      byRule['reduce-gradient']?.bytes,
      (byRule['next-stage']?.bytes ?? 0) + (byRule['previous-stage']?.bytes ?? 0),
      byRule['sum-tied']?.bytes,
    ]);
    expect(bytes).toEqual([
      [5000, 7616, 384, 256],
      [4648, 7552, 384, 256],
    ]);
  });

  it('would gather 2 m (N - 1) / N Psi w if each use were a run: 7,616 and 7,552', () => {
    const half = 1 / 2;
    expect([0, 1].map((stage) => 2 * 2 * half * parametersOf(stage) * 2)).toEqual([7616, 7552]);
  });

  it('opens with the gathers of two runs, each next one behind the run before the last', () => {
    const lines = program.lists[0]?.items.slice(0, 12).map(lineOf);
    expect(lines).toEqual([
      '1 data.gather all-gather P.tied -> W.tied@1',
      '2 data.gather all-gather P.embed -> W.embed@1',
      '3 data.gather all-gather P.L0 -> W.L0@2',
      '4 F.embed[-1,0]',
      '5 data.gather all-gather P.tied -> W.tied@3 needs 4',
      '6 data.gather all-gather P.embed -> W.embed@3 needs 4',
      '7 F.layer[0,0]',
      '8 data.gather all-gather P.L0 -> W.L0@4 needs 7',
      '9 act.out send x1[0] ->',
      '10 act.in recv -> x2[0] needs 7',
      '11 F.embed[-1,1]',
      '12 data.gather all-gather P.L2 -> W.L2@5 needs 11',
    ]);
  });
});
