/** @file The largest run of Narayanan et al. 2021 (SC21, Table 1): 1,008 B parameters on 3,072 A100, predicted and published.
 * The paper counts hardware FLOPs of a step, recomputation included: 96 B s l h^2 (1 + s / 6h + V / 16 l h).
 * Run: node bench/narayanan.mjs
 */
import { readFileSync } from 'node:fs';
import { readJob } from '@meshwright/core/io';
import { showLayout } from '@meshwright/core/plan';

const PUBLISHED = { tflops: 163, share: 52 };
const PEAK_TFLOPS = 312;

const file = 'examples/narayanan-1t.yaml';
const { job } = readJob(readFileSync(new URL(`../${file}`, import.meta.url), 'utf8'), file);
const { hidden, vocabulary, layers } = job.model;
const { sequences, length } = job.batch;
const flops =
  96 *
  sequences *
  length *
  layers.length *
  hidden ** 2 *
  (1 + length / (6 * hidden) + vocabulary / (16 * layers.length * hidden));
const shown = showLayout(job);
const tflops = flops / shown.step.seconds / shown.gpus / 1e12;
const measured = flops / (PUBLISHED.tflops * 1e12 * shown.gpus);

console.log(
  `predicted: ${shown.step.seconds.toFixed(1)} s a step, ${tflops.toFixed(0)} TFLOP/s per GPU, ${((100 * tflops) / PEAK_TFLOPS).toFixed(0)} % of peak`,
);
console.log(
  `published: ${measured.toFixed(1)} s a step, ${PUBLISHED.tflops} TFLOP/s per GPU, ${PUBLISHED.share} % of peak`,
);
console.log(`error: ${(100 * (shown.step.seconds / measured - 1)).toFixed(1)} % in time`);
