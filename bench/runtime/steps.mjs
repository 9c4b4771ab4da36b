/** @file Predicted against measured steps on this machine: it is calibrated, each layout is simulated on what was measured,
 * and run. Of both the fastest is taken, of operations in the calibration and of steps in the runs, for what else the
 * machine does only adds. A step is longer than the time that a busy machine leaves a thread alone, an operation is not:
 * beside seconds of the clock, which mean something on a quiet machine only, stand those of the processors, against the
 * predicted work of all ranks. */
import { availableParallelism, loadavg } from 'node:os';
import { machineText } from '@meshwright/core/calibrate';
import { clusterFromRequest } from '@meshwright/core/cluster';
import { compileProgram } from '@meshwright/core/compile';
import { createPrices, networkOf, slowDownOf } from '@meshwright/core/cost';
import { createJob } from '@meshwright/core/job';
import { completeLayout } from '@meshwright/core/layout';
import { modelFromDimensions } from '@meshwright/core/model';
import { splitCosts } from '@meshwright/core/plan';
import { pricesOf, simulateProgram, simulateShared } from '@meshwright/core/sim';
import { createRankPool, trainProgram } from '@meshwright/runtime';
import { measureMachine } from 'meshwright';
import { parse } from 'yaml';

const gpt = { kind: 'gpt2', layers: 4, hidden: 192, heads: 4, ffn: 768, vocab: 256, positions: 128 };
const mixture = {
  kind: 'mixtral',
  layers: 2,
  hidden: 96,
  heads: 4,
  kvHeads: 2,
  ffn: 96,
  vocab: 256,
  experts: 4,
  topK: 2,
};
const alone = { tensor: 1, pipeline: 1, data: 1, context: 1 };
const layouts = {
  DP2: [gpt, { ...alone, data: 2 }],
  TP2: [gpt, { ...alone, tensor: 2 }],
  PP2: [gpt, { ...alone, pipeline: 2 }],
  FSDP2: [gpt, { ...alone, data: 2, sharding: 3 }],
  CP2: [gpt, { ...alone, context: 2 }],
  EP2: [mixture, { ...alone, data: 2, expert: 2 }],
};
/** So many that the fastest ran after the engine of JavaScript had compiled what is hot: the fastest of 7 took up to twice as long. */
const STEPS = 30;

/** Rank of each value, ties at their mean. */
const ranksOf = (values) =>
  values.map(
    (value) => values.filter((each) => each < value).length + values.filter((each) => each === value).length / 2,
  );

/** Spearman's correlation. */
function rankCorrelation(one, other) {
  const [a, b] = [ranksOf(one), ranksOf(other)];
  const mean = (values) => values.reduce((sum, each) => sum + each, 0) / values.length;
  const [meanA, meanB] = [mean(a), mean(b)];
  const covariance = mean(a.map((each, index) => (each - meanA) * (b[index] - meanB)));
  const deviation = (values, middle) => Math.sqrt(mean(values.map((each) => (each - middle) ** 2)));
  return covariance / (deviation(a, meanA) * deviation(b, meanB));
}

/** Prints a line for each layout and what they sum up to. `say` is the printer of the bench. */
export async function benchSteps(say) {
  if (availableParallelism() < 2) {
    for (const name of Object.keys(layouts)) say(`predicted over measured step, ${name}`, 'not measured (one core)');
    return;
  }
  const machine = await measureMachine({ ranks: 2, steps: 6, kernels: 'wasm' });
  const { cluster, issues } = clusterFromRequest(parse(machineText(machine)), 'cluster');
  if (!cluster) throw new Error(issues.map(({ message }) => message).join('\n'));
  const pool = createRankPool();
  const steps = [];
  try {
    for (const [name, [dimensions, request]] of Object.entries(layouts)) {
      const { model } = modelFromDimensions(dimensions, 'model');
      const job = createJob({ name, model, cluster, batch: { sequences: 8, length: 128 }, precision: 'fp32' });
      const { layout } = completeLayout({ ...request, microBatch: 1 }, job, splitCosts(job));
      const program = compileProgram(job, layout);
      const prices = createPrices(cluster, program.mesh);
      const step = simulateShared(program, { prices, network: networkOf(cluster), slowDown: slowDownOf(cluster) });
      const alone = simulateProgram(program, pricesOf(program, prices));
      const busy = await busySeconds(program, pool);
      steps.push({ name, predicted: step.seconds, work: workOf(alone), ...busy });
    }
  } finally {
    await pool.close();
  }
  say('load of the machine', loadavg()[0].toFixed(1), `on ${availableParallelism()} cores`);
  compare(say, 'step', steps, 'predicted', 'measured');
  compare(say, 'processor time', steps, 'work', 'busy');
}

function compare(say, what, steps, predicted, measured) {
  for (const step of steps) {
    const [one, other] = [step[predicted], step[measured]].map((seconds) => (1e3 * seconds).toFixed(1));
    const ratio = (step[predicted] / step[measured]).toFixed(2);
    say(`predicted over measured ${what}, ${step.name}`, ratio, `(${one} and ${other} ms)`);
  }
  const correlation = rankCorrelation(
    steps.map((step) => step[predicted]),
    steps.map((step) => step[measured]),
  );
  say(`rank correlation of predicted and measured ${what}`, correlation.toFixed(2));
}

/** The fastest step by the clock and the one with the least processor time, of all ranks. */
async function busySeconds(program, pool) {
  let before;
  let busy = Infinity;
  const onStep = () => {
    const { user, system } = process.cpuUsage(before);
    // The first step is preceded by what sets the run up.
    if (before) busy = Math.min(busy, (user + system) / 1e6);
    before = process.cpuUsage();
  };
  const { secondsPerStep } = await trainProgram(program, { steps: STEPS, pool, onStep });
  return { measured: Math.min(...secondsPerStep), busy };
}

/** Seconds that all ranks compute and exchange. */
function workOf({ graph, start, end }) {
  let sum = 0;
  for (const [index, { ranks }] of graph.classes.entries()) {
    for (let at = graph.base[index]; at < graph.base[index + 1]; at++) sum += ranks * (end[at] - start[at]);
  }
  return sum;
}
