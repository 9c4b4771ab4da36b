/** @file Nelder-Mead with restarts; deterministic. */

/** The point that minimises `cost`, from `start`, with first steps `steps`. */
export function minimise(cost, start, steps, rounds = 3) {
  let best = start;
  for (let round = 0; round < rounds; round++)
    best = descend(
      cost,
      best,
      steps.map((step) => step / 2 ** round),
    );
  return best;
}

function descend(cost, start, steps) {
  let simplex = [start, ...steps.map((step, i) => start.map((value, j) => (i === j ? value + step : value)))].map(
    (point) => ({ point, value: cost(point) }),
  );
  for (let iteration = 0; iteration < 400 * start.length; iteration++) {
    simplex.sort((a, b) => a.value - b.value);
    const worst = simplex.at(-1);
    if (worst.value - simplex[0].value < 1e-12) break;
    const others = simplex.slice(0, -1);
    const centre = start.map((_, j) => others.reduce((sum, each) => sum + each.point[j], 0) / others.length);
    const along = (factor) => {
      const point = centre.map((value, j) => value + factor * (worst.point[j] - value));
      return { point, value: cost(point) };
    };
    const reflected = along(-1);
    if (reflected.value < simplex[0].value) {
      const expanded = along(-2);
      simplex = [...others, expanded.value < reflected.value ? expanded : reflected];
    } else if (reflected.value < others.at(-1).value) {
      simplex = [...others, reflected];
    } else {
      const contracted = along(reflected.value < worst.value ? -0.5 : 0.5);
      if (contracted.value < Math.min(worst.value, reflected.value)) {
        simplex = [...others, contracted];
      } else {
        const anchor = simplex[0].point;
        simplex = simplex.map(({ point }) => {
          const shrunk = point.map((value, j) => anchor[j] + 0.5 * (value - anchor[j]));
          return { point: shrunk, value: cost(shrunk) };
        });
      }
    }
  }
  simplex.sort((a, b) => a.value - b.value);
  return simplex[0].point;
}

/** Three significant digits: what a constant of this kind deserves, and a stable text. */
export const rounded = (value, digits = 3) => Number(value.toPrecision(digits));

/** Mean absolute, worst absolute and mean signed relative error in percent. */
export function residuals(pairs) {
  const errors = pairs.map(([predicted, measured]) => (100 * (predicted - measured)) / measured);
  const sizes = errors.map(Math.abs).sort((a, b) => a - b);
  const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
  return {
    n: errors.length,
    mape: mean(sizes),
    median: sizes[Math.floor(sizes.length / 2)],
    worst: sizes.at(-1),
    bias: mean(errors),
  };
}
