/** @file Rotary positions: value j of a head turns with value j + half, by cosines and sines of the place. */

/** Turns `heads` heads of `size` at the begin of each of `batch` rows of `width` at each place, in place. `angles` holds half
 * cosines, then half sines, for each place; `sign` is -1 to turn back. */
export function rotate(
  places: i32,
  batch: i32,
  heads: i32,
  size: i32,
  width: i32,
  half: i32,
  angles: usize,
  sign: f32,
  x: usize,
): void {
  for (let s = 0; s < places; s++) {
    const cosines = angles + ((s * 2 * half) << 2);
    const sines = cosines + (half << 2);
    for (let b = 0; b < batch; b++) {
      for (let head = 0; head < heads; head++) {
        rotateHead(half, cosines, sines, sign, x + (((s * batch + b) * width + head * size) << 2));
      }
    }
  }
}

function rotateHead(half: i32, cosines: usize, sines: usize, sign: f32, x: usize): void {
  const far = half << 2;
  let j = 0;
  for (; j + 4 <= half; j += 4) {
    const at = x + (j << 2);
    const cos = v128.load(cosines + (j << 2));
    const sin = f32x4.mul(f32x4.splat(sign), v128.load(sines + (j << 2)));
    const low = v128.load(at);
    const high = v128.load(at + far);
    v128.store(at, f32x4.sub(f32x4.mul(low, cos), f32x4.mul(high, sin)));
    v128.store(at + far, f32x4.add(f32x4.mul(high, cos), f32x4.mul(low, sin)));
  }
  for (; j < half; j++) {
    const at = x + (j << 2);
    const cos = load<f32>(cosines + (j << 2));
    const sin = sign * load<f32>(sines + (j << 2));
    const low = load<f32>(at);
    const high = load<f32>(at + far);
    store<f32>(at, low * cos - high * sin);
    store<f32>(at + far, high * cos + low * sin);
  }
}
