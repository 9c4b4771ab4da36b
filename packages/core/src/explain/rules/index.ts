/** @file Rules of thumb held against the search. A rule that the fastest layout obeys costs nothing; for one that it breaks,
 * the fastest layout that obeys is searched, and the difference is its price.
 */
import { formatLayout, type LayoutRequest, microBatchesOf } from '../../layout/index.ts';
import { compareShown, enoughMicroBatches, jobOnGpus, searchLayouts, thresholds } from '../../plan/index.ts';
import { properDivisors } from '../facts.ts';
import type { Choice, FlowContext } from '../flow/index.ts';
import { tensorDegrees } from '../flow/index.ts';
import { fits, type LegalTrial } from '../trials.ts';
import type { RuleCheck } from '../types.ts';
import { share } from '../words.ts';
import { sizeRule } from './by-size.ts';
import type { Rule } from './rule.ts';

/** Checks the rules; `optimum` is the fastest layout of the job. */
export function checkRules(
  context: FlowContext,
  choice: Choice | undefined,
  optimum: LegalTrial,
): readonly RuleCheck[] {
  return [
    ...flowRule(context, choice, optimum),
    ...[...rulesOf(context), sizeRule(context), ...pcieRules(context)].map((rule) => check(context, rule, optimum)),
    dataAlone(context, optimum),
    ...diminishing(context, optimum),
  ];
}

const secondsOf = (trial: LegalTrial): number => trial.candidate.evaluation.seconds;
const shortOf = (trial: LegalTrial): string => formatLayout(trial.candidate.layout);

function flowRule(context: FlowContext, choice: Choice | undefined, optimum: LegalTrial): readonly RuleCheck[] {
  if (!choice) return [];
  const says = shortOf(choice.trial);
  const search = shortOf(optimum);
  const rule = 'the decision flow';
  const agrees = says === search;
  return [
    {
      rule,
      says,
      search,
      agrees,
      costOverOptimum: over(choice.trial, optimum),
      ...because(context, choice.trial, optimum),
    },
  ];
}

/** The part of a step that makes a layout slower than the fastest, in words. */
function because({ trials }: FlowContext, trial: LegalTrial, optimum: LegalTrial): Pick<RuleCheck, 'because'> {
  if (over(trial, optimum) <= 0) return {};
  const reasons = compareShown(trials.shownOf(trial), trials.shownOf(optimum));
  const [first] = reasons.filter(({ savesSeconds }) => savesSeconds < 0);
  return first ? { because: first.words } : {};
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
      rule: 'tensor in the node, stages across, their product no larger than memory needs',
      obeys: ({ candidate: { layout } }) => layout.tensor === 1 && layout.pipeline === 1,
      kinds: () => copiesInOrder(context),
      inOrder: true,
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

/** Degrees of one copy of the model, the fewest ranks first; of equal ones tensor before stages. */
function copiesInOrder(context: FlowContext): readonly LayoutRequest[] {
  const { facts } = context;
  const copies = [1, ...tensorDegrees(context)].flatMap((tensor) =>
    [1, ...properDivisors(facts.gpus / tensor)]
      .filter((pipeline) => pipeline <= facts.job.model.layers.length)
      .map((pipeline) => ({ tensor, pipeline })),
  );
  return copies.sort(
    (one, other) => one.tensor * one.pipeline - other.tensor * other.pipeline || other.tensor - one.tensor,
  );
}

function check(context: FlowContext, { rule, obeys, kinds, inOrder, note }: Rule, optimum: LegalTrial): RuleCheck {
  const search = shortOf(optimum);
  const told = note?.(optimum);
  const noted = told === undefined ? {} : { note: told };
  if (obeys(optimum)) return { rule, says: search, search, agrees: true, costOverOptimum: 0, ...noted };
  let found: LegalTrial | undefined;
  for (const request of kinds(optimum)) {
    const trial = context.trials.bestOf(request);
    if (!fits(trial)) continue;
    if (found === undefined || secondsOf(trial) < secondsOf(found)) found = trial;
    if (inOrder) break;
  }
  if (!found) {
    return { rule, says: kinds(optimum).length > 0 ? 'nothing fits' : 'not searched', search, agrees: false, ...noted };
  }
  const says = shortOf(found);
  const costOverOptimum = over(found, optimum);
  return {
    rule,
    says,
    search,
    agrees: says === search,
    costOverOptimum,
    ...because(context, found, optimum),
    ...noted,
  };
}

/** Over PCIe the field splits a layer over two at most, and calls more prohibitive: what would four cost? */
function pcieRules({ facts, trials }: FlowContext): readonly Rule[] {
  const { intra, gpusPerNode } = facts.job.cluster;
  if (intra.gpus > 2 || gpusPerNode <= 2) return [];
  const most = thresholds.tensorRanksOnPcie;
  return [
    {
      rule: `no more than ${most} tensor ranks over PCIe`,
      obeys: ({ candidate }) => candidate.layout.tensor <= most,
      kinds: () => [{ tensor: 1 }, { tensor: most }],
      note: (optimum) => {
        const wider = trials.bestOf({ tensor: 2 * most });
        return fits(wider) ? `tensor ${2 * most} takes ${share(over(wider, optimum))} more` : undefined;
      },
    },
  ];
}

/** Parameters at which data parallelism alone is said to end. */
const DATA_ALONE_ENDS: readonly [number, number] = [30e9, 40e9];

/** Says whether replicas alone (whole or sharded) hold the model here, against what is said of models of its size. */
function dataAlone(context: FlowContext, optimum: LegalTrial): RuleCheck {
  const { trials, facts } = context;
  const trial = trials.bestOf({ tensor: 1, pipeline: 1, context: 1 });
  const works = fits(trial);
  const [low, high] = DATA_ALONE_ENDS;
  const said = facts.parameters < low ? true : facts.parameters > high ? false : undefined;
  const claim =
    said === undefined ? 'says nothing of this size' : said ? 'says it works here' : 'says it has ended here';
  return {
    rule: 'data parallelism alone ends near 30 to 40 B parameters',
    says: works ? shortOf(trial) : 'nothing fits',
    search: shortOf(optimum),
    agrees: said === undefined || said === works,
    ...(works && { costOverOptimum: over(trial, optimum), ...because(context, trial, optimum) }),
    note: claim,
  };
}

/** Devices beyond which more are said to pay less and less. */
const DIMINISHING = 64;

/** Holds tokens per second and GPU on this cluster against those on 64 of its GPUs, with the same batch. */
function diminishing({ facts }: FlowContext, optimum: LegalTrial): readonly RuleCheck[] {
  const fewer = facts.gpus > DIMINISHING ? jobOnGpus(facts.job, DIMINISHING) : undefined;
  if (fewer === undefined) return [];
  const search = shortOf(optimum);
  const rule = `returns diminish beyond ${DIMINISHING} GPUs`;
  const [best] = searchLayouts(fewer, { top: 1 }).best;
  if (best === undefined)
    return [{ rule, says: 'nothing fits', search, agrees: false, note: `nothing fits ${DIMINISHING} GPUs` }];
  const kept = (best.evaluation.seconds * DIMINISHING) / (secondsOf(optimum) * facts.gpus);
  return [
    {
      rule,
      says: formatLayout(best.layout),
      search,
      agrees: kept < 1,
      note: `${facts.gpus} GPUs reach ${share(kept)} of the tokens/s/GPU of ${DIMINISHING}`,
    },
  ];
}
