/** @file Fits the constants of the price model from data/ and writes packages/core/src/cluster/generated.
 *
 * `node bench/fit.mjs` prints the residuals; run twice, it changes nothing (`--check` only compares). Training runs are never read here.
 */
import { readFileSync } from 'node:fs';
import { fitCurve } from './fit/collectives.mjs';
import { fitAttention, fitGemm, gemmSeconds, measured, rateFactor } from './fit/gemm.mjs';
import { residuals } from './fit/minimise.mjs';
import { writeGenerated } from './fit/write.mjs';

const path = (name) => new URL(`../data/${name}`, import.meta.url);
const table = (name) => {
  const [head, ...lines] = readFileSync(path(name), 'utf8').trim().split('\n');
  const keys = head.split(',');
  return lines.map((line) => Object.fromEntries(line.split(',').map((value, i) => [keys[i], value])));
};
const hardware = JSON.parse(readFileSync(path('hardware.json'), 'utf8'));
const deviceOf = {
  'A100-SXM': 'A100-80GB-SXM',
  'A100-PCIe': 'A100-80GB-PCIe',
  'H100-SXM': 'H100-80GB-SXM',
  'H200-SXM': 'H200-141GB-SXM',
  'B200-SXM': 'B200-SXM',
  'B300-SXM': 'B300-SXM',
  GB200: 'GB200',
  GB300: 'GB300',
  L40S: 'L40S',
};
const facts = (gpu) =>
  Object.fromEntries(Object.entries(hardware.devices[deviceOf[gpu]]).map(([key, [value]]) => [key, value]));
const percent = (value) => value.toFixed(1).padStart(6);
const line = (name, fit, extra = '') =>
  console.log(
    `${name.padEnd(34)} n ${String(fit.n).padStart(4)}  MAPE ${percent(fit.mape)}  median ${percent(fit.median)}  worst ${percent(fit.worst)}  bias ${percent(fit.bias)}  ${extra}`,
  );

const gemmRows = table('gemm.csv').map((row) => ({
  ...row,
  m: +row.m,
  n: +row.n,
  k: +row.k,
  batch: +row.batch,
  time: +row.time_us * 1e-6,
  rate: +row.tflops * 1e12,
}));
const pick = (gpu, dtype, ...ops) =>
  gemmRows.filter((row) => row.gpu === gpu && row.dtype === dtype && ops.includes(row.op));

const gemm = [];
console.log('Products (percent of time)');
for (const gpu of Object.keys(deviceOf)) {
  for (const dtype of ['bf16', 'fp8']) {
    const rows = pick(gpu, dtype, 'gemm', 'gemm-tn', 'gemm-nn');
    if (rows.length === 0) continue;
    const fit = fitGemm(facts(gpu), rows);
    const [e, k0, t0, f1, f2, q] = fit.point;
    gemm.push({ gpu, dtype, e, k0, t0, f1, f2, q, source: rows[0].source });
    line(`${gpu} ${dtype}`, fit, `e ${e} k0 ${k0} t0 ${t0} us f ${f1} ${f2} q ${q}`);
  }
}
const pcie = gemm.find((each) => each.gpu === 'A100-PCIe');
const pciePoint = [pcie.e, pcie.k0, pcie.t0, pcie.f1, pcie.f2, 0];
const shared = {};
for (const [name, ops] of [
  ['accumulate', ['gemm-accumulate']],
  ['grouped', ['grouped-fwd', 'grouped-bwd_grad_act']],
  ['groupedAccumulate', ['grouped-bwd_grad_w']],
]) {
  const fit = rateFactor(facts('A100-PCIe'), pciePoint, pick('A100-PCIe', 'bf16', ...ops));
  shared[name] = fit.factor;
  line(`A100-PCIe ${name}`, fit, `rate x ${fit.factor}`);
}
for (const direction of ['forward', 'backward']) {
  const rows = pick('A100-PCIe', 'bf16', `attention-${direction}`).filter((row) => row.k === 128);
  const fit = fitAttention(facts('A100-PCIe'), rows);
  shared[`${direction}Efficiency`] = fit.point[0];
  shared[`${direction}Waves`] = fit.point[1];
  line(`A100-PCIe attention ${direction}`, fit, `e ${fit.point[0]} waves ${fit.point[1]}`);
}

console.log('\nNot fitted, for comparison: sustained rate over the burst model');
for (const [gpu, dtype] of [
  ['A100-SXM', 'bf16'],
  ['H100-SXM', 'fp8'],
  ['H200-SXM', 'fp8'],
]) {
  const { e, k0, f1, f2 } = gemm.find((each) => each.gpu === gpu && each.dtype === dtype);
  // The sustained tables do not contain the cast, nor what the fit reads as start because of it.
  const burst = (row) => gemmSeconds(facts(gpu), [e, k0, dtype === 'fp8' ? 2.4 : 3, f1, f2, 0], row);
  const rows = pick(gpu, dtype, 'gemm-sustained').filter((row) => row.m >= 4096 && row.n >= 4096);
  console.log(`${gpu} ${dtype}: ${rows.map((row) => (burst(row) / measured(row)).toFixed(3)).join(' ')}`);
}

console.log('\nCollectives inside a link domain (percent of time)');
const curveRows = table('collectives.csv').map((row) => ({
  ...row,
  ranks: +row.ranks,
  nodes: +row.nodes,
  bytes: +row.bytes,
  time: +row.time_us * 1e-6,
}));
const curves = [];
for (const gpu of ['A100-SXM', 'H100-SXM', 'H200-SXM', 'B200-SXM', 'GB200']) {
  for (const kind of ['all-reduce', 'all-gather', 'reduce-scatter', 'all-to-all']) {
    for (const ranks of [2, 4, 8]) {
      const rows = curveRows.filter(
        (row) => row.use === 'fit' && row.gpu === gpu && row.collective === kind && row.ranks === ranks,
      );
      if (rows.length === 0) continue;
      const fit = fitCurve(rows);
      const [alpha, perByte, perRoot] = fit.point;
      curves.push({ gpu, kind, ranks, alpha, perByte, perRoot });
      line(`${gpu} ${kind} ${ranks}`, fit, `>= 16 MB ${percent(fit.large)}`);
    }
  }
}

console.log('\nNot fitted, for comparison: all-reduce of 8 in one node by other sources, at least 16 MB');
for (const gpu of ['A100-SXM', 'H100-SXM', 'H200-SXM', 'B200-SXM']) {
  const curve = curves.find((each) => each.gpu === gpu && each.kind === 'all-reduce' && each.ranks === 8);
  for (const source of [...new Set(curveRows.filter((row) => row.use === 'check').map((row) => row.source))]) {
    const rows = curveRows.filter(
      (row) => row.use === 'check' && row.gpu === gpu && row.nodes === 1 && row.source === source && row.bytes >= 16e6,
    );
    if (rows.length === 0) continue;
    const predicted = (row) => curve.alpha + row.bytes * curve.perByte + Math.sqrt(row.bytes) * curve.perRoot;
    line(`${gpu} ${source}`, residuals(rows.map((row) => [predicted(row), row.time])));
  }
}

const different = writeGenerated({ hardware, gemm, shared, curves }, process.argv.includes('--check'));
if (different.length > 0) {
  console.error(`Not what the fit gives: ${different.join(', ')}. Run node bench/fit.mjs.`);
  process.exitCode = 1;
}
