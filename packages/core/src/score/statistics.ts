/** @file Errors of many rows in a few numbers. All are shares: 0.05 is 5 %. */

/** How far predictions are from measurements. */
export interface ErrorSummary {
  readonly rows: number;
  /** Mean of absolute errors. */
  readonly mape: number;
  /** Mean of signed errors; below 0 the predictions are too fast (or too small). */
  readonly bias: number;
  readonly median: number;
  readonly p90: number;
  readonly worst: number;
}

/** The summary of signed errors; undefined for none. */
export function summarise(errors: readonly number[]): ErrorSummary | undefined {
  if (errors.length === 0) return undefined;
  const sizes = errors.map(Math.abs).sort((a, b) => a - b);
  return {
    rows: errors.length,
    mape: mean(sizes),
    bias: mean(errors),
    median: quantile(sizes, 0.5),
    p90: quantile(sizes, 0.9),
    worst: sizes[sizes.length - 1] as number,
  };
}

export const mean = (values: readonly number[]): number => values.reduce((sum, each) => sum + each, 0) / values.length;

/** A quantile of ascending values, between neighbours in proportion. */
export function quantile(ascending: readonly number[], share: number): number {
  const at = share * (ascending.length - 1);
  const below = ascending[Math.floor(at)] as number;
  const above = ascending[Math.ceil(at)] as number;
  return below + (at - Math.floor(at)) * (above - below);
}

/** Spearman's rank correlation, ties at their mean rank; 1 when either side has no order. */
export function spearman(left: readonly number[], right: readonly number[]): number {
  const [a, b] = [ranksOf(left), ranksOf(right)];
  const [meanA, meanB] = [mean(a), mean(b)];
  let both = 0;
  let varianceA = 0;
  let varianceB = 0;
  a.forEach((rank, index) => {
    const [x, y] = [rank - meanA, (b[index] ?? 0) - meanB];
    both += x * y;
    varianceA += x * x;
    varianceB += y * y;
  });
  const scale = Math.sqrt(varianceA * varianceB);
  return scale === 0 ? 1 : both / scale;
}

function ranksOf(values: readonly number[]): readonly number[] {
  return values.map((value) => {
    const below = values.filter((each) => each < value).length;
    const equal = values.filter((each) => each === value).length;
    return below + (equal + 1) / 2;
  });
}

/** What following the predictions costs: measured time of the row that is predicted fastest over the best measured, less 1. */
export function regret(predicted: readonly number[], measured: readonly number[]): number {
  const pick = predicted.indexOf(Math.min(...predicted));
  return (measured[pick] as number) / Math.min(...measured) - 1;
}
