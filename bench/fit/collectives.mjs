/** @file Fits t = alpha + bytes / B + c sqrt(bytes) to each curve of a collective in a link domain. */
import { minimise, residuals, rounded } from './minimise.mjs';

const curveSeconds = ([alpha, perByte, perRoot], bytes) => alpha + bytes * perByte + Math.sqrt(bytes) * perRoot;

// Large messages carry the time of a step, so they count three times; between absolute and squared, so that one row
// cannot be given up for the others.
const weight = (row) => (row.bytes >= 16e6 ? 3 : 1);
const loss = (error) => Math.abs(error) + 4 * error * error;

export function fitCurve(rows) {
  const largest = rows.reduce((a, b) => (b.bytes > a.bytes ? b : a));
  const smallest = rows.reduce((a, b) => (b.bytes < a.bytes ? b : a));
  // In logarithms: all three are positive and span decades.
  const start = [smallest.time, largest.time / largest.bytes, 1e-9].map(Math.log);
  const of = (point) => point.map(Math.exp);
  const cost = (point) =>
    rows.reduce((sum, row) => sum + weight(row) * loss(Math.log(curveSeconds(of(point), row.bytes) / row.time)), 0) /
    rows.length;
  const point = of(minimise(cost, start, [0.2, 0.1, 1], 5)).map((value) => rounded(value));
  const pairs = (some) => some.map((row) => [curveSeconds(point, row.bytes), row.time]);
  const large = rows.filter((row) => row.bytes >= 16e6);
  return { point, ...residuals(pairs(rows)), large: residuals(pairs(large)).mape };
}
