/** @file One layout in full: the `show` object of the contract. */
import { capacityBytes, gpuCount } from '../cluster/index.ts';
import { hostAssumptions } from '../cost/index.ts';
import { batchTokens, type Job, precisionName } from '../job/index.ts';
import { formatLayout, hasExpertGrid, type Layout, meshOf, microBatchesOf } from '../layout/index.ts';
import { groupsAlong } from '../mesh/index.ts';
import { countParameters, flopsPerToken, mfuConventionOf } from '../model/index.ts';
import { bubbleShare, chunksHeld, positionOf, shapeOf } from '../schedules/index.ts';
import { detailOf, type LayoutDetail } from './detail.ts';
import { createEvaluator, type Evaluator, evaluateStep } from './evaluate/index.ts';
import { failureAssumptions, failuresOf } from './failures.ts';
import { layerFits, layerIssue } from './layer-fit.ts';
import { peakRate } from './peak-rate.ts';
import type { Candidate } from './search.ts';
import type { Shown, ShownStage, ShowOptions } from './show-types.ts';
import { storageNeeds } from './storage-needs.ts';
import { trafficOf } from './traffic.ts';
import { deviceMemory, memoryAssumptions, worstVerdict } from './verdict.ts';
import { warningsOf } from './warnings/index.ts';

/** `measured` may be given where the candidate is measured already. */
export function showCandidate(
  evaluator: Evaluator,
  candidate: Candidate,
  options: ShowOptions = {},
  measured?: LayoutDetail,
): Shown {
  const { job } = evaluator;
  const { layout } = candidate;
  const prices = evaluator.pricesOf(layout);
  const detail = measured ?? detailOf(evaluator, candidate, (dtype) => peakRate(job, dtype));
  const { seconds } = candidate.evaluation;
  const stages = shownStages(evaluator, candidate, detail);
  const bubble = mean(detail.bubbleSeconds) / seconds;
  const storage = storageNeeds(job, layout, seconds, options.storageBytesPerSecond);
  const traffic = detail.exchanges.map((row) => trafficOf(job, layout, row, prices));
  return {
    schema: 'meshwright.show/1',
    job: jobFacts(job),
    layout: { ...layout, short: formatLayout(layout) },
    gpus: gpuCount(job.cluster),
    step: shownStep(evaluator, candidate, detail),
    memory: {
      capacityBytes: capacityBytes(job.cluster),
      verdict: worstVerdict(stages.map((stage) => stage.verdict)),
      stages,
    },
    traffic,
    pipeline: {
      schedule: layout.schedule,
      stages: layout.pipeline,
      chunks: layout.chunks,
      microBatches: microBatchesOf(job, layout),
      bubbleShare: bubble,
      bubbleRatio: bubble / (1 - bubble),
      closedFormShare: closedForm(job, layout),
      layersPerStage: layout.layersPerStage,
    },
    storage,
    failures: shownFailures(job, storage.checkpoint.bytes, seconds, options),
    ...(options.groups && { groups: groupsOf(layout) }),
    assumptions: [
      ...prices.assumptions,
      ...(layout.offload === 'none' ? [] : hostAssumptions(job.cluster)),
      ...memoryAssumptions,
      ...failureAssumptions(options),
    ],
    warnings: warningsOf({
      job,
      layout,
      prices,
      seconds,
      shares: { bubble, data: detail.parts.data / seconds },
      stages,
      traffic,
      layer: layerFits(evaluator)(layout) ? undefined : layerIssue(evaluator, layout),
      unitBytes: Math.max(...evaluator.specOf(layout).buckets.map((bucket) => bucket.weightBytes)),
    }),
    issues: options.issues ?? [],
  };
}

const shownFailures = (
  { cluster }: Job,
  checkpointBytes: number,
  stepSeconds: number,
  options: ShowOptions,
): Shown['failures'] =>
  failuresOf({ devices: gpuCount(cluster), nodes: cluster.nodes, checkpointBytes, stepSeconds }, options);

function shownStep(evaluator: Evaluator, { layout, evaluation }: Candidate, detail: LayoutDetail): Shown['step'] {
  const { job } = evaluator;
  const { seconds } = evaluation;
  const gpus = gpuCount(job.cluster);
  const tokens = batchTokens(job.batch);
  const flops = flopsPerToken(job.model, job.batch.length) * tokens;
  const peak = peakRate(job);
  return {
    seconds,
    ...interval(evaluator, layout, seconds),
    tokensPerSecondPerGpu: tokens / seconds / gpus,
    tflopsPerGpu: flops / seconds / gpus / 1e12,
    mfu: flops / seconds / gpus / peak,
    mfuConvention: mfuConventionOf(job.model),
    hfu: hardwareFlops(evaluator, layout) / seconds / gpus / peak,
    partsSeconds: detail.parts,
    hiddenSeconds: detail.hiddenSeconds,
  };
}

function shownStages(evaluator: Evaluator, { layout, evaluation }: Candidate, detail: LayoutDetail): ShownStage[] {
  return evaluator.specOf(layout).stages.map((stage, index): ShownStage => {
    const memory = deviceMemory(evaluator.job, layout, evaluation.peakBytes[index] ?? 0, stage.residentBytes);
    return {
      stage: index,
      layers: layersOfStage(layout, index),
      parameters: stage.buckets.reduce((sum, bucket) => sum + bucket.plan.elements, 0),
      ...memory,
      hostBytes: stage.hostBytes,
      partsBytes: { ...detail.memory[index] },
    };
  });
}

const layersOfStage = (layout: Layout, stage: number): number => {
  let layers = 0;
  for (let chunk = 0; chunk < chunksHeld(layout); chunk++)
    layers += layout.layersPerStage[positionOf(layout, stage, chunk)] ?? 0;
  return layers;
};

/** FLOPs of all kernels of a step, recomputation included, over all ranks. */
function hardwareFlops(evaluator: Evaluator, layout: Layout): number {
  const { ends, layers } = evaluator.blocksOf(layout);
  let perMicroBatch = ends.headForward.productFlops + ends.headBackward.productFlops;
  for (const { runs } of evaluator.rowsOf(layout)) {
    for (const { kind, count } of runs) {
      const layer = layers[kind];
      if (layer) perMicroBatch += count * (layer.forward.productFlops + layer.backward.productFlops);
    }
  }
  return perMicroBatch * layout.tensor * layout.context * layout.data * microBatchesOf(evaluator.job, layout);
}

/** The bubble of equal stages; none without a pipeline. */
const closedForm = (job: Job, layout: Layout): number =>
  layout.pipeline === 1 ? 0 : bubbleShare(shapeOf(layout, microBatchesOf(job, layout)));

/** The workload in a word, and what of the model it trains. */
function workloadFacts({ workload, model }: Job): Readonly<Record<string, number | string>> {
  if (typeof workload !== 'object') return { workload };
  const { rank, alpha, targets } = workload.lora;
  const { total, trainable } = countParameters(model);
  return {
    workload: 'lora',
    loraRank: rank,
    loraAlpha: alpha,
    loraTargets: targets.join(','),
    parameters: total,
    trainableParameters: trainable,
  };
}

function jobFacts(job: Job): Readonly<Record<string, number | string>> {
  return {
    name: job.name,
    model: job.model.name,
    cluster: job.cluster.name,
    sequences: job.batch.sequences,
    length: job.batch.length,
    tokens: batchTokens(job.batch),
    precision: precisionName(job),
    optimizer: job.optimizer,
    ...workloadFacts(job),
    framework: job.framework,
    attention: job.kernels.attention,
    dropout: job.kernels.dropout,
  };
}

const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;

/** The step under the kindest and the unkindest values of the assumed host times and of the sustained rate of products.
 * Ranges of links, attention and memory are listed with the assumptions and are not in it.
 */
function interval(evaluator: Evaluator, layout: Layout, seconds: number): { low: number; high: number } {
  const { job } = evaluator;
  const { assumptions, launchCompute, launchExchange } = evaluator.pricesOf(layout);
  const rangeOf = (what: string, value: number): { low: number; high: number } =>
    assumptions.find((each) => each.what === what) ?? { low: value, high: value };
  const compute = rangeOf('host seconds per kernel launch', launchCompute);
  const exchange = rangeOf('host seconds per exchange launch', launchExchange);
  const sustained = rangeOf('sustained over burst rate of matrix products', job.cluster.device.sustained.value);
  const under = (launch: number, launchOver: number, rate: number): number => {
    const other = createEvaluator(job, { launchCompute: launch, launchExchange: launchOver, sustained: rate });
    return evaluateStep(other.specOf(layout), other.orderOf(layout)).seconds;
  };
  return {
    low: Math.min(seconds, under(compute.low, exchange.low, sustained.high)),
    high: Math.max(seconds, under(compute.high, exchange.high, sustained.low)),
  };
}

function groupsOf(layout: Layout): NonNullable<Shown['groups']> {
  const mesh = meshOf(layout);
  const dense = (['tensor', 'context', 'data', 'pipeline'] as const).filter(
    (axis) => axis !== 'context' || layout.context > 1,
  );
  const experts = hasExpertGrid(layout) ? (['expertTensor', 'expert', 'expertData'] as const) : [];
  const axes = [...dense, ...experts];
  return Object.fromEntries(axes.map((axis) => [axis, groupsAlong(mesh, [axis])]));
}
