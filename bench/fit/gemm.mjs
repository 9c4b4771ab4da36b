/** @file Fits the product model and the attention model. The formula is that of packages/core/src/cost/gemm.ts;
 * a test there holds it against the same table. */
import { minimise, residuals, rounded } from './minimise.mjs';

const tiles = [
  [256, 128, 0],
  [128, 256, 0],
  [128, 128, 1],
  [128, 64, 2],
];

/** Seconds of a product under constants [e, k0, t0 (us), f1, f2, q] (f0 is 1). */
export function gemmSeconds(device, [e, k0, t0, f1, f2, q], { m, n, k, batch, dtype }) {
  const width = dtype === 'fp8' ? 1 : 2;
  const bandwidth = device.memoryBandwidth * device.memoryEfficiency;
  const rate = (dtype === 'fp8' ? device.peakFp8 : device.peakBf16) * e;
  let best = Infinity;
  for (const [tm, tn, index] of tiles) {
    const waves = (batch * Math.ceil(m / tm) * Math.ceil(n / tn)) / device.multiprocessors;
    const smooth = waves <= 1 ? 1 : 0.5 * (Math.ceil(waves) + waves);
    const tile = (2 * tm * tn * (k + k0) * device.multiprocessors) / (rate * [1, f1, f2][index]);
    best = Math.min(best, smooth * tile);
  }
  const moved = batch * (width * (m * k + k * n) + 2 * m * n);
  return t0 * 1e-6 + Math.max(best, moved / bandwidth) + (q * 3 * m * k) / bandwidth;
}

/** Measured seconds of a row; attention rows count full FLOPs, see fitAttention. */
export const measured = (row) => (row.time ? row.time : (2 * row.batch * row.m * row.n * row.k) / row.rate);

export function fitGemm(device, rows) {
  const fp8 = rows[0].dtype === 'fp8';
  const start = fp8 ? [0.75, 200, 10, 0.9, 0.75, 2.8] : [0.85, 100, 3, 0.9, 0.75];
  const steps = fp8 ? [0.08, 80, 4, -0.08, -0.1, 0.5] : [0.05, 60, 2, -0.08, -0.1];
  const full = (point) => (fp8 ? point : [...point, 0]);
  const cost = (point) => {
    const [, k0, t0, f1, f2, q = 0] = point;
    const outside = [-k0 / 100, 1 - t0, f1 - 1, f2 - f1, 0.4 - f2, -q].reduce((sum, x) => sum + Math.max(0, x), 0);
    const errors = rows.map((row) => Math.abs(Math.log(gemmSeconds(device, full(point), row) / measured(row))));
    return errors.reduce((sum, error) => sum + error, 0) / errors.length + outside;
  };
  const point = full(minimise(cost, start, steps, 4)).map((value) => rounded(Math.max(0, value)));
  point[1] = Math.round(point[1]);
  return { point, ...residuals(rows.map((row) => [gemmSeconds(device, point, row), measured(row)])) };
}

/** Factors on the rate that rows of another operation need over the plain fit: the median of the ratio. */
export function rateFactor(device, point, rows) {
  const ratios = rows.map((row) => gemmSeconds(device, point, row) / measured(row)).sort((a, b) => a - b);
  const factor = rounded(ratios[Math.floor(ratios.length / 2)]);
  return { factor, ...residuals(rows.map((row) => [gemmSeconds(device, point, row) / factor, measured(row)])) };
}

/** Attention: [efficiency at ten waves, waves that half a device costs]; the table has batch 1, m = sequence, n = heads. */
export function fitAttention(device, rows) {
  const rateOf = (row) => row.rate / 2;
  const predict = ([e, w0], row) => {
    const waves = (row.n * Math.ceil(row.m / 128)) / device.multiprocessors;
    return (((device.peakBf16 * e * row.m) / (row.m + 300)) * (waves / (waves + w0)) * (10 + w0)) / 10;
  };
  const cost = (point) =>
    rows.reduce((sum, row) => sum + Math.abs(Math.log(predict(point, row) / rateOf(row))), 0) / rows.length;
  const point = minimise(cost, [0.55, 1], [0.05, 0.3]).map((value) => rounded(value));
  return { point, ...residuals(rows.map((row) => [rateOf(row), predict(point, row)])) };
}
