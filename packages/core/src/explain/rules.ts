/** @file Rules of thumb held against the search. A rule that the fastest layout obeys costs nothing; for one that it breaks,
 * the fastest layout that obeys is searched, and the difference is its price.
 */
import { formatLayout, type LayoutRequest, microBatchesOf } from '../layout/index.ts';
import { enoughMicroBatches } from '../plan/index.ts';
import type { Choice, FlowContext } from './flow/index.ts';
import { tensorDegrees } from './flow/index.ts';
import { fits, type LegalTrial } from './trials.ts';
import type { RuleCheck } from './types.ts';

interface Rule {
  readonly rule: string;
  /** The fastest layout obeys. */
  readonly obeys: (optimum: LegalTrial) => boolean;
  /** Kinds that together are all layouts that obey; absent where the search cannot be kept to them. */
  readonly kinds: (optimum: LegalTrial) => readonly LayoutRequest[];
  /** The first kind for which something fits, instead of the fastest of all. */
  readonly inOrder?: true;
}

/** Checks the rules; `optimum` is the fastest layout of the job. */
export function checkRules(
  context: FlowContext,
  choice: Choice | undefined,
  optimum: LegalTrial,
): readonly RuleCheck[] {
  return [...flowRule(choice, optimum), ...rulesOf(context).map((rule) => check(context, rule, optimum))];
}

const secondsOf = (trial: LegalTrial): number => trial.candidate.evaluation.seconds;
const shortOf = (trial: LegalTrial): string => formatLayout(trial.candidate.layout);

function flowRule(choice: Choice | undefined, optimum: LegalTrial): readonly RuleCheck[] {
  if (!choice) return [];
  const says = shortOf(choice.trial);
  const search = shortOf(optimum);
  const rule = 'the decision flow';
  return [{ rule, says, search, agrees: says === search, costOverOptimum: over(choice.trial, optimum) }];
}

const over = (trial: LegalTrial, optimum: LegalTrial): number => secondsOf(trial) / secondsOf(optimum) - 1;

function rulesOf(context: FlowContext): readonly Rule[] {
  const { facts } = context;
  return [
    {
      rule: 'shard no more than it takes to fit',
      obeys: ({ candidate }) => candidate.layout.sharding === 0,
      kinds: ({ candidate }) =>
        ([0, 1, 2, 3] as const).slice(0, candidate.layout.sharding + 1).map((sharding) => ({ sharding })),
      inOrder: true,
    },
    {
      rule: 'keep tensor groups on the fast links',
      obeys: ({ candidate }) => candidate.layout.tensor <= facts.fastRanks,
      kinds: () => [1, ...tensorDegrees(context)].map((tensor) => ({ tensor })),
    },
    {
      rule: 'no pipeline while the model fits without',
      obeys: ({ candidate }) => candidate.layout.pipeline === 1,
      kinds: () => [{ pipeline: 1 }],
    },
    {
      rule: 'recompute only when nothing fits without',
      obeys: ({ candidate }) => candidate.layout.recompute === (facts.job.layout.recompute ?? 'none'),
      kinds: () => [{ recompute: 'none' }],
    },
    {
      rule: 'at least 4 micro-batches for each stage',
      obeys: ({ candidate: { layout } }) =>
        layout.pipeline === 1 || microBatchesOf(facts.job, layout) >= enoughMicroBatches(layout.pipeline),
      kinds: () => [],
    },
  ];
}

function check({ trials }: FlowContext, { rule, obeys, kinds, inOrder }: Rule, optimum: LegalTrial): RuleCheck {
  const search = shortOf(optimum);
  if (obeys(optimum)) return { rule, says: search, search, agrees: true, costOverOptimum: 0 };
  let found: LegalTrial | undefined;
  for (const request of kinds(optimum)) {
    const trial = trials.bestOf(request);
    if (!fits(trial)) continue;
    if (found === undefined || secondsOf(trial) < secondsOf(found)) found = trial;
    if (inOrder) break;
  }
  if (!found) return { rule, says: kinds(optimum).length > 0 ? 'nothing fits' : 'not searched', search, agrees: false };
  const says = shortOf(found);
  return { rule, says, search, agrees: says === search, costOverOptimum: over(found, optimum) };
}
