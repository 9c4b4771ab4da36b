/** @file How fast a step is simulated and written: Llama 3.1 70B, tensor 8, pipeline 4, 256 micro-batches, one thread. Before and after
 * it whole steps from layout to result; the first says how much memory a step on 98,304 GPUs takes. The step of 1T parameters is left
 * out but for --1t, under NODE_OPTIONS=--max-old-space-size=6000: its times written out take memory. Run: npm run bench:sim. Prints one line a figure; compare lines of one run, machines differ.
 */
import { clusterFromRequest } from '@meshwright/core/cluster';
import { compileProgram } from '@meshwright/core/compile';
import { networkOf } from '@meshwright/core/cost';
import { chromeTrace, memorySnapshot, perfettoTrace, tracedRanks } from '@meshwright/core/export';
import { createJob } from '@meshwright/core/job';
import { completeLayout } from '@meshwright/core/layout';
import { modelFromDimensions, modelFromPreset } from '@meshwright/core/model';
import { createEvaluator, evaluateStep, splitCosts } from '@meshwright/core/plan';
import {
  criticalPathSummary,
  operationCount,
  pricesOf,
  simulateProgram,
  simulateShared,
  timelineOf,
} from '@meshwright/core/sim';

const number = (value, digits = 0) => value.toLocaleString('en-US', { maximumFractionDigits: digits });

/** Seconds of processor time that `work` takes on this thread; what else runs on the machine does not count. */
function timed(work) {
  const before = process.cpuUsage();
  const result = work();
  const used = process.cpuUsage(before);
  return { result, seconds: (used.user + used.system) / 1e6 };
}

/** Does the work and prints what of it is done in a second. */
function rate(name, unit, work, countOf) {
  const { result, seconds } = timed(work);
  console.log(`${name}: ${number(countOf(result) / seconds)} ${unit}/s`);
  return result;
}

function lengthOf(pieces) {
  let length = 0;
  for (const piece of pieces) length += piece.length;
  return length;
}

/** Rates of single parts; nothing of it is alive afterwards. */
function rates() {
  const { cluster } = clusterFromRequest('8x dgx-h100', 'cluster');
  const { model } = modelFromPreset('llama-3.1-70b', 'model');
  const job = createJob({ name: 'bench', model, cluster, batch: { sequences: 512, length: 8192 } });
  const { layout } = completeLayout({ tensor: 8, pipeline: 4, microBatch: 1, sharding: 1 }, job, splitCosts(job));
  const program = compileProgram(job, layout);
  const prices = createEvaluator(job).pricesOf(layout);
  const { result: step, seconds } = timed(() => simulateProgram(program, pricesOf(program, prices)));
  const operations = operationCount(program);
  console.log(`operations: ${number(operations)} operations`);
  console.log(`simulate: ${number(operations / seconds)} operations/s`);
  rate(
    'critical path',
    'operations',
    () => criticalPathSummary(step),
    () => operations,
  );
  const timeline = rate(
    'timeline',
    'operations',
    () => timelineOf(step),
    () => operations,
  );
  const lists = step.lists.map(({ expanded }) => expanded);
  const traced = (which) => ({ program, lists, timeline, ranks: tracedRanks(program, which, 8) });
  const one = traced('one-per-list');
  rate(
    'perfetto',
    'slices',
    () => lengthOf(perfettoTrace(one)),
    () => operations,
  );
  const stage = { ...one, ranks: Array.from({ length: 8 }, () => one.ranks).flat() };
  rate(
    'perfetto, eight ranks of a list',
    'slices',
    () => lengthOf(perfettoTrace(stage)),
    () => 8 * operations,
  );
  rate(
    'chrome',
    'slices',
    () => lengthOf(chromeTrace(one)),
    () => operations,
  );
  rate(
    'memory snapshot',
    'bytes',
    () => lengthOf(memorySnapshot(one)),
    (bytes) => bytes,
  );
}

/** One step from layout to result, caches cold, each tier by itself. */
function measureTiers(name, nodes, device, model, sequences, length, request) {
  const job = createJob({
    name,
    model,
    cluster: clusterFromRequest(`${nodes}x ${device}`, 'cluster').cluster,
    batch: { sequences, length },
  });
  const { layout: own } = completeLayout(request, job, splitCosts(job));
  const block = timed(() => {
    const evaluator = createEvaluator(job);
    return evaluateStep(evaluator.specOf(own), evaluator.orderOf(own));
  });
  const book = createEvaluator(job).pricesOf(own);
  const compiled = timed(() => compileProgram(job, own));
  const program = compiled.result;
  const alone = timed(() => simulateProgram(program, pricesOf(program, book)));
  const written = timed(() => alone.result.end.length);
  const shared = timed(() => simulateShared(program, { prices: book, network: networkOf(job.cluster) }));
  return { program, block, compiled, alone, written, shared };
}

/** Prints them; the parts of the operation level apart. */
function tiers(name, ...step) {
  const { program, block, compiled, alone, written, shared } = measureTiers(name, ...step);
  const milliseconds = (each) => `${number(each.seconds * 1e3)} ms`;
  console.log(
    `${name}, ${number(operationCount(program))} operations: block pass ${milliseconds(block)}, compile ${milliseconds(compiled)}, ` +
      `operations ${milliseconds(alone)} (their times written out: ${milliseconds(written)} more), ` +
      `shared links ${milliseconds(shared)}, ` +
      `${number(shared.result.flowEvents / shared.seconds)} flow events/s`,
  );
}

// Another job first: what is measured is the simulator, not the compiler of its language. No cache outlives a job.
const warmUp = modelFromPreset('llama-2-13b', 'model').model;
for (const chunks of [1, 2, 1, 2]) {
  measureTiers('warm-up', 8, 'dgx-h100', warmUp, 128, 4096, {
    tensor: 4,
    pipeline: 4,
    data: 4,
    chunks,
    microBatch: 1,
    sharding: 0,
    recompute: 'full',
    schedule: chunks === 1 ? '1f1b' : 'interleaved-1f1b',
  });
}

// First of the large ones: the peak is that of the process so far.
tiers(
  'DeepSeek-V3 on 98,304 GPUs, tensor x pipeline x data x expert',
  12_288,
  'dgx-h100',
  modelFromPreset('deepseek-v3', 'model').model,
  3072 * 16,
  4096,
  {
    tensor: 2,
    pipeline: 16,
    data: 3072,
    expert: 64,
    microBatch: 1,
    sharding: 1,
    recompute: 'full',
  },
);
console.log(`peak memory so far: ${number(process.resourceUsage().maxRSS / 1024)} MiB`);

rates();

/** Megatron-Turing NLG (Smith et al. 2022): 105 layers of 20,480, 128 heads. */
const { model: mtNlg } = modelFromDimensions(
  { kind: 'gpt2', layers: 105, hidden: 20_480, heads: 128, ffn: 81_920, vocab: 51_200, positions: 2048 },
  'model',
);
const megatron = { tensor: 8, microBatch: 1, sharding: 0, recompute: 'full' };
tiers('530B, 35 stages x 3 chunks', 280, 'dgx-a100', mtNlg, 8 * 280, 2048, {
  ...megatron,
  pipeline: 35,
  data: 8,
  chunks: 3,
  schedule: 'interleaved-1f1b',
});
tiers('405B on 99,968 GPUs', 12_496, 'dgx-h100', modelFromPreset('llama-3.1-405b', 'model').model, 781 * 32, 8192, {
  tensor: 8,
  pipeline: 16,
  data: 781,
  microBatch: 1,
  sharding: 1,
});
if (process.argv.includes('--1t')) {
  tiers(
    '1T, 64 stages x 512 micro-batches',
    384,
    'dgx-a100',
    modelFromPreset('gpt-1t-narayanan', 'model').model,
    6 * 512,
    2048,
    {
      ...megatron,
      pipeline: 64,
      data: 6,
      schedule: '1f1b',
    },
  );
}
