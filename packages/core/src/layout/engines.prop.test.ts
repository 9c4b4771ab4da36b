import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { accepts, type EngineName, engineNames, type Launch } from './engines.fixture.ts';
import { frameworkChecker } from './rules/framework.ts';
import { sampleJob } from './sample.fixture.ts';
import type { Layout, ScheduleName } from './types.ts';

const power = (most: number) => fc.integer({ min: 0, max: most }).map((exponent) => 2 ** exponent);
/** Mostly what fits, now and then what does not. */
const mostly = <T>(usual: fc.Arbitrary<T>, odd: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 9, arbitrary: usual }, { weight: 1, arbitrary: odd });

interface Sizes {
  readonly nodes: number;
  readonly L: number;
  readonly heads: number;
  readonly kv: number;
  readonly hidden: number;
  readonly experts: number | undefined;
  readonly sequences: number;
  readonly s: number;
}

const sizes: fc.Arbitrary<Sizes> = fc.record({
  nodes: fc.constantFrom(1, 2, 4),
  L: mostly(fc.constantFrom(8, 16, 24, 32), fc.integer({ min: 1, max: 40 })),
  heads: mostly(fc.constantFrom(16, 32, 64), fc.integer({ min: 1, max: 48 })),
  kv: mostly(fc.constantFrom(4, 8, 16), fc.integer({ min: 1, max: 12 })),
  hidden: fc.constantFrom(4096, 6144),
  experts: mostly(fc.constantFrom<number | undefined>(undefined, 8, 16), fc.integer({ min: 1, max: 20 })),
  sequences: mostly(fc.constantFrom(64, 128, 192), fc.integer({ min: 1, max: 200 })),
  s: mostly(fc.constantFrom(2048, 4096), fc.integer({ min: 100, max: 5000 })),
});

/** A layout for the sizes; degrees mostly multiply to the GPUs. */
const layoutFor = ({ nodes, L, experts }: Sizes): fc.Arbitrary<Layout> =>
  fc
    .record({
      tensor: mostly(power(3), fc.constantFrom(3, 5, 6)),
      pipeline: mostly(fc.constantFrom(1, 1, 2, 4), fc.constantFrom(3, 5)),
      context: mostly(fc.constantFrom(1, 1, 1, 2), fc.constantFrom(3, 4)),
      expert: experts === undefined ? mostly(fc.constant(1), fc.constant(2)) : mostly(power(2), fc.constantFrom(3, 6)),
      cutsExperts: fc.boolean(),
      spare: mostly(fc.constant(1), fc.constantFrom(2, 3)),
      sharding: fc.constantFrom<Layout['sharding']>(0, 1, 1, 2, 3),
      chunks: mostly(fc.constantFrom(1, 1, 2), fc.constantFrom(3, 4)),
      schedule: fc.constantFrom<ScheduleName>('1f1b', '1f1b', 'gpipe', 'interleaved-1f1b', 'none'),
      follows: mostly(fc.constant(true), fc.constant(false)),
      sequenceParallel: fc.boolean(),
      gradientType: mostly(fc.constant<Layout['gradientType']>('fp32'), fc.constant<Layout['gradientType']>('bf16')),
      microBatch: mostly(power(2), fc.constantFrom(3, 5)),
      last: mostly(fc.constant(true), fc.constant(false)),
      uneven: mostly(fc.constant(false), fc.constant(true)),
    })
    .map((draw) => {
      const { tensor, pipeline, context, chunks } = draw;
      const usual = pipeline === 1 ? 'none' : chunks > 1 ? 'interleaved-1f1b' : '1f1b';
      const whole = Math.max(1, Math.floor((8 * nodes) / (tensor * pipeline * context)));
      const even = new Array<number>(pipeline * chunks).fill(L / (pipeline * chunks));
      return {
        tensor,
        pipeline,
        context,
        contextKind: 'ring',
        data: whole * draw.spare,
        expert: draw.expert,
        expertTensor: draw.cutsExperts ? tensor : 1,
        sharding: draw.sharding,
        prefetch: 1,
        reshard: true,
        overlap: ['data', 'parameters', 'pipeline'],
        replicate: 1,
        layers: [],
        offload: 'none' as const,
        lossChunks: 1,
        bucketMB: 25,
        gradientType: draw.gradientType,
        gradientReduction: 'per-step',
        microBatch: draw.microBatch,
        chunks,
        layersPerStage: draw.uneven && pipeline * chunks > 1 ? even.map((each, at) => each + (at === 0 ? 1 : 0)) : even,
        schedule: draw.follows ? usual : draw.schedule,
        recompute: 'none',
        sequenceParallel: draw.sequenceParallel && (tensor > 1 || draw.spare > 1),
        keepGathered: false,
        order: draw.last
          ? ['tensor', 'context', 'expert', 'data', 'pipeline']
          : ['tensor', 'context', 'expert', 'pipeline', 'data'],
      };
    });

const launchOf = (size: Sizes, layout: Layout): Launch => ({
  world: 8 * size.nodes,
  L: size.L,
  heads: size.heads,
  kv: size.kv,
  hidden: size.hidden,
  kvChannels: true,
  E: size.experts ?? 0,
  tp: layout.tensor,
  pp: layout.pipeline,
  cp: layout.context,
  ep: layout.expert,
  etp: layout.expertTensor,
  dp: layout.data,
  zero: layout.sharding,
  vpp: layout.chunks,
  schedule: layout.schedule,
  uneven: layout.layersPerStage.some((each) => each !== layout.layersPerStage[0]),
  sp: layout.sequenceParallel,
  reduceFp32: layout.gradientType === 'fp32',
  tpPpDp: layout.order.indexOf('pipeline') < layout.order.indexOf('data'),
  gbs: size.sequences,
  mbs: layout.microBatch,
  s: size.s,
});

const verdictOf = (framework: EngineName, size: Sizes, layout: Layout): readonly string[] => {
  const { nodes, L: layers, heads, kv: kvHeads, hidden, experts, sequences, s: length } = size;
  const job = sampleJob({ nodes, layers, heads, kvHeads, hidden, sequences, length, ...(experts && { experts }) });
  return frameworkChecker({ ...job, framework })(layout).map(({ code }) => code);
};

describe.each(engineNames)('%s', (framework) => {
  it('refuses what its own arithmetic refuses, and nothing else, in 500 random layouts', () => {
    let legal = 0;
    fc.assert(
      fc.property(
        sizes.chain((size) => layoutFor(size).map((layout) => ({ size, layout }))),
        ({ size, layout }) => {
          const fine = accepts(framework, launchOf(size, layout));
          legal += fine ? 1 : 0;
          expect({ fine, codes: verdictOf(framework, size, layout).slice(0, 1) }).toEqual({
            fine,
            codes: fine ? [] : [expect.any(String)],
          });
        },
      ),
      { numRuns: 500 },
    );
    // Both sides of the verdict are really drawn.
    expect(legal).toBeGreaterThan(25);
    expect(legal).toBeLessThan(475);
  });
});
