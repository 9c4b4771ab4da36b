/** Legal layouts drawn from a seed until every strategy and every pair of strategies that can stand together is there. A new
 * axis is a line of `choices` and, for each of its kinds, a line of `strategies`. */
import { clusterFromRequest } from '@meshwright/core/cluster';
import type { Job } from '@meshwright/core/job';
import {
  checkLayout,
  completeLayout,
  equalCosts,
  formatLayout,
  gpusOf,
  type Layout,
  type LayoutRequest,
} from '@meshwright/core/layout';
import { mix } from '../numbers/hash.ts';
import { families } from './families.fixture.ts';
import { type ModelName, smallJob } from './layouts.fixture.ts';

/** A job with a layout that it may be run under. */
export interface DrawnLayout {
  readonly name: string;
  readonly job: Job;
  readonly layout: Layout;
  /** Caps and windows enlarge rounding, so families of models are compared in double precision. */
  readonly arithmetic: 'float32' | 'float64';
  readonly strategies: readonly string[];
}

const models: readonly ModelName[] = [
  'gpt2',
  'llama',
  'moe',
  'norms on queries and keys',
  'norms behind, scaled embedding',
  'side by side with one norm, biases',
  'capped scores and logits',
  'a window',
  'fused tensors',
];

/** What a layout may ask for, axis by axis: one of each is drawn. Values that stand twice are drawn twice as often. */
const choices: readonly (readonly LayoutRequest[])[] = [
  [{}, { tensor: 2 }, { tensor: 2, sequenceParallel: true }, { tensor: 4, sequenceParallel: true }, { tensor: 4 }],
  [{}, {}, { keepGathered: true }],
  [{}, { pipeline: 2 }, { pipeline: 4 }, { pipeline: 2, chunks: 2 }],
  [{}, { schedule: 'gpipe' }, { schedule: 'naive' }, { layersPerStage: [3, 1] }, { layersPerStage: [1, 2, 1, 0] }],
  [{}, { data: 2 }, { data: 4 }],
  [{}, { sharding: 0, bucketMB: 0.01 }, { sharding: 1 }, { sharding: 2 }, { sharding: 3 }],
  [{}, {}, { prefetch: 0 }, { reshard: false }, { gradientReduction: 'per-step' }],
  [{}, {}, { recompute: 'full' }],
  [{ microBatch: 1 }, { microBatch: 1 }, { microBatch: 2 }],
  [{}, {}, { order: ['pipeline', 'context', 'data', 'tensor'] }],
];

/** Every strategy that a layout may hold; pairs of them are counted. */
const strategies: Readonly<Record<string, (layout: Layout, job: Job) => boolean>> = {
  DDP: ({ data, sharding }) => data > 1 && sharding === 0,
  'ZeRO-1': ({ data, sharding }) => data > 1 && sharding === 1,
  'ZeRO-2': ({ data, sharding }) => data > 1 && sharding === 2,
  'ZeRO-3': ({ data, sharding }) => data > 1 && sharding === 3,
  tensor: ({ tensor, sequenceParallel }) => tensor > 1 && !sequenceParallel,
  sequence: ({ tensor, sequenceParallel }) => tensor > 1 && sequenceParallel,
  '1F1B': ({ schedule }) => schedule === '1f1b',
  GPipe: ({ schedule }) => schedule === 'gpipe',
  naive: ({ schedule }) => schedule === 'naive',
  interleaved: ({ schedule }) => schedule === 'interleaved-1f1b',
  uneven: ({ layersPerStage }) => new Set(layersPerStage).size > 1,
  recompute: ({ recompute }) => recompute === 'full',
  experts: (_, { model }) => model.layers.some(({ ffn }) => ffn.kind === 'moe'),
  tied: (_, { model }) => model.tied,
  'another order': ({ order }) => order[0] === 'pipeline',
};

const draw = (seed: number, what: number, below: number): number => mix(mix(seed, 0x1a40), what) % below;

/** Ranks that a small job is drawn for. */
const MOST_RANKS = 16;

function drawn(seed: number): DrawnLayout | undefined {
  const model = models[draw(seed, 100, models.length)]!;
  const asked = choices.reduce<LayoutRequest>(
    (sum, some, index) => ({ ...sum, ...some[draw(seed, index, some.length)] }),
    {},
  );
  const ranks = (asked.tensor ?? 1) * (asked.pipeline ?? 1) * (asked.data ?? 1);
  if (ranks < 2 || ranks > MOST_RANKS) return undefined;
  const optimizer = model === 'moe' || draw(seed, 101, 2) === 0 ? 'sgd' : 'adamw';
  const nodes = ranks > 8 ? 2 : 1;
  const { cluster } = clusterFromRequest({ preset: 'dgx-h100', nodes, gpusPerNode: ranks / nodes }, 'cluster');
  if (!cluster) return undefined;
  const job: Job = { ...smallJob(model, { optimizer }), cluster };
  const request = { tensor: 1, pipeline: 1, data: 1, sequenceParallel: false, gradientType: 'fp32', ...asked } as const;
  const { layout, issues } = completeLayout(request, job, equalCosts(job.model.layers.length));
  if ([...issues, ...checkLayout(job, layout)].some(({ severity }) => severity === 'error')) return undefined;
  if (gpusOf(job) !== ranks) return undefined;
  const held = Object.entries(strategies).flatMap(([name, holds]) => (holds(layout, job) ? [name] : []));
  const arithmetic = Object.hasOwn(families, model) ? 'float64' : 'float32';
  return { name: `${model}, ${optimizer}: ${formatLayout(layout)}`, job, layout, arithmetic, strategies: held };
}

const pairsOf = (names: readonly string[]): readonly string[] =>
  names.flatMap((one, place) => names.slice(place).map((other) => `${one} + ${other}`));

/** All different layouts of the first `seeds` seeds, those that bring new pairs of strategies first. */
export function drawLayouts(seeds: number): readonly DrawnLayout[] {
  const known = new Map<string, DrawnLayout>();
  for (let seed = 1; seed <= seeds; seed++) {
    const each = drawn(seed);
    if (each) known.set(each.name, known.get(each.name) ?? each);
  }
  const seen = new Set<string>();
  const first: DrawnLayout[] = [];
  const rest: DrawnLayout[] = [];
  for (const each of known.values()) {
    const fresh = pairsOf(each.strategies).filter((pair) => !seen.has(pair));
    (fresh.length > 0 ? first : rest).push(each);
    for (const pair of fresh) seen.add(pair);
  }
  return [...first, ...rest];
}

/** Pairs of strategies that stand together in at least one layout; a strategy with itself counts. */
export const pairsIn = (layouts: readonly DrawnLayout[]): ReadonlySet<string> =>
  new Set(layouts.flatMap((each) => pairsOf(each.strategies)));

/** Names of all strategies. */
export const strategyNames: readonly string[] = Object.keys(strategies);
