/** @file Costs of kernels and exchanges from samples: `start` + FLOPs x `perFlop` + bytes x `perByte`, none below 0, by least
 * squares of relative errors, so that small work counts as much as large.
 */
import type { MeasuredCost } from '../cluster/index.ts';

/** One measurement. */
export interface CostSample {
  readonly flops: number;
  readonly bytes: number;
  readonly seconds: number;
}

const TERMS = 3;

/** The cost that is nearest to the samples; that of nothing where there are none. */
export function fitCost(samples: readonly CostSample[]): MeasuredCost {
  let best: readonly number[] = [0, 0, 0];
  let least = Infinity;
  // Few terms: of all subsets the best one without a negative term is the least squares solution under that bound.
  for (let subset = 1; subset < 2 ** TERMS; subset++) {
    const terms = [0, 1, 2].filter((term) => (subset >> term) & 1);
    const solved = solve(samples, terms);
    if (solved === undefined || solved.some((each) => each < 0)) continue;
    const all = [0, 1, 2].map((term) => solved[terms.indexOf(term)] ?? 0);
    const error = samples.reduce((sum, sample) => sum + (costAt(all, sample) / sample.seconds - 1) ** 2, 0);
    if (error < least * (1 - 1e-9)) [best, least] = [all, error];
  }
  const [start = 0, perFlop = 0, perByte = 0] = best;
  return { start, perFlop, perByte };
}

const rowOf = ({ flops, bytes }: CostSample): readonly [number, number, number] => [1, flops, bytes];

const costAt = (terms: readonly number[], sample: CostSample): number =>
  rowOf(sample).reduce((sum, each, term) => sum + each * (terms[term] ?? 0), 0);

/** Normal equations of the relative errors over some terms; undefined where they have no single solution. */
function solve(samples: readonly CostSample[], terms: readonly number[]): readonly number[] | undefined {
  const rows = samples.map((sample) => terms.map((term) => (rowOf(sample)[term] ?? 0) / sample.seconds));
  // Columns of one size each, or the rank of the matrix is a matter of units.
  const scale = terms.map((_, at) => Math.hypot(...rows.map((row) => row[at] ?? 0)));
  if (scale.some((each) => each === 0)) return undefined;
  const of = (row: readonly number[], at: number): number => (row[at] ?? 0) / (scale[at] ?? 1);
  const matrix = terms.map((_, i) => [
    ...terms.map((_, j) => rows.reduce((sum, row) => sum + of(row, i) * of(row, j), 0)),
    rows.reduce((sum, row) => sum + of(row, i), 0),
  ]);
  const solution = eliminate(matrix);
  return solution?.map((each, at) => each / (scale[at] ?? 1));
}

/** Gauss with pivots; undefined for a singular matrix. */
function eliminate(matrix: number[][]): readonly number[] | undefined {
  const size = matrix.length;
  for (let column = 0; column < size; column++) {
    let pivot = column;
    for (let row = column + 1; row < size; row++) {
      if (Math.abs(matrix[row]?.[column] ?? 0) > Math.abs(matrix[pivot]?.[column] ?? 0)) pivot = row;
    }
    const [upper, lower] = [matrix[column], matrix[pivot]];
    if (!upper || !lower || Math.abs(lower[column] ?? 0) < 1e-9) return undefined;
    [matrix[column], matrix[pivot]] = [lower, upper];
    for (let row = 0; row < size; row++) {
      const other = matrix[row];
      if (row === column || !other) continue;
      const factor = (other[column] ?? 0) / (lower[column] ?? 1);
      for (let at = column; at <= size; at++) other[at] = (other[at] ?? 0) - factor * (lower[at] ?? 0);
    }
  }
  return matrix.map((row, at) => (row[size] ?? 0) / (row[at] ?? 1));
}
