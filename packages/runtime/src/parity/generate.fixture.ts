/** Legal layouts drawn from a seed, ordered so that those that bring new pairs of strategies come first. */
import { clusterFromRequest } from '@meshwright/core/cluster';
import { InputError } from '@meshwright/core/errors';
import type { Job } from '@meshwright/core/job';
import {
  checkLayout,
  completeLayout,
  equalCosts,
  formatLayout,
  type Layout,
  type LayoutRequest,
} from '@meshwright/core/layout';
import { mix } from '../numbers/hash.ts';
import { families } from './families.fixture.ts';
import { smallJob } from './layouts.fixture.ts';
import { type Asked, apart, choices, strategyGroups } from './strategies.fixture.ts';

/** A job with a layout that it may be run under. */
export interface DrawnLayout {
  readonly name: string;
  /** Of the job: layouts of the same words have the same reference. */
  readonly about: string;
  readonly job: Job;
  readonly layout: Layout;
  /** Caps and windows enlarge rounding, so families of models are compared in double precision. */
  readonly arithmetic: 'float32' | 'float64';
  readonly strategies: readonly string[];
}

const strategies = Object.values(strategyGroups).flatMap((group) => Object.entries(group));

/** Names of all strategies. */
const strategyNames: readonly string[] = strategies.map(([name]) => name);

const draw = (seed: number, what: number, below: number): number => mix(mix(seed, 0x1a40), what) % below;

/** Ranks that a small job is drawn for. */
const MOST_RANKS = 16;

const base: LayoutRequest = { tensor: 1, pipeline: 1, data: 1, sequenceParallel: false, gradientType: 'fp32' };

/** One of each choice, put together. */
function ask(seed: number): Asked {
  return Object.values(choices).reduce<Asked>((sum, some, index) => {
    const one = some[draw(seed, index, some.length)] ?? {};
    return { ...sum, ...one, layout: { ...sum.layout, ...one.layout } };
  }, {});
}

/** A small job on so many ranks; undefined where the model has no such kernels. */
function jobOf(ranks: number, ...asked: Parameters<typeof smallJob>): Job | undefined {
  const nodes = ranks > 8 ? 2 : 1;
  const { cluster } = clusterFromRequest({ preset: 'dgx-h100', nodes, gpusPerNode: ranks / nodes }, 'cluster');
  try {
    return cluster && { ...smallJob(...asked), cluster };
  } catch (cause) {
    if (cause instanceof InputError) return undefined;
    throw cause;
  }
}

function drawn(seed: number, jobs: Map<string, Job | undefined>): DrawnLayout | undefined {
  const { model = 'gpt2', length = 8, kernels, layout: asked = {} } = ask(seed);
  const request = { ...base, ...asked };
  const { tensor = 1, pipeline = 1, data = 1, context = 1 } = request;
  const ranks = tensor * pipeline * data * context;
  if (ranks < 2 || ranks > MOST_RANKS) return undefined;
  // Adam turns the rounding of gradients near zero into steps; where experts are few, some of theirs are.
  const optimizer = model.includes('expert') || model === 'moe' || draw(seed, 101, 2) === 0 ? 'sgd' : 'adamw';
  const about = `${model}, ${length} tokens, ${optimizer}${kernelWords(kernels)}`;
  const key = `${about}, ${ranks} ranks`;
  if (!jobs.has(key)) jobs.set(key, jobOf(ranks, model, { optimizer, ...(kernels && { kernels }) }, length));
  const job = jobs.get(key);
  if (!job) return undefined;
  const { layout, issues } = completeLayout(request, job, equalCosts(job.model.layers.length));
  if (issues.some(({ severity }) => severity === 'error')) return undefined;
  if (checkLayout(job, layout).some(({ severity }) => severity === 'error')) return undefined;
  const held = strategies.flatMap(([name, holds]) => (holds(layout, job) ? [name] : []));
  const arithmetic = Object.hasOwn(families, model) ? 'float64' : 'float32';
  return { name: `${about}: ${formatLayout(layout)}`, about, job, layout, arithmetic, strategies: held };
}

const kernelWords = (kernels: Asked['kernels']): string => {
  if (!kernels) return '';
  return `${kernels.attention === 'unfused' ? ', unfused' : ''}${kernels.dropout > 0 ? ', dropout' : ''}`;
};

const pairOf = (one: string, other: string): string => [one, other].sort().join(' + ');

const pairsOf = (names: readonly string[]): readonly string[] =>
  names.flatMap((one, place) => names.slice(place).map((other) => pairOf(one, other)));

/** All different layouts of the first `seeds` seeds, those that bring most new pairs of strategies first. */
export function drawLayouts(seeds: number): readonly DrawnLayout[] {
  const known = new Map<string, DrawnLayout>();
  const jobs = new Map<string, Job | undefined>();
  for (let seed = 1; seed <= seeds; seed++) {
    const each = drawn(seed, jobs);
    if (each && !known.has(each.name)) known.set(each.name, each);
  }
  return broadestFirst([...known.values()]);
}

/** Takes, again and again, the layout whose pairs that no earlier one has are the rarest; the rest as drawn. */
function broadestFirst(layouts: readonly DrawnLayout[]): readonly DrawnLayout[] {
  const left = new Map(layouts.map((each) => [each, pairsOf(each.strategies)]));
  const holders = new Map<string, number>();
  for (const pair of [...left.values()].flat()) holders.set(pair, (holders.get(pair) ?? 0) + 1);
  const worth = new Map([...holders].map(([pair, count]) => [pair, 1 / count]));
  const first: DrawnLayout[] = [];
  for (;;) {
    let best: DrawnLayout | undefined;
    let most = 0;
    for (const [each, pairs] of left) {
      const sum = pairs.reduce((total, pair) => total + (worth.get(pair) ?? 0), 0);
      if (sum === 0) left.delete(each);
      else if (sum > most) [best, most] = [each, sum];
    }
    if (best === undefined) break;
    for (const pair of left.get(best) ?? []) worth.set(pair, 0);
    left.delete(best);
    first.push(best);
  }
  const taken = new Set(first);
  return [...first, ...layouts.filter((each) => !taken.has(each))];
}

/** Pairs of strategies that stand together in at least one layout; a strategy with itself counts. */
export const pairsIn = (layouts: readonly DrawnLayout[]): ReadonlySet<string> =>
  new Set(layouts.flatMap((each) => pairsOf(each.strategies)));

/** All pairs that may stand together: of different groups, and not named apart. */
export function legalPairs(): ReadonlySet<string> {
  const refused = new Set(apart.flatMap(({ one, others }) => others.map((other) => pairOf(one, other))));
  const groups = Object.values(strategyGroups).map((group) => Object.keys(group));
  const pairs = groups.flatMap((group, place) => [
    ...group.map((one) => pairOf(one, one)),
    ...groups.slice(place + 1).flatMap((others) => group.flatMap((one) => others.map((other) => pairOf(one, other)))),
  ]);
  return new Set(pairs.filter((pair) => !refused.has(pair)));
}

/** How many layouts hold each pair, as a table of lines; `-` where a pair cannot stand together. */
export function pairTable(layouts: readonly DrawnLayout[]): string {
  const counts = new Map<string, number>();
  for (const { strategies } of layouts) {
    for (const pair of pairsOf(strategies)) counts.set(pair, (counts.get(pair) ?? 0) + 1);
  }
  const legal = legalPairs();
  const width = Math.max(...strategyNames.map(({ length }) => length));
  const head = `${' '.repeat(width)} ${strategyNames.map((_, place) => String(place + 1).padStart(3)).join(' ')}`;
  const rows = strategyNames.map((one, row) => {
    const cells = strategyNames.slice(0, row + 1).map((other) => {
      const pair = pairOf(one, other);
      return (legal.has(pair) ? String(counts.get(pair) ?? 0) : '-').padStart(3);
    });
    return `${one.padEnd(width)} ${cells.join(' ')}  ${row + 1}`;
  });
  return [head, ...rows].join('\n');
}
