/** @file `npm run bench:runtime`: how fast the runtime is, as ratios within one run on this machine, one thread a rank, medians
 * of 7. What is compared is measured in turn, so that what else runs on the machine meets both.
 *
 * The block is that of GPT: width 512, 8 heads, 4 sequences of 256 tokens, forward and backward in float32, in seconds of
 * processor time. Two ranks are compared by the wall clock, which needs two free cores; processor time stands beside it.
 * PyTorch runs with the kernels of OpenBLAS that this runtime chose for the processor, and once as it comes. */
import { Worker } from 'node:worker_threads';
import { clusterFromRequest } from '@meshwright/core/cluster';
import { compileProgram } from '@meshwright/core/compile';
import { createJob } from '@meshwright/core/job';
import { completeLayout } from '@meshwright/core/layout';
import { modelFromDimensions } from '@meshwright/core/model';
import { splitCosts } from '@meshwright/core/plan';
import { degreesOf, expandList, workOf } from '@meshwright/core/program';
import { createRankPool, findOpenBlas, trainProgram } from '@meshwright/runtime';
import { peakRate } from './runtime/peak.mjs';
import { benchSteps } from './runtime/steps.mjs';
import { torchBlock, torchRanks } from './runtime/torch.mjs';

const ROUNDS = 7;
const say = (name, value, unit) => console.log(`${name}: ${value}${unit ? ` ${unit}` : ''}`);
const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];
const ms = (seconds) => `${(1e3 * seconds).toFixed(seconds < 0.1 ? 1 : 0)} ms`;
/** A ratio against what it should be. */
const against = (ratio, most) => `${ratio.toFixed(2)} (at most ${most}): ${ratio <= most ? 'holds' : 'does not hold'}`;
const NONE = 'not measured';

function programOf(layers, vocab, sequences, gpus, changes) {
  const dimensions = { kind: 'gpt2', layers, hidden: 512, heads: 8, ffn: 2048, vocab, positions: 256 };
  const { model } = modelFromDimensions(dimensions, 'model');
  const { cluster } = clusterFromRequest({ preset: 'dgx-h100', nodes: 1, gpusPerNode: gpus }, 'cluster');
  const job = createJob({ name: 'bench', model, cluster, batch: { sequences, length: 256 }, precision: 'fp32' });
  return compileProgram(job, completeLayout(changes, job, splitCosts(job)).layout);
}

/** One GPT layer between ends that hardly count. */
const block = programOf(1, 16, 4, 1, { microBatch: 4 });
const list = expandList(block, block.lists[0]);
const { operations } = list;
const degrees = degreesOf(block);
const blockFlops = operations.reduce(
  (sum, each) => sum + (each.operation.kind === 'compute' && each.block === 0 ? workOf(each, degrees).flops : 0),
  0,
);

/** Processor seconds of the layer's kernels, and the share of a step that is no kernel: shares are of the wall clock, applied to
 * the processor time of the last of three steps. */
async function ownBlock(kernels) {
  let before = process.cpuUsage();
  let used = 0;
  const onStep = () => {
    const { user, system } = process.cpuUsage(before);
    used = (user + system) / 1e6;
    before = process.cpuUsage();
  };
  const { timeline, secondsPerStep } = await trainProgram(block, { steps: 3, kernels, inline: true, onStep });
  let layer = 0;
  let all = 0;
  for (let index = 0; index < timeline.length; index++) {
    const taken = timeline.end[index] - timeline.start[index];
    const { operation, block: at } = operations[timeline.operation[index]];
    if (operation.kind !== 'compute') continue;
    all += taken;
    if (at === 0) layer += taken;
  }
  const step = 1e9 * secondsPerStep.at(-1);
  return { seconds: (used * layer) / step, besides: (step - all) / step };
}

/** What is asked of each engine; the portable kernels give up speed for the same bits on every machine, and are told. */
const most = { openblas: 1.1, wasm: 1.7 };

async function measureBlocks(engines, core) {
  const own = Object.fromEntries(engines.map((kernels) => [kernels, []]));
  const torch = [];
  const peaks = { wasm: [], 'wasm-portable': [] };
  for (let round = 0; round < ROUNDS; round++) {
    for (const kernels of engines) own[kernels].push(await ownBlock(kernels));
    for (const kernels of Object.keys(peaks)) peaks[kernels].push(await peakRate(kernels));
    torch.push(torchBlock(core));
  }
  const measured = torch[0] && median(torch.map(({ seconds }) => seconds));
  if (measured === undefined) say('block, torch', `${NONE} (no python3 with torch)`);
  else say(`block, torch ${torch[0].version} on ${torch[0].library}${core ? ` for ${core}` : ''}`, ms(measured));
  const asItComes = core && torchBlock(undefined);
  if (asItComes) say('block, torch as it comes, one run', ms(asItComes.seconds));
  for (const kernels of engines) {
    say(`block, ${kernels}`, ms(median(own[kernels].map(({ seconds }) => seconds))));
    const ratio = median(own[kernels].map(({ seconds }, round) => seconds / torch[round]?.seconds));
    const words = most[kernels] === undefined ? ratio.toFixed(2) : against(ratio, most[kernels]);
    say(`block, ${kernels} / torch`, measured === undefined ? NONE : words);
    if (peaks[kernels]) sayPeak(kernels, own[kernels], peaks[kernels], torch);
  }
  for (const kernels of engines) {
    const share = 100 * median(own[kernels].map(({ besides }) => besides));
    say(`interpreter share of a step at hidden 512, ${kernels}, %`, against(share, 5));
  }
}

/** How much of what its vectors can the block reaches, and what the ratio would be if it reached all. */
function sayPeak(kernels, own, peaks, torch) {
  const giga = (rates) => `${(median(rates) / 1e9).toFixed(1)} GFLOP/s`;
  const reached = own.map(({ seconds }) => blockFlops / seconds);
  const share = 100 * median(reached.map((rate, round) => rate / peaks[round]));
  say(
    `128-bit vectors of ${kernels} in registers alone`,
    `${giga(peaks)}; the block ${giga(reached)} (${share.toFixed(0)} %)`,
  );
  if (torch[0] === undefined) return;
  const least = median(peaks.map((peak, round) => blockFlops / peak / torch[round].seconds));
  say(`least that such vectors could take / torch, ${kernels}`, least.toFixed(2));
}

/** Wall and processor seconds of an all-reduce of `bytes` between two threads. */
function ownAllReduce(bytes) {
  const shared = {
    bytes,
    control: new SharedArrayBuffer(256),
    ledger: new SharedArrayBuffer(64),
    staging: [new SharedArrayBuffer(bytes), new SharedArrayBuffer(bytes)],
  };
  const url = new URL('runtime/all-reduce-worker.mjs', import.meta.url);
  const ranks = [0, 1].map((rank) => new Worker(url, { workerData: { ...shared, rank } }));
  return new Promise((resolve, reject) => {
    ranks[0].on('message', resolve);
    for (const each of ranks) each.on('error', reject);
  });
}

async function measureAllReduce() {
  const bytes = 16e6;
  const [own, gloo] = [await ownAllReduce(bytes), await torchRanks('reduce')];
  const words = ({ seconds, processor }) =>
    `${(bytes / seconds / 1e9).toFixed(2)} GB/s, ${ms(processor)} of a processor a rank`;
  say('all-reduce of 16 MB, 2 ranks', words(own));
  say('all-reduce of 16 MB, 2 ranks, Gloo', gloo ? words(gloo) : NONE);
  const ratio = gloo && gloo.seconds / own.seconds;
  const holds = ratio >= 1.5 ? 'holds' : 'does not hold';
  say('bandwidth of the all-reduce / Gloo', gloo ? `${ratio.toFixed(2)} (at least 1.5): ${holds}` : NONE);
  say('all-reduce of 1 KiB, 2 ranks', `${(1e6 * (await ownAllReduce(1024)).seconds).toFixed(1)} us`);
}

/** Two ranks, 10 million parameters, AdamW, clipped: seconds of a step. */
async function ownDdp() {
  const program = programOf(3, 256, 4, 2, { data: 2, microBatch: 2 });
  const pool = createRankPool();
  const used = [];
  let before = process.cpuUsage();
  const onStep = () => {
    const { user, system } = process.cpuUsage(before);
    used.push((user + system) / 2e6);
    before = process.cpuUsage();
  };
  const { secondsPerStep } = await trainProgram(program, { steps: 3 + ROUNDS, kernels: 'openblas', pool, onStep });
  await pool.close();
  return { seconds: median(secondsPerStep.slice(3)), processor: median(used.slice(3)) };
}

async function measureDdp(there) {
  const name = 'DDP of 2 ranks, 10 M parameters';
  if (!there) return say(`${name}, openblas / torch`, `${NONE} (no OpenBLAS)`);
  const [own, torch] = [await ownDdp(), await torchRanks('ddp')];
  const words = ({ seconds, processor }) => `${ms(seconds)} a step, ${ms(processor)} of a processor a rank`;
  say(`${name}, openblas`, words(own));
  say(`${name}, torch over Gloo`, torch ? words(torch) : NONE);
  say(`${name}, openblas / torch`, torch ? against(own.seconds / torch.seconds, 1) : NONE);
}

const found = findOpenBlas();
const core = process.env['OPENBLAS_CORETYPE'];
const engines = ['wasm', 'wasm-portable', ...(found.kind === 'found' ? ['openblas'] : [])];
if (found.kind === 'found') say('OpenBLAS', `${found.library.path}, kernels for ${found.library.core}`);
else say('block, openblas / torch', `${NONE} (no OpenBLAS)`);
await measureBlocks(engines, core);
await measureAllReduce();
await measureDdp(found.kind === 'found');
await benchSteps(say);
