import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  degreesOf,
  type ExpandedList,
  expandList,
  type Lifetimes,
  type LiveRange,
  lifetimesOf,
  type Program,
} from '../../program/index.ts';
import { compileProgram, microBatches } from '../index.ts';
import { bucketPieces, cases } from './cases.fixture.ts';
import { activationsByLaw, piecesByLaw, type StateBytes, stateByLaw, statePerParameter } from './index.ts';

interface Lived {
  readonly list: ExpandedList;
  readonly lifetimes: Lifetimes;
}

const livedLists = (program: Program): readonly Lived[] =>
  program.lists.map((each) => {
    const list = expandList(program, each);
    return { list, lifetimes: lifetimesOf(list, degreesOf(program)) };
  });

/** Resident bytes of buckets; scalars are resident too and belong to no bucket. */
function stateOf({ lifetimes }: Lived): StateBytes {
  const bytes = (role: string): number =>
    lifetimes.residents
      .filter(({ instance: { declaration } }) => declaration.role === role && declaration.bucket !== undefined)
      .reduce((sum, each) => sum + each.bytes, 0);
  return { weights: bytes('weight'), gradients: bytes('gradient'), optimizer: bytes('optimizer') };
}

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

/** What is still needed of one layer and micro-batch when its forward has ended. */
function keptBy({ list, lifetimes }: Lived, layer: number, microBatch: number): readonly LiveRange[] {
  const end = list.operations.findLastIndex(
    (each) => each.block === layer && each.microBatch === microBatch && !each.again && isForward(list, each.item),
  );
  const names = new RegExp(`(\\[${layer},${microBatch}\\]|^x${layer}\\[${microBatch}\\])$`);
  return lifetimes.ranges.filter(
    ({ instance, first, last }) => first <= end && last > end && names.test(instance.name),
  );
}

function isForward({ list }: ExpandedList, line: number): boolean {
  const item = list.items[line - 1];
  return item?.kind === 'call' && item.template.startsWith('F.');
}

/** Elements of a kind that the laws count, or statistics: fp32 beside values of another type, and integers. */
function isStatistic({ instance: { name, declaration } }: LiveRange): boolean {
  return /^(st\d|lse|rw|ri)\b/.test(name) || declaration.dtype === 'int32';
}

const bytesIn = (ranges: readonly LiveRange[]): number => ranges.reduce((sum, { bytes }) => sum + bytes, 0);

describe('activations', () => {
  it('that a layer keeps for its backward are the closed form, whatever the kind, kernels and recomputation', () => {
    fc.assert(
      fc.property(cases('padded'), fc.nat(), fc.nat(), ({ job, layout }, pick, turn) => {
        const stages = livedLists(compileProgram(job, layout));
        const lived = stages[pick % stages.length];
        const layers = (lived?.list.operations ?? []).flatMap(({ block }) => block ?? []);
        const blocks = [...new Set(layers)].filter((block) => block >= 0 && block < job.model.layers.length);
        const layer = blocks[turn % blocks.length] ?? 0;
        const kept = lived ? keptBy(lived, layer, turn % microBatches(job, layout)) : [];
        const law = activationsByLaw(job, layout);
        expect(bytesIn(kept.filter((range) => !isStatistic(range)))).toBe(law.tensors);
        expect(bytesIn(kept.filter(isStatistic))).toBe(law.statistics);
      }),
      { numRuns: 150 },
    );
  }, 30_000);

  it('of a stage are in flight min(m, p - i) times under 1f1b, m times under gpipe, once under naive', () => {
    const flat = cases('padded').filter(({ layout }) => layout.chunks === 1 && layout.recompute !== 'full');
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

  it('of the first stage are p (1 + (p - 1) / (p v)) stages of layers under interleaved-1f1b', () => {
    const interleaved = cases('padded').filter(({ layout }) => layout.chunks > 1 && layout.recompute !== 'full');
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

/** The largest number of instances of one declaration, named like one of `names`, that are alive together. */
function mostAlive({ lifetimes }: Lived, declared: string, ...names: readonly string[]): number {
  const changes = new Int32Array(lifetimes.live.length + 1);
  for (const { instance, first, last } of lifetimes.ranges) {
    if (instance.declaration.name !== declared || !names.some((name) => instance.name.includes(name))) continue;
    changes[first] = (changes[first] ?? 0) + 1;
    changes[last + 1] = (changes[last + 1] ?? 0) - 1;
  }
  let alive = 0;
  return changes.reduce((most, change) => {
    alive += change;
    return Math.max(most, alive);
  }, 0);
}
