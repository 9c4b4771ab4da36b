/** @file The side-by-side table: every strategy asked the same questions, in symbols and in this job's numbers.
 *
 * A strategy is shown by itself: tensor on the fast links, stages across nodes, what remains plain data parallelism. The
 * numbers are those of its fastest layout that fits, or of the smallest one when none does.
 */
import { bytesByLaw, containers, outlineOf } from '../../compile/index.ts';
import { computeType } from '../../job/index.ts';
import { formatLayout, type Layout, microBatchesOf } from '../../layout/index.ts';
import type { Shown } from '../../plan/index.ts';
import { bytesOf, localElements } from '../../tensor/index.ts';
import { properDivisors } from '../facts.ts';
import type { Choice, FlowContext } from '../flow/index.ts';
import { widestTensor } from '../flow/index.ts';
import { deviceBytes, isLegal, type LegalTrial, type Trial } from '../trials.ts';
import type { StrategyRow } from '../types.ts';
import { whole } from '../words.ts';
import { type Degrees, type Strategy, strategies } from './symbols.ts';

/** Stages of the row PP where the flow has not come to a pipeline: as many as nodes, this at most. */
const FIRST_PIPELINE = 8;

export function strategyTable(context: FlowContext, choice: Choice | undefined): readonly StrategyRow[] {
  const degrees = degreesOf(context, choice);
  return strategies.map((strategy) => strategyRow(context, strategy, degrees));
}

/** What the flow has chosen where it has; else what the field would try first. */
function degreesOf(context: FlowContext, choice: Choice | undefined): Degrees {
  const { facts } = context;
  const chosen = choice?.trial.candidate.layout;
  const { nodes, gpusPerNode } = facts.job.cluster;
  const most = Math.min(FIRST_PIPELINE, facts.job.model.layers.length);
  const stages = properDivisors(nodes > 1 ? nodes : gpusPerNode).findLast((each) => each <= most);
  const widest = widestTensor(context);
  return {
    // A degree that is not legal still has a row, which then says why.
    tensor: chosen && chosen.tensor > 1 ? chosen.tensor : widest > 1 ? widest : Math.min(facts.fastRanks, facts.gpus),
    pipeline: chosen && chosen.pipeline > 1 ? chosen.pipeline : (stages ?? 1),
  };
}

function strategyRow(context: FlowContext, strategy: Strategy, degrees: Degrees): StrategyRow {
  const { facts, trials } = context;
  const trial = trials.bestOf(strategy.request(degrees));
  const layout = isLegal(trial) ? trial.candidate.layout : facts.plain;
  const symbols = {
    strategy: strategy.strategy,
    splits: strategy.splits,
    collective: strategy.collective,
    when: strategy.when,
    issues: trial.issues,
  };
  const state = strategy.state(facts);
  const bytes = strategy.bytes(facts, layout);
  if (!isLegal(trial)) {
    return {
      ...symbols,
      statePerGpu: { symbols: state },
      bytesPerGpuPerStep: { symbols: bytes },
      blocking: { words: strategy.blocking },
      batch: { symbols: strategy.batch, words: 'not legal' },
      link: { words: strategy.link },
    };
  }
  const shown = trials.shownOf(trial);
  return {
    ...symbols,
    statePerGpu: { symbols: state, bytes: fullestState(trial) },
    bytesPerGpuPerStep: { symbols: bytes, bytes: mostSent(trial, strategy) },
    blocking: { words: strategy.blocking, ...waiting(shown, strategy) },
    batch: { symbols: strategy.batch, words: batchWords(context, layout) },
    link: { words: strategy.link, ...linkOf(trial, strategy) },
    numbers: {
      layout: formatLayout(layout),
      seconds: shown.step.seconds,
      verdict: trial.candidate.verdict,
      deviceBytes: deviceBytes(trial),
      microBatch: layout.microBatch,
      microBatches: microBatchesOf(facts.job, layout),
      dataRanks: layout.data,
    },
  };
}

/** Weights, gradients and optimizer of the fullest stage as the program declares them, padding included. */
function fullestState({ evaluator, candidate }: LegalTrial): number {
  const { job } = evaluator;
  const { layout } = candidate;
  const degrees = (axis: string): number => (axis === 'data' ? layout.data : 1);
  const stages = outlineOf(job, layout).stages.map(({ buckets }) => {
    const declared = buckets.flatMap((bucket) => containers(bucket, job, layout, computeType(job.precision)));
    const resident = declared.filter((each) => each.resident && each.shardOf === undefined);
    return resident.reduce((sum, each) => sum + localElements(each.dims, degrees) * bytesOf(each.dtype), 0);
  });
  return Math.max(...stages);
}

/** Bytes that a rank of the busiest stage sends for the strategy's own exchanges. */
function mostSent({ evaluator, candidate }: LegalTrial, { rules, axis }: Strategy): number {
  const stages = bytesByLaw(evaluator.job, candidate.layout).map(({ lines }) =>
    lines.filter((line) => line.axis === axis && rules.includes(line.rule)).reduce((sum, line) => sum + line.bytes, 0),
  );
  return Math.max(...stages);
}

/** How long the exchanges of the strategy's axis run, and how much of that is waited for. */
function waiting(shown: Shown, { axis }: Strategy): Partial<StrategyRow['blocking']> {
  const rows = shown.traffic.filter((row) => row.axis === axis);
  const sum = (part: (row: (typeof rows)[number]) => number): number =>
    rows.reduce((total, row) => total + part(row), 0);
  const exposedSeconds = sum((row) => row.exposedSeconds);
  return {
    seconds: sum((row) => row.seconds),
    exposedSeconds,
    exposedShare: exposedSeconds / shown.step.seconds,
    ...(axis === 'pipeline' && { bubbleShare: shown.pipeline.bubbleShare }),
  };
}

function linkOf({ evaluator, candidate }: LegalTrial, { axis }: Strategy) {
  const { name, bandwidth, crossesNode } = evaluator.pricesOf(candidate.layout).linkOf([axis]);
  return { name, bytesPerSecond: bandwidth, crossesNode };
}

function batchWords({ facts }: FlowContext, layout: Layout): string {
  const { data, microBatch } = layout;
  const count = microBatchesOf(facts.job, layout);
  return `${whole(facts.job.batch.sequences)} = ${whole(data)} x ${whole(count)} x ${microBatch}`;
}

/** The trial of a row, for those who compare with it. */
export const trialOfRow = (context: FlowContext, name: StrategyRow['strategy'], choice: Choice | undefined): Trial => {
  const strategy = strategies.find((each) => each.strategy === name);
  return context.trials.bestOf(strategy ? strategy.request(degreesOf(context, choice)) : {});
};
