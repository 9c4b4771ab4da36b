/** @file How fast a step is simulated and written: Llama 3.1 70B, tensor 8, pipeline 4, 256 micro-batches, one thread.
 * Run: npm run bench:sim. Prints one line a figure; compare lines of one run, machines differ.
 */
import { clusterFromRequest } from '@meshwright/core/cluster';
import { compileProgram } from '@meshwright/core/compile';
import { chromeTrace, memorySnapshot, perfettoTrace, tracedRanks } from '@meshwright/core/export';
import { createJob } from '@meshwright/core/job';
import { completeLayout } from '@meshwright/core/layout';
import { modelFromPreset } from '@meshwright/core/model';
import { createEvaluator, splitCosts } from '@meshwright/core/plan';
import { criticalPathSummary, pricesOf, simulateProgram, timelineOf } from '@meshwright/core/sim';

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

const { cluster } = clusterFromRequest('8x dgx-h100', 'cluster');
const { model } = modelFromPreset('llama-3.1-70b', 'model');
const job = createJob({ name: 'bench', model, cluster, batch: { sequences: 512, length: 8192 } });
const { layout } = completeLayout({ tensor: 8, pipeline: 4, microBatch: 1, sharding: 1 }, job, splitCosts(job));
const program = compileProgram(job, layout);
const prices = createEvaluator(job).pricesOf(layout);
const { result: step, seconds } = timed(() => simulateProgram(program, pricesOf(program, prices)));
const operations = step.start.length;
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
