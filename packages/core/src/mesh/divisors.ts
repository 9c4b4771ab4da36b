/** Divisors of a positive whole number in ascending order. */
export function divisorsOf(value: number): readonly number[] {
  const small: number[] = [];
  const large: number[] = [];
  for (let divisor = 1; divisor * divisor <= value; divisor++) {
    if (value % divisor !== 0) continue;
    small.push(divisor);
    if (divisor * divisor !== value) large.push(value / divisor);
  }
  return [...small, ...large.reverse()];
}

/** Values that divide all of `wholes`. */
export const commonDivisors = (wholes: readonly number[]): readonly number[] =>
  divisorsOf(wholes[0] ?? 1).filter((divisor) => wholes.every((whole) => whole % divisor === 0));

/** The `most` candidates nearest to `value`, in ascending order. */
export function nearest(candidates: readonly number[], value: number, most = 6): readonly number[] {
  const byDistance = [...candidates].sort((a, b) => Math.abs(a - value) - Math.abs(b - value) || a - b);
  return byDistance.slice(0, most).sort((a, b) => a - b);
}

/** `1, 2 or 4`. */
export const listed = (values: readonly (number | string)[]): string =>
  values.length < 2 ? values.join('') : `${values.slice(0, -1).join(', ')} or ${values.at(-1)}`;

/** The multiples of `step` next to `value`, below (when there is one) and above. */
export function multiplesAround(value: number, step: number): readonly number[] {
  const below = Math.floor(value / step) * step;
  return below > 0 ? [below, below + step] : [step];
}
