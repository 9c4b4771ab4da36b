/** @file How fast the three tiers of planning are: all legal layouts of Llama 3.1 70B on 512 H100, each once, one thread.
 * Run: npm run bench:plan. Prints one line a figure; compare lines of one run, machines differ. --large plans two jobs
 * of thousands of devices instead, search and shown plans: minutes.
 */
import { clusterFromRequest } from '@meshwright/core/cluster';
import { createJob } from '@meshwright/core/job';
import { layoutSpace } from '@meshwright/core/layout';
import { modelFromPreset } from '@meshwright/core/model';
import { boundBook, createEvaluator, evaluateStep, planJob, searchLayouts, splitCosts } from '@meshwright/core/plan';

const number = (value, digits = 0) => value.toLocaleString('en-US', { maximumFractionDigits: digits });
const say = (name, value, unit) => console.log(`${name}: ${value}${unit ? ` ${unit}` : ''}`);

/** Seconds of processor time that `work` takes on this thread; what else runs on the machine does not count. */
function timed(work) {
  const before = process.cpuUsage();
  const result = work();
  const used = process.cpuUsage(before);
  return { result, seconds: (used.user + used.system) / 1e6 };
}

function jobOf() {
  const { cluster } = clusterFromRequest('64x dgx-h100', 'cluster');
  const { model } = modelFromPreset('llama-3.1-70b', 'model');
  return createJob({ name: 'bench', model, cluster, batch: { sequences: 1024, length: 8192 } });
}

function distinct(layouts) {
  const keys = new Set();
  for (const layout of layouts) keys.add(JSON.stringify(layout));
  return keys.size;
}

function boundTier(job) {
  const costs = splitCosts(job);
  const evaluator = createEvaluator(job);
  const { result, seconds } = timed(() => {
    let count = 0;
    const boundOf = boundBook(evaluator);
    for (const layout of layoutSpace(job, {}, costs).layouts()) {
      // Seconds are worked out when asked for.
      if (boundOf(layout).seconds > 0) count += 1;
    }
    return count;
  });
  say('bound', number(result / seconds), 'layouts/s');
}

function evaluateTier(job, layouts) {
  const evaluator = createEvaluator(job);
  const shares = { price: 0, compile: 0, compose: 0 };
  const ratios = [];
  const boundOf = boundBook(evaluator);
  const total = timed(() => {
    for (const layout of layouts) {
      shares.price += timed(() => evaluator.blocksOf(layout)).seconds;
      const { result, seconds } = timed(() => [evaluator.specOf(layout), evaluator.orderOf(layout)]);
      shares.compile += seconds;
      const walked = timed(() => evaluateStep(result[0], result[1]));
      shares.compose += walked.seconds;
      ratios.push(boundOf(layout).seconds / walked.result.seconds);
    }
  });
  const work = shares.price + shares.compile + shares.compose;
  say('evaluate', number(layouts.length / work), 'layouts/s');
  say('distinct blocks', number(evaluator.blockCount()));
  for (const [name, seconds] of Object.entries(shares)) say(`share of ${name}`, number((100 * seconds) / work, 1), '%');
  ratios.sort((a, b) => a - b);
  say('bound over evaluate, median', number(ratios[Math.floor(ratios.length / 2)], 4));
  say('bound over evaluate, largest', ratios[ratios.length - 1].toPrecision(12));
  return total.seconds;
}

function search(job) {
  const { result, seconds } = timed(() => searchLayouts(job, { top: 1 }));
  say('search with proof', number(seconds, 2), 's');
  say('evaluated', number((100 * result.evaluated) / result.legal, 2), '% of the legal layouts');
  say('proven', result.proven);
}

/** Plans another job first: what is measured is the planner, not the compiler of its language. No cache outlives a job. */
function warmUp() {
  const { cluster } = clusterFromRequest('12x dgx-a100', 'cluster');
  const { model } = modelFromPreset('llama-2-13b', 'model');
  const job = createJob({ name: 'warm-up', model, cluster, batch: { sequences: 96, length: 4096 } });
  let count = 0;
  for (let round = 0; round < 4; round++) {
    const evaluator = createEvaluator(job);
    const boundOf = boundBook(evaluator);
    for (const layout of layoutSpace(job, {}, splitCosts(job)).layouts()) {
      boundOf(layout).seconds;
      if (count++ % 100 === 0) evaluateStep(evaluator.specOf(layout), evaluator.orderOf(layout));
    }
  }
}

/** A whole plan: the search, and the best five layouts in full. */
function wholePlan(name, cluster, preset, sequences, length) {
  const { model } = modelFromPreset(preset, 'model');
  const whole = createJob({
    name,
    model,
    cluster: clusterFromRequest(cluster, 'cluster').cluster,
    batch: { sequences, length },
  });
  const found = timed(() => searchLayouts(whole, { top: 5 }));
  const { result, seconds } = timed(() => planJob(whole));
  say(`${name}: legal of considered`, `${number(result.legal)} of ${number(result.considered)}`, 'layouts');
  say(`${name}: plan`, number(seconds, 2), `s, of which search ${number(found.seconds, 2)} s`);
}

if (process.argv.includes('--large')) {
  wholePlan('405B on 16,384 H100', '2048x dgx-h100', 'llama-3.1-405b', 2048, 8192);
  wholePlan('DeepSeek-V3 on 2,048 H800', '256x hgx-h800', 'deepseek-v3', 15360, 4096);
  process.exit();
}
const job = jobOf();
warmUp();
const space = layoutSpace(job, {}, splitCosts(job));
const layouts = [...space.layouts()];
say('considered', number(space.considered), 'layouts');
say('legal', number(layouts.length), 'layouts');
say('distinct after normal form', number(distinct(layouts)), 'layouts');
boundTier(job);
search(job);
evaluateTier(
  job,
  layouts.filter((_, index) => index % Number(process.env.BENCH_EVERY ?? 1) === 0),
);
