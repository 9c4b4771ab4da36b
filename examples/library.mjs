// From a job to a plan, a program, a step in time, and a small model that is really trained, without the command.
// Run: node examples/library.mjs (after npm start has built the packages)
import {
  bytesSent,
  compareBytes,
  compileProgram,
  completeLayout,
  createPrices,
  drawTimeline,
  planJob,
  priceOptionsOf,
  pricesOf,
  readJob,
  renderIssue,
  simulateProgram,
  splitCosts,
  trainProgram,
  verifyProgram,
} from 'meshwright';

const { job, issues } = readJob(
  `model: llama-3.1-8b
cluster: 2x dgx-h100
batch: { sequences: 64, length: 8192 }`,
  'job.yaml',
);
if (!job) throw new Error(issues.map(renderIssue).join('\n'));

// 1. The best layouts, proven over the space of all legal ones.
const { plans, considered, explain } = planJob(job, { top: 2 });
const [best] = plans;
console.log(`${considered} layouts considered; best: ${best.layout.short}`);
console.log(`${best.step.seconds.toFixed(2)} s a step, ${(best.step.mfu * 100).toFixed(0)} % MFU`);
for (const { words } of explain) console.log(`  ahead of the second by ${words}`);

// 2. Its step program: what every rank computes and exchanges.
const program = compileProgram(job, best.layout);
console.log(`${verifyProgram(program).length} faults in the program`);
for (const { list, byAxis } of bytesSent(program).lists) {
  for (const [axis, { bytes, exchanges }] of Object.entries(byAxis)) {
    console.log(`${list}: ${(bytes / 2 ** 30).toFixed(2)} GiB over ${axis} in ${exchanges} exchanges`);
  }
}

// 3. The same program in time, and drawn.
const step = simulateProgram(program, pricesOf(program, createPrices(job.cluster, program.mesh, priceOptionsOf(job))));
const svg = drawTimeline(step, best.layout.schedule);
console.log(`${step.seconds.toFixed(2)} s simulated, drawn in ${svg.length} characters of SVG`);

// 4. The same kind of program on real tensors: eight ranks train a toy, and every byte that they send is counted.
const { job: toy } = readJob(
  `model: { kind: toy }
cluster: 1x dgx-h100
batch: { sequences: 4, length: 4 }
layout: tp=2,pp=2,dp=2,zero=1`,
  'toy.yaml',
);
const small = compileProgram(toy, completeLayout(toy.layout, toy, splitCosts(toy)).layout);
const run = await trainProgram(small, { steps: 3, inline: true });
console.log(`toy: loss ${run.losses.map((loss) => loss.toFixed(4)).join(', ')}`);
console.log(`${compareBytes(small, run, 3).length} exchanges moved other bytes than predicted`);
