/** @file Activations, gates and sums, element by element. */
import { exp4, loadSome, storeSome } from './math';

const CUBIC: f32 = 0.044715;
const ROOT_TWO_OVER_PI: f32 = 0.7978845608;

/** tanh of sqrt(2/pi) (x + 0.044715 x^3), as 1 - 2 / (e^(2u) + 1). */
function tanhOf(x: v128): v128 {
  const cube = f32x4.mul(f32x4.mul(x, x), x);
  const u = f32x4.mul(f32x4.splat(ROOT_TWO_OVER_PI), f32x4.add(x, f32x4.mul(f32x4.splat(CUBIC), cube)));
  const power = exp4(f32x4.add(u, u));
  return f32x4.sub(f32x4.splat(1), f32x4.div(f32x4.splat(2), f32x4.add(power, f32x4.splat(1))));
}

function gelu4(x: v128): v128 {
  return f32x4.mul(f32x4.mul(f32x4.splat(0.5), x), f32x4.add(f32x4.splat(1), tanhOf(x)));
}

function geluSlope4(x: v128): v128 {
  const tanh = tanhOf(x);
  const one = f32x4.splat(1);
  const inner = f32x4.mul(
    f32x4.splat(ROOT_TWO_OVER_PI),
    f32x4.add(one, f32x4.mul(f32x4.splat(3 * CUBIC), f32x4.mul(x, x))),
  );
  const bend = f32x4.mul(f32x4.mul(x, f32x4.sub(one, f32x4.mul(tanh, tanh))), inner);
  return f32x4.mul(f32x4.splat(0.5), f32x4.add(f32x4.add(one, tanh), bend));
}

function logistic4(x: v128): v128 {
  const one = f32x4.splat(1);
  return f32x4.div(one, f32x4.add(one, exp4(f32x4.neg(x))));
}

export function geluTanh(count: i32, x: usize, y: usize): void {
  let i = 0;
  for (; i + 4 <= count; i += 4) v128.store(y + (i << 2), gelu4(v128.load(x + (i << 2))));
  if (i < count) storeSome(y + (i << 2), gelu4(loadSome(x + (i << 2), count - i)), count - i);
}

export function geluTanhDx(count: i32, dy: usize, x: usize, dx: usize): void {
  let i = 0;
  for (; i + 4 <= count; i += 4) {
    v128.store(dx + (i << 2), f32x4.mul(v128.load(dy + (i << 2)), geluSlope4(v128.load(x + (i << 2)))));
  }
  const rest = count - i;
  if (rest <= 0) return;
  const slope = f32x4.mul(loadSome(dy + (i << 2), rest), geluSlope4(loadSome(x + (i << 2), rest)));
  storeSome(dx + (i << 2), slope, rest);
}

/** y = silu(gate) up; a row of x holds `width` gates, then as many ups. */
export function gatedSilu(rows: i32, width: i32, x: usize, y: usize): void {
  for (let r = 0; r < rows; r++) {
    const gates = x + ((2 * r * width) << 2);
    const ups = gates + (width << 2);
    const to = y + ((r * width) << 2);
    let i = 0;
    for (; i + 4 <= width; i += 4)
      v128.store(to + (i << 2), siluUp(v128.load(gates + (i << 2)), v128.load(ups + (i << 2))));
    const rest = width - i;
    if (rest > 0) {
      storeSome(to + (i << 2), siluUp(loadSome(gates + (i << 2), rest), loadSome(ups + (i << 2), rest)), rest);
    }
  }
}

function siluUp(gate: v128, up: v128): v128 {
  return f32x4.mul(f32x4.mul(gate, logistic4(gate)), up);
}

export function gatedSiluDx(rows: i32, width: i32, dy: usize, x: usize, dx: usize): void {
  for (let r = 0; r < rows; r++) {
    const at = (2 * r * width) << 2;
    const from = dy + ((r * width) << 2);
    for (let i = 0; i < width; i += 4) {
      const rest = min(4, width - i);
      const gate = x + at + (i << 2);
      const whole = rest === 4;
      const open = whole ? v128.load(gate) : loadSome(gate, rest);
      const up = whole ? v128.load(gate + (width << 2)) : loadSome(gate + (width << 2), rest);
      const slope = whole ? v128.load(from + (i << 2)) : loadSome(from + (i << 2), rest);
      const share = logistic4(open);
      const one = f32x4.splat(1);
      const bend = f32x4.mul(share, f32x4.add(one, f32x4.mul(open, f32x4.sub(one, share))));
      const toGate = dx + at + (i << 2);
      const dGate = f32x4.mul(f32x4.mul(slope, up), bend);
      const dUp = f32x4.mul(slope, f32x4.mul(open, share));
      if (whole) {
        v128.store(toGate, dGate);
        v128.store(toGate + (width << 2), dUp);
      } else {
        storeSome(toGate, dGate, rest);
        storeSome(toGate + (width << 2), dUp, rest);
      }
    }
  }
}

/** y = branch + bias + residual; `bias`, one for each column, may be 0. */
export function add(rows: i32, h: i32, branch: usize, bias: usize, residual: usize, y: usize): void {
  for (let r = 0; r < rows; r++) {
    const row = (r * h) << 2;
    let i = 0;
    for (; i + 4 <= h; i += 4) {
      const at = row + (i << 2);
      const sum = f32x4.add(v128.load(branch + at), v128.load(residual + at));
      v128.store(y + at, bias ? f32x4.add(sum, v128.load(bias + (i << 2))) : sum);
    }
    for (; i < h; i++) {
      const at = row + (i << 2);
      const sum = load<f32>(branch + at) + load<f32>(residual + at);
      store<f32>(y + at, bias ? sum + load<f32>(bias + (i << 2)) : sum);
    }
  }
}

/** sum += x. */
export function addInto(count: i32, sum: usize, x: usize): void {
  let i = 0;
  for (; i + 4 <= count; i += 4) {
    v128.store(sum + (i << 2), f32x4.add(v128.load(sum + (i << 2)), v128.load(x + (i << 2))));
  }
  for (; i < count; i++) store<f32>(sum + (i << 2), load<f32>(sum + (i << 2)) + load<f32>(x + (i << 2)));
}
