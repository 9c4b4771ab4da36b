import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { recomputesNone } from '../../layout/overrides.fixture.ts';
import { isSplit, mostInFlight, scheduleCodes, shapeOf, splitSchedules } from '../../schedules/index.ts';
import { compileProgram, microBatches } from '../index.ts';
import { bucketPieces, cases } from './cases.fixture.ts';
import { activationsByLaw, piecesByLaw, stateByLaw, statePerParameter } from './index.ts';
import { bytesIn, isStatistic, keptBy, livedLists, mostAlive, stateOf } from './lived.fixture.ts';
import { blocksByLaw } from './sizes.ts';

describe('state', () => {
  it('is the closed form per parameter, times the parameters of the rank, wherever sizes divide', () => {
    fc.assert(
      fc.property(cases('even'), ({ job, layout }) => {
        const states = livedLists(compileProgram(job, layout)).map(stateOf);
        const { weights, gradients, optimizer } = statePerParameter(job, layout);
        for (const [stage, state] of states.entries()) {
          expect(state).toEqual(stateByLaw(job, layout, stage));
          const parameters = piecesByLaw(job, layout, stage).reduce((sum, { summed, rest }) => sum + summed + rest, 0);
          const sum = state.weights + state.gradients + state.optimizer;
          expect(sum / parameters).toBeCloseTo(weights + gradients + optimizer, 9);
        }
      }),
      { numRuns: 60 },
    );
  }, 30_000);

  it('is that of padded buckets wherever they do not', () => {
    fc.assert(
      fc.property(cases('padded'), (each) => {
        const { job, layout } = each;
        const program = compileProgram(job, layout);
        const pieces = bucketPieces(program, each);
        for (const [stage, lived] of livedLists(program).entries()) {
          expect(stateOf(lived)).toEqual(stateByLaw(job, layout, stage, pieces(stage)));
          const count = (all: ReturnType<typeof pieces>) =>
            all.reduce((sum, { summed, rest }) => sum + summed + rest, 0);
          expect(count(pieces(stage))).toBe(count(piecesByLaw(job, layout, stage)));
        }
      }),
      { numRuns: 60 },
    );
  }, 30_000);
});

describe('activations', () => {
  it('that a layer keeps for its backward are the closed form, whatever the kind, kernels and recomputation', () => {
    fc.assert(
      fc.property(cases('padded'), fc.nat(), fc.nat(), ({ job, layout }, pick, turn) => {
        const stages = livedLists(compileProgram(job, layout));
        const lived = stages[pick % stages.length];
        const layers = (lived?.list.operations ?? []).flatMap(({ block }) => block ?? []);
        const blocks = [...new Set(layers)].filter((block) => block >= 0 && block < job.model.layers.length);
        const layer = blocks[turn % blocks.length] ?? 0;
        // Of two copies of the model each has its own micro-batches.
        const passed = (lived?.list.operations ?? []).filter(({ block }) => block === layer);
        const numbers = [...new Set(passed.flatMap(({ microBatch }) => microBatch ?? []))];
        const kept = lived ? keptBy(lived, layer, numbers[turn % numbers.length] ?? 0) : [];
        const law = activationsByLaw(job, layout, layer);
        expect(bytesIn(kept.filter((range) => !isStatistic(range)))).toBe(law.tensors);
        expect(bytesIn(kept.filter(isStatistic))).toBe(law.statistics);
      }),
      { numRuns: 150 },
    );
  }, 30_000);

  it('of a stage are in flight min(m, p - i) times under 1f1b, m times under gpipe, once under naive', () => {
    const flat = cases('padded').filter(
      ({ layout }) => layout.chunks === 1 && recomputesNone(layout) && !isSplit(layout.schedule),
    );
    fc.assert(
      fc.property(flat, ({ job, layout }) => {
        const m = microBatches(job, layout);
        const stages = livedLists(compileProgram(job, layout));
        for (const [stage, lived] of stages.entries()) {
          const layer = layout.layersPerStage.slice(0, stage).reduce((sum, count) => sum + count, 0);
          const counts = { gpipe: m, '1f1b': Math.min(m, layout.pipeline - stage) };
          const law = layout.schedule === 'gpipe' || layout.schedule === '1f1b' ? counts[layout.schedule] : 1;
          expect(mostAlive(lived, 'r', `[${layer},`)).toBe(law);
          // A received boundary may wait while another micro-batch computes: one at most, and only where there is more.
          const boundaries = mostAlive(lived, 'x', `x${layer}[`);
          expect(boundaries).toBeGreaterThanOrEqual(law);
          expect(boundaries).toBeLessThanOrEqual(stage === 0 ? law : Math.min(law + 1, m));
        }
      }),
      { numRuns: 60 },
    );
  }, 30_000);

  it('of a stage live to the end of their weight parts: as many as its list holds, never more than its schedule says', () => {
    const split = cases('padded').filter(({ layout }) => isSplit(layout.schedule) && recomputesNone(layout));
    fc.assert(
      fc.property(split, fc.nat(), ({ job, layout }, pick) => {
        const shape = shapeOf(layout, microBatches(job, layout));
        const stage = pick % layout.pipeline;
        const lived = livedLists(compileProgram(job, layout))[stage];
        const firsts = blocksByLaw(layout, job.model.layers.length, stage).flatMap((blocks) =>
          blocks.filter((block) => block >= 0).slice(0, 1),
        );
        const alive = lived ? mostAlive(lived, 'o', ...firsts.map((layer) => `[${layer},`)) : 0;
        expect(alive).toBe(mostInFlight(scheduleCodes(shape, stage)));
        if (!isSplit(layout.schedule)) return;
        expect(alive).toBeLessThanOrEqual(splitSchedules[layout.schedule].inFlight(shape, stage));
      }),
      { numRuns: 60 },
    );
  }, 30_000);

  it('of the first stage are p (1 + (p - 1) / (p v)) stages of layers under interleaved-1f1b', () => {
    const interleaved = cases('padded').filter(
      ({ layout }) => layout.schedule === 'interleaved-1f1b' && recomputesNone(layout),
    );
    fc.assert(
      fc.property(interleaved, ({ job, layout }) => {
        const { pipeline: p, chunks: v } = layout;
        const m = microBatches(job, layout);
        const [lived] = livedLists(compileProgram(job, layout));
        const firsts = Array.from({ length: v }, (_, chunk) =>
          layout.layersPerStage.slice(0, chunk * p).reduce((sum, count) => sum + count, 0),
        );
        const alive = lived ? mostAlive(lived, 'r', ...firsts.map((layer) => `[${layer},`)) : 0;
        expect(alive).toBe(Math.min(p * v + p - 1, m * v));
        expect((p * v + p - 1) / v).toBeCloseTo(p * (1 + (p - 1) / (p * v)), 9);
      }),
      { numRuns: 40 },
    );
  }, 30_000);
});
