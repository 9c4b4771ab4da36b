/** @file Activation functions, alone and gated. */
import { assertInvariant } from '@meshwright/core/errors';
import { elementsOf, rowsOf, sizeAt, type Tensor } from './tensor.ts';

interface Activation {
  readonly value: (x: number) => number;
  readonly slope: (x: number) => number;
}

const ROOT_TWO_OVER_PI = Math.sqrt(2 / Math.PI);
const CUBIC = 0.044715;

const logistic = (x: number): number => 1 / (1 + Math.exp(-x));
const gaussian = (x: number): number => 0.5 * (1 + errorFunction(x / Math.SQRT2));
const gaussianDensity = (x: number): number => Math.exp(-0.5 * x * x) / Math.sqrt(2 * Math.PI);
const tanhOf = (x: number): number => Math.tanh(ROOT_TWO_OVER_PI * (x + CUBIC * x ** 3));

const activations: Readonly<Record<string, Activation>> = {
  gelu: {
    value: (x) => x * gaussian(x),
    slope: (x) => gaussian(x) + x * gaussianDensity(x),
  },
  'gelu-tanh': {
    value: (x) => 0.5 * x * (1 + tanhOf(x)),
    slope: (x) => {
      const tanh = tanhOf(x);
      return 0.5 * (1 + tanh) + 0.5 * x * (1 - tanh * tanh) * ROOT_TWO_OVER_PI * (1 + 3 * CUBIC * x * x);
    },
  },
  silu: {
    value: (x) => x * logistic(x),
    slope: (x) => logistic(x) * (1 + x * (1 - logistic(x))),
  },
  relu: {
    value: (x) => Math.max(0, x),
    slope: (x) => (x > 0 ? 1 : 0),
  },
};

function activationOf(name: string): Activation {
  const found = activations[name];
  assertInvariant(found !== undefined, () => `no activation function '${name}'`);
  return found;
}

export function activate(x_R: Tensor, y_R: Tensor, name: string): void {
  const { value } = activationOf(name);
  const [x, y] = [x_R.data, y_R.data];
  for (let r = 0; r < elementsOf(x_R); r++) y[r] = value(x[r]!);
}

export function activateDx(dy_R: Tensor, x_R: Tensor, dx_R: Tensor, name: string): void {
  const { slope } = activationOf(name);
  const [dy, x, dx] = [dy_R.data, x_R.data, dx_R.data];
  for (let r = 0; r < elementsOf(x_R); r++) dx[r] = dy[r]! * slope(x[r]!);
}

/** A function of gate and up, and how it changes with each. */
interface Gate {
  readonly value: (gate: number, up: number) => number;
  readonly slopes: (gate: number, up: number) => readonly [gate: number, up: number];
}

const CLAMP = 7;
const SWISH = 1.702;
const clampedSwish = (gate: number): number => Math.min(gate, CLAMP) * logistic(SWISH * Math.min(gate, CLAMP));
const clampedUp = (up: number): number => Math.min(Math.max(up, -CLAMP), CLAMP) + 1;

/** Gate of GPT-OSS: a sigmoid linear unit with a steeper sigmoid; both inputs are clamped and up has one added. */
const clampedSilu: Gate = {
  value: (gate, up) => clampedSwish(gate) * clampedUp(up),
  slopes: (gate, up) => {
    const open = logistic(SWISH * gate);
    return [
      gate > CLAMP ? 0 : clampedUp(up) * (open + SWISH * gate * open * (1 - open)),
      Math.abs(up) > CLAMP ? 0 : clampedSwish(gate),
    ];
  },
};

function gateOf(name: string): Gate {
  if (name === 'clamped-silu') return clampedSilu;
  const { value, slope } = activationOf(name);
  return { value: (gate, up) => value(gate) * up, slopes: (gate, up) => [up * slope(gate), value(gate)] };
}

/** y = function(gate) * up; the last dim of x holds the rank's gates, then its ups. */
export function gated(x_RG: Tensor, y_RF: Tensor, name: string): void {
  const { value } = gateOf(name);
  const R = rowsOf(x_RG);
  const F = sizeAt(y_RF, -1);
  const [x, y] = [x_RG.data, y_RF.data];
  for (let r = 0; r < R; r++) {
    for (let f = 0; f < F; f++) y[r * F + f] = value(x[2 * r * F + f]!, x[(2 * r + 1) * F + f]!);
  }
}

export function gatedDx(dy_RF: Tensor, x_RG: Tensor, dx_RG: Tensor, name: string): void {
  const { slopes } = gateOf(name);
  const R = rowsOf(x_RG);
  const F = sizeAt(dy_RF, -1);
  const [dy, x, dx] = [dy_RF.data, x_RG.data, dx_RG.data];
  for (let r = 0; r < R; r++) {
    for (let f = 0; f < F; f++) {
      const [gate, up] = [2 * r * F + f, (2 * r + 1) * F + f];
      const [ofGate, ofUp] = slopes(x[gate]!, x[up]!);
      dx[gate] = dy[r * F + f]! * ofGate;
      dx[up] = dy[r * F + f]! * ofUp;
    }
  }
}

/** erf to float64's precision, by its series with positive terms: erf x = 2/sqrt(pi) e^(-x^2) sum 2^n x^(2n+1)/(2n+1)!!.
 * Source: Abramowitz and Stegun 7.1.6. */
export function errorFunction(x: number): number {
  if (Math.abs(x) > 6) return Math.sign(x);
  let term = x;
  let sum = x;
  for (let n = 1; Math.abs(term) > 1e-17 * Math.abs(sum); n++) {
    term *= (2 * x * x) / (2 * n + 1);
    sum += term;
  }
  return (2 / Math.sqrt(Math.PI)) * Math.exp(-x * x) * sum;
}

/** y = c tanh(x / c), element by element. */
export function cap(x_R: Tensor, y_R: Tensor, limit: number): void {
  const [x, y] = [x_R.data, y_R.data];
  for (let index = 0; index < x.length; index++) y[index] = limit * Math.tanh(x[index]! / limit);
}

/** The slope of a capped value is told by the value itself. */
export function capDx(dy_R: Tensor, y_R: Tensor, dx_R: Tensor, limit: number): void {
  const [dy, y, dx] = [dy_R.data, y_R.data, dx_R.data];
  for (let index = 0; index < dy.length; index++) dx[index] = dy[index]! * (1 - (y[index]! / limit) ** 2);
}
