/** @file Writes packages/core/src/explain/generated/published.ts: of each publication the fastest run of every model, device,
 * number of devices and kind of products, for "the nearest published run". `--check` only compares.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { readExclusions, readRuns } from '@meshwright/core/score';

const path = (name) => new URL(`../${name}`, import.meta.url);
const target = path('packages/core/src/explain/generated/published.ts');
const named = (name) => ({ name, text: readFileSync(path(`data/${name}`), 'utf8') });

const excluded = readExclusions(named('exclusions.csv')).reasons;

const tokensPerSecond = (row) =>
  row.tokens_per_s_per_gpu ?? (row.global_batch * row.seq) / row.step_time_s / row.n_gpus;

const isFp8 = (row) => /fp8|nvfp4/i.test(row.precision);
const whole = (value) => value ?? 0;

function published(row) {
  return [
    row.source.replaceAll('"', ''),
    Number(row.year ?? 0),
    row.model,
    row.gpu.replace(/ \(.*/, ''),
    whole(row.n_gpus),
    whole(row.layers),
    whole(row.hidden),
    whole(row.experts),
    whole(row.seq),
    whole(row.tp),
    whole(row.pp),
    whole(row.dp),
    isFp8(row) ? 8 : 16,
    Math.round(tokensPerSecond(row)),
  ];
}

const best = new Map();
for (const row of readRuns(named('runs.csv')).rows) {
  const needed = [row.layers, row.hidden, row.n_gpus, row.seq];
  if (excluded.has(row.id) || row.workload !== 'pretrain' || needed.some((each) => each === undefined)) continue;
  if (row.tp === undefined && row.zero_fsdp === '') continue;
  const tokens = tokensPerSecond(row);
  if (!(tokens > 0)) continue;
  const key = [row.source, row.model, row.gpu, row.n_gpus, isFp8(row)].join('|');
  const known = best.get(key);
  if (known === undefined || tokens > tokensPerSecond(known)) best.set(key, row);
}
const lines = [...best.values()].map((row) => `  ${JSON.stringify(published(row))},`);
const text = `/** @file Written by bench/published.mjs from data/runs.csv. Do not edit. */

/** Source, year, model, device, devices, layers, hidden, experts, tokens of a sequence, tensor, pipeline and data degree (0:
 * not printed), bits of products (8 or 16), tokens per second and device. */
export type PublishedRow = readonly [
  source: string,
  year: number,
  model: string,
  gpu: string,
  gpus: number,
  layers: number,
  hidden: number,
  experts: number,
  length: number,
  tensor: number,
  pipeline: number,
  data: number,
  bits: number,
  tokensPerSecondPerGpu: number,
];

export const publishedRows: readonly PublishedRow[] = [
${lines.join('\n')}
];
`;

if (process.argv.includes('--check')) {
  const known = existsSync(target) ? readFileSync(target, 'utf8') : '';
  const compact = (each) => each.replace(/[\s'"]/g, '').replaceAll(',]', ']');
  if (compact(known) !== compact(text)) {
    console.error(
      'packages/core/src/explain/generated/published.ts is not what data/runs.csv gives: node bench/published.mjs',
    );
    process.exit(1);
  }
} else {
  mkdirSync(new URL('.', target), { recursive: true });
  writeFileSync(target, text);
}
console.log(`${lines.length} published runs`);
