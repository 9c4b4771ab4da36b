/** @file `npm run bench:runtime`: how fast the runtime is, as ratios within one run on this machine.
 *
 * The block is that of GPT: width 512, 8 heads, 4 sequences of 256 tokens, forward and backward in float32 on one thread,
 * in seconds of processor time, so that what else runs on the machine counts little. PyTorch is measured where a Python
 * with torch is found, on the same shapes and one thread, with whatever BLAS that torch finds. */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { clusterFromRequest } from '@meshwright/core/cluster';
import { compileProgram } from '@meshwright/core/compile';
import { createJob } from '@meshwright/core/job';
import { completeLayout } from '@meshwright/core/layout';
import { modelFromDimensions } from '@meshwright/core/model';
import { splitCosts } from '@meshwright/core/plan';
import { expandList } from '@meshwright/core/program';
import { trainProgram } from '@meshwright/runtime';
import { benchSteps } from './runtime/steps.mjs';

const say = (name, value, unit) => console.log(`${name}: ${value}${unit ? ` ${unit}` : ''}`);
const milliseconds = (nanoseconds) => (nanoseconds / 1e6).toFixed(nanoseconds < 1e8 ? 2 : 0);

/** One GPT layer between ends that hardly count. */
function blockProgram() {
  const dimensions = { kind: 'gpt2', layers: 1, hidden: 512, heads: 8, ffn: 2048, vocab: 16, positions: 256 };
  const { model } = modelFromDimensions(dimensions, 'model');
  const { cluster } = clusterFromRequest({ preset: 'dgx-h100', nodes: 1, gpusPerNode: 1 }, 'cluster');
  const job = createJob({ name: 'block', model, cluster, batch: { sequences: 4, length: 256 }, precision: 'fp32' });
  return compileProgram(job, completeLayout({ microBatch: 4 }, job, splitCosts(job)).layout);
}

/** Nanoseconds of the layer's kernels, and the share of a step that is no kernel, in the fastest of `runs` runs. Shares
 * are of the wall clock, applied to the processor time of the last step. */
async function measureBlock(program, kernels, runs) {
  const { operations } = expandList(program, program.lists[0]);
  let best;
  for (let run = 0; run < runs; run++) {
    let before = process.cpuUsage();
    let used = 0;
    const onStep = () => {
      const { user, system } = process.cpuUsage(before);
      used = 1e3 * (user + system);
      before = process.cpuUsage();
    };
    const { timeline, secondsPerStep } = await trainProgram(program, { steps: 3, kernels, inline: true, onStep });
    let layer = 0;
    let all = 0;
    for (let index = 0; index < timeline.length; index++) {
      const taken = timeline.end[index] - timeline.start[index];
      const { operation, block } = operations[timeline.operation[index]];
      if (operation.kind !== 'compute') continue;
      all += taken;
      if (block === 0) layer += taken;
    }
    const step = 1e9 * secondsPerStep.at(-1);
    const found = { layer: (used * layer) / step, besides: (step - all) / step };
    if (!best || found.layer < best.layer) best = found;
  }
  return best;
}

/** Milliseconds of the same block in PyTorch, or why there are none. */
function measureTorch() {
  const script = fileURLToPath(new URL('runtime/block.py', import.meta.url));
  for (const python of ['python3', '/usr/bin/python3']) {
    const { status, stdout } = spawnSync(python, [script], { encoding: 'utf8' });
    if (status === 0)
      return { nanoseconds: 1e9 * Number(stdout.trim().split(' ')[0]), version: stdout.trim().split(' ')[1] };
  }
  return undefined;
}

/** Seconds of the fastest of 20 all-reduces of `bytes` between two threads. */
function measureAllReduce(bytes) {
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

const program = blockProgram();
const wasm = await measureBlock(program, 'wasm', 5);
const plain = await measureBlock(program, 'plain', 1);
say('block, wasm', milliseconds(wasm.layer), 'ms');
say('block, plain', milliseconds(plain.layer), 'ms');
say('plain / wasm', (plain.layer / wasm.layer).toFixed(1), 'times');
const torch = measureTorch();
if (torch) {
  say(`block, torch ${torch.version}`, milliseconds(torch.nanoseconds), 'ms');
  say('wasm / torch', (wasm.layer / torch.nanoseconds).toFixed(2), 'times');
} else {
  say('block, torch', 'not measured (no python3 with torch)');
}
say('interpreter share of a step', (100 * wasm.besides).toFixed(2), '%');
for (const bytes of [16e6, 1024]) {
  const seconds = await measureAllReduce(bytes);
  const [value, unit] = bytes < 1e6 ? [(1e6 * seconds).toFixed(1), 'us'] : [(bytes / seconds / 1e9).toFixed(2), 'GB/s'];
  say(`all-reduce of ${bytes < 1e6 ? '1 KiB' : '16 MB'}, 2 ranks`, value, unit);
}
await benchSteps(say);
