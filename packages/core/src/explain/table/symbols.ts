/** @file The side of the table that no job changes much: what each strategy does, in words and in the letters of the laws
 * (architecture.md, section 5). Only coefficients (types, recomputation, reductions) come from the job.
 */
import type { Layout, LayoutRequest, Sharding } from '../../layout/index.ts';
import type { WhyRule } from '../../program/index.ts';
import { type Facts, stateLaw } from '../facts.ts';
import type { StrategyName } from '../types.ts';

/** The degrees at which the strategies that split the model are shown. */
export interface Degrees {
  readonly tensor: number;
  readonly pipeline: number;
}

/** A row before a job fills it in. */
export interface Strategy {
  readonly strategy: StrategyName;
  readonly axis: 'data' | 'tensor' | 'pipeline';
  /** Exchanges that the strategy itself causes. */
  readonly rules: readonly WhyRule[];
  readonly splits: string;
  readonly collective: string;
  readonly when: string;
  readonly blocking: string;
  readonly batch: string;
  readonly link: string;
  request(degrees: Degrees): LayoutRequest;
  state(facts: Facts): string;
  bytes(facts: Facts, layout: Layout): string;
}

const dataRules: readonly WhyRule[] = ['reduce-gradient', 'gather-updated', 'gather-unit'];
const tensorRules: readonly WhyRule[] = [
  'sum-partial',
  'gather-sequence',
  'scatter-partial',
  'gather-again',
  'vocabulary-parallel',
  'sum-whole-parameters',
];

const overData = { axis: 'data', rules: dataRules, batch: 'N m b' } as const;
const dataLink = 'any';

const data = (sharding: Sharding) => ({
  ...overData,
  request: (): LayoutRequest => ({ tensor: 1, pipeline: 1, context: 1, sharding }),
  state: (facts: Facts): string => stateLaw(facts, sharding, 1).symbols,
});

const dp: Strategy = {
  ...data(0),
  strategy: 'DP',
  splits: 'the batch',
  collective: 'all-reduce',
  when: 'gradients, last backward',
  blocking: 'no, behind backward',
  link: dataLink,
  bytes: () => '2 (N-1)/N Psi g',
};

const zero1: Strategy = {
  ...data(1),
  strategy: 'ZeRO-1',
  splits: 'the batch, the optimizer',
  collective: 'reduce-scatter, all-gather',
  when: 'gradients, last backward; weights, next forward',
  blocking: 'no, behind backward and forward',
  link: dataLink,
  bytes: () => '(N-1)/N Psi (g + w)',
};

const zero2: Strategy = {
  ...data(2),
  strategy: 'ZeRO-2',
  splits: 'the batch, the optimizer, gradients',
  collective: 'reduce-scatter, all-gather',
  when: 'gradients, every backward; weights, next forward',
  blocking: 'no, behind backward and forward',
  link: dataLink,
  bytes: (_, { gradientReduction }) =>
    gradientReduction === 'per-step' ? '(N-1)/N Psi (g + w)' : '(N-1)/N Psi (m g + w)',
};

const zero3: Strategy = {
  ...data(3),
  strategy: 'ZeRO-3',
  splits: 'the batch and all state',
  collective: 'all-gather, reduce-scatter',
  when: 'weights, before every use; gradients, every backward',
  blocking: 'no, if a layer outlasts a gather',
  link: 'fast, or many tokens',
  bytes: (_, { gradientReduction }) =>
    `(N-1)/N Psi (2 m w + ${gradientReduction === 'per-step' ? '' : 'm '}g), less repeats`,
};

const overTensor = {
  axis: 'tensor',
  rules: tensorRules,
  splits: 'matrices of layers',
  when: 'twice forward, twice backward in each layer',
  blocking: 'yes, the next product needs it',
  batch: 'N m b, not t',
  link: 'fastest, in the node',
  state: ({ weight, gradient, optimizer }: Facts): string => `${weight + gradient + optimizer} Psi / t; norms whole`,
} as const;

const tp: Strategy = {
  ...overTensor,
  strategy: 'TP',
  collective: 'all-reduce',
  request: ({ tensor }) => ({ tensor, pipeline: 1, context: 1, sharding: 0, sequenceParallel: false }),
  bytes: (_, { recompute }) => tensorBytes(recompute === 'full' ? 12 : 8),
};

const tpSp: Strategy = {
  ...overTensor,
  strategy: 'TP+SP',
  splits: 'matrices of layers, sequence between them',
  collective: 'all-gather, reduce-scatter',
  request: ({ tensor }) => ({ tensor, pipeline: 1, context: 1, sharding: 0, sequenceParallel: true }),
  bytes: (_, { recompute, keepGathered }) => tensorBytes(recompute === 'full' ? 12 : keepGathered ? 8 : 10),
};

const tensorBytes = (units: number): string => `${units} L m (t-1)/t s b h w; ends`;

const pp: Strategy = {
  axis: 'pipeline',
  rules: ['next-stage', 'previous-stage', 'sum-tied', 'sum-copies'],
  strategy: 'PP',
  splits: 'layers into stages',
  collective: 'send, receive',
  when: 'every boundary and micro-batch, both ways',
  blocking: 'no, but bubble (p-1)/(m+p-1)',
  batch: 'N m b, m >= 4 p',
  link: 'slowest, across nodes',
  request: ({ pipeline }) => ({ tensor: 1, pipeline, context: 1, sharding: 0, chunks: 1, schedule: '1f1b' }),
  state: ({ weight, gradient, optimizer }) => `${weight + gradient + optimizer} Psi / p; ends differ`,
  bytes: ({ job }, { pipeline }) => `${pipeline > 2 ? '2 ' : ''}m s b h w${job.model.tied ? '; ends V h g' : ''}`,
};

/** The rows of the table, in the order of the flow. */
export const strategies: readonly Strategy[] = [dp, zero1, zero2, zero3, tp, tpSp, pp];
