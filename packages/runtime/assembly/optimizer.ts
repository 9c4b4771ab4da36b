/** @file AdamW over a row of neighbouring parameters. */

/** `step` is rate / (1 - beta1^t); `root` is 1 / (1 - beta2^t); `keep` is what decay leaves of a parameter. */
export function adamw(
  count: i32,
  g: usize,
  m: usize,
  v: usize,
  master: usize,
  factor: f32,
  beta1: f32,
  beta2: f32,
  epsilon: f32,
  step: f32,
  root: f32,
  keep: f32,
): void {
  let i = 0;
  for (; i + 4 <= count; i += 4) {
    const at = i << 2;
    const slope = f32x4.mul(f32x4.splat(factor), v128.load(g + at));
    const first = f32x4.add(f32x4.mul(f32x4.splat(beta1), v128.load(m + at)), f32x4.mul(f32x4.splat(1 - beta1), slope));
    const square = f32x4.mul(f32x4.splat(1 - beta2), f32x4.mul(slope, slope));
    const second = f32x4.add(f32x4.mul(f32x4.splat(beta2), v128.load(v + at)), square);
    v128.store(m + at, first);
    v128.store(v + at, second);
    const deviation = f32x4.add(f32x4.sqrt(f32x4.mul(second, f32x4.splat(root))), f32x4.splat(epsilon));
    const update = f32x4.div(f32x4.mul(f32x4.splat(step), first), deviation);
    v128.store(master + at, f32x4.sub(f32x4.mul(v128.load(master + at), f32x4.splat(keep)), update));
  }
  for (; i < count; i++) {
    const at = i << 2;
    const slope = factor * load<f32>(g + at);
    const first = beta1 * load<f32>(m + at) + (1 - beta1) * slope;
    const second = beta2 * load<f32>(v + at) + (1 - beta2) * (slope * slope);
    store<f32>(m + at, first);
    store<f32>(v + at, second);
    const update = (step * first) / (sqrt(second * root) + epsilon);
    store<f32>(master + at, load<f32>(master + at) * keep - update);
  }
}
