/** @file Token and position embeddings. Rows of the vocabulary may be cut: a rank adds nothing for tokens of others, and
 * the sum over the axis is whole.
 */
import { dimAt, type Elements, globalPlacesOf, sizeAt, type Tensor } from './tensor.ts';

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
  const [tokens, dy, dw] = [tokens_SB.data, dy_SBH.data, dw_VH.data];
  const { starts, order } = placesByRow(tokens, origin, size);
  dw.fill(0);
  for (let row = 0; row < size; row++) {
    const [from, to] = [starts[row]!, starts[row + 1]!];
    if (from === to) continue;
    for (let h = 0; h < H; h++) {
      let sum = 0;
      for (let at = from; at < to; at++) sum += factor * dy[order[at]! * H + h]!;
      dw[row * H + h] = sum;
    }
  }
}

/** Places of the tokens of each row of the vocabulary, ascending: those of row v are order[starts[v] .. starts[v + 1]]. */
function placesByRow(tokens: Elements, origin: number, size: number) {
  const starts = new Int32Array(size + 1);
  const rowAt = (place: number): number => tokens[place]! - origin;
  const isOwn = (row: number): boolean => row >= 0 && row < size;
  for (let place = 0; place < tokens.length; place++) if (isOwn(rowAt(place))) starts[rowAt(place) + 1]!++;
  for (let row = 0; row < size; row++) starts[row + 1]! += starts[row]!;
  const order = new Int32Array(starts[size]!);
  const next = starts.slice();
  for (let place = 0; place < tokens.length; place++) if (isOwn(rowAt(place))) order[next[rowAt(place)]!++] = place;
  return { starts, order };
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
  const [dy, dw] = [dy_SBH.data, dw_NH.data];
  dw.fill(0);
  for (let s = 0; s < S; s++) {
    for (let h = 0; h < H; h++) {
      let sum = 0;
      for (let b = 0; b < B; b++) sum += dy[(s * B + b) * H + h]!;
      dw[places[s]! * H + h] = sum;
    }
  }
}
