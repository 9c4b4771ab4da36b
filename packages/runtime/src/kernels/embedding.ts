/** @file Token and position embeddings. Rows of the vocabulary may be cut: a rank adds nothing for tokens of others, and
 * the sum over the axis is whole.
 */
import { dimAt, globalPlacesOf, sizeAt, type Tensor } from './tensor.ts';

export function embedding(tokens_SB: Tensor, w_VH: Tensor, y_SBH: Tensor, factor = 1): void {
  const H = sizeAt(w_VH, 1);
  const { origin, size } = dimAt(w_VH, 0);
  const [tokens, w, y] = [tokens_SB.data, w_VH.data, y_SBH.data];
  y.fill(0);
  for (let r = 0; r < tokens.length; r++) {
    const row = tokens[r]! - origin;
    if (row < 0 || row >= size) continue;
    for (let h = 0; h < H; h++) y[r * H + h] = factor * w[row * H + h]!;
  }
}

export function embeddingDw(tokens_SB: Tensor, dy_SBH: Tensor, dw_VH: Tensor, factor = 1): void {
  const H = sizeAt(dw_VH, 1);
  const { origin, size } = dimAt(dw_VH, 0);
  const [tokens, dy] = [tokens_SB.data, dy_SBH.data];
  const sum_VH = new Float64Array(size * H);
  for (let r = 0; r < tokens.length; r++) {
    const row = tokens[r]! - origin;
    if (row < 0 || row >= size) continue;
    for (let h = 0; h < H; h++) sum_VH[row * H + h]! += factor * dy[r * H + h]!;
  }
  dw_VH.data.set(sum_VH);
}

/** y = x + w at the position; a sequence shard knows its global places. */
export function position(x_SBH: Tensor, w_NH: Tensor, y_SBH: Tensor): void {
  const [B, H] = [sizeAt(x_SBH, 1), sizeAt(x_SBH, 2)];
  const places = globalPlacesOf(dimAt(x_SBH, 0));
  const S = places.length;
  const [x, w, y] = [x_SBH.data, w_NH.data, y_SBH.data];
  for (let s = 0; s < S; s++) {
    for (let b = 0; b < B; b++) {
      const row = (s * B + b) * H;
      for (let h = 0; h < H; h++) y[row + h] = x[row + h]! + w[places[s]! * H + h]!;
    }
  }
}

/** Rows outside the rank's shard of the sequence get zero: the gradient is partial over the axis that cuts it. */
export function positionDw(dy_SBH: Tensor, dw_NH: Tensor): void {
  const [B, H] = [sizeAt(dy_SBH, 1), sizeAt(dy_SBH, 2)];
  const places = globalPlacesOf(dimAt(dy_SBH, 0));
  const S = places.length;
  const dy = dy_SBH.data;
  const sum_NH = new Float64Array(sizeAt(dw_NH, 0) * H);
  for (let s = 0; s < S; s++) {
    for (let b = 0; b < B; b++) {
      for (let h = 0; h < H; h++) sum_NH[places[s]! * H + h]! += dy[(s * B + b) * H + h]!;
    }
  }
  dw_NH.data.set(sum_NH);
}
